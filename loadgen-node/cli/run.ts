import type { Command } from 'commander';
import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import {
  addVerbose,
  progressPrinter,
  wantsJson,
  wantsVerbose,
} from '../../shared/config/command-line.ts';
import { flagOf } from '../../shared/config/setting.ts';
import { eachTest } from '../official/test-process.ts';
import { CommandHost } from '../run/host/host.ts';
import { withLiveView } from '../run/host/with-live-view.ts';
import { refuseUsedOutput } from '../run/keep/earlier-run.ts';
import { openAuditConfig } from '../run/plan/conf-files.ts';
import { planRun } from '../run/plan/run-plan.ts';
import { RUN_SETTINGS, type RunValues } from '../run/plan/run-settings.ts';
import { performRuns } from '../run/repeated-runs.ts';
import { takeNodeBenchmark } from './node-benchmark.ts';
import { verb } from './verb.ts';

/** Settings that most runs need: first in the help. */
const FIRST_KEYS: readonly string[] = [
  'sut',
  'benchmark',
  'scenario',
  'mode',
  'targetQps',
  'targetLatency',
  'minDuration',
  'minQueryCount',
  'round',
  'thresholds',
  'labels',
  'output',
  'force',
  'dashboard',
  'dataDir',
];

/** `longhaul run`: measures SUT nodes. */
export const runVerb = verb({
  runSettings: { table: RUN_SETTINGS, keys: FIRST_KEYS },
  flags: addVerbose,
  takesSignals: true,
  before: (command) => takeNodeBenchmark(command, RUN_SETTINGS),
  example: `
Example:
  longhaul run --sut 10.0.0.2:50051,10.0.0.3:50051 --benchmark digits \\
    --scenario Server --target-qps 100 --output results/first

Exit codes: 0 VALID, 3 INVALID or a --threshold is not met, 2 wrong flag or key, 4 SUT, 5 data set,
6 this machine, 130 Ctrl-C.`,
  action: async ({ values, settings, command }) => {
    refuseOtherOutput(command, values);
    const audit = openAuditConfig(values.auditConf);
    const plan = planRun(values, { asked: settings, audit });
    refuseUsedOutput(plan.output, values.force);
    return await eachTest(plan.linked !== undefined, () => {
      const host = new CommandHost('interrupted: ending the run');
      if (audit !== undefined) {
        host.report(`longhaul: settings of ${audit.name} override all others`);
      }
      const tell = progressPrinter(command);
      const screen = { isVerbose: wantsVerbose(command) };
      return withLiveView(values, host, (live) => performRuns(plan, host, { live, tell, screen }));
    });
  },
});

/** @throws MlperfError `ERR_CONFIG_INVALID` if logs would mix with the JSON on stdout. */
function refuseOtherOutput(command: Command, values: RunValues): void {
  const key = (['copySummaryToStdout', 'copyDetailToStdout'] as const).find((one) => values[one]);
  if (!wantsJson(command) || key === undefined) return;
  throw configInvalid(`${flagOf(key)} and --json: stdout is for one of them`);
}
