import { join } from 'node:path';
import type { Command } from 'commander';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { EXIT, exitCodeOf } from '../../shared/base/process/exit-codes.ts';
import {
  addJson,
  progressStream,
  type VerbResult,
  wantsJson,
  writeResult,
} from '../../shared/base/process/json-output.ts';
import { Terminal } from '../../shared/base/process/terminal.ts';
import {
  addSettingsInGroups,
  createCommand,
  settingsOf,
} from '../../shared/config/command-line.ts';
import type { ResolvedSetting } from '../../shared/config/resolve-settings.ts';
import { flagOf } from '../../shared/config/setting.ts';
import { repeatTest } from '../loadgen/engine/repeat-test.ts';
import type { LiveView } from '../present/live/live-view.ts';
import { refuseUsedOutput, replaceEarlierRun } from '../run/earlier-run.ts';
import { Interruption } from '../run/interruption.ts';
import { isValid, performRun, type RunReport } from '../run/perform-run.ts';
import { openAuditConfig } from '../run/plan/conf-files.ts';
import { planRun, type RunPlan } from '../run/plan/run-plan.ts';
import { runRecord } from '../run/plan/run-record.ts';
import { RUN_SETTINGS, type RunValues } from '../run/plan/run-settings.ts';
import { screenReport } from '../run/report-layout.ts';
import { runDocument } from '../run/run-document.ts';
import { meetsThresholds } from '../run/run-thresholds.ts';
import { withLiveView } from '../run/with-live-view.ts';

const EXAMPLE = `
Example:
  longhaul run --sut 10.0.0.2:50051,10.0.0.3:50051 --benchmark digits \\
    --scenario Server --target-qps 100 --min-duration 10s --output results/first

Exit codes: 0 VALID, 3 INVALID or a --threshold is not met, 2 wrong flag or key, 4 SUT, 5 data set, 6 this machine, 130 Ctrl-C.`;

/** What most runs are about: first in the help. */
const FIRST_KEYS: readonly string[] = [
  'sut',
  'benchmark',
  'scenario',
  'mode',
  'targetQps',
  'targetLatency',
  'minDuration',
  'round',
  'thresholds',
  'output',
  'force',
  'dashboard',
  'dataDir',
];

/** `longhaul run`: measures SUT nodes. */
export function runCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand('run', 'measure SUT nodes: performance, accuracy, or both');
  const groups = { keys: FIRST_KEYS, heading: 'Further options:' };
  return addJson(addSettingsInGroups(command, RUN_SETTINGS, groups))
    .addHelpText('after', EXAMPLE)
    .action(async () => {
      const { values, settings } = settingsOf(command, 'run', RUN_SETTINGS);
      const said = new Set(settings.filter(isSaid).map(({ key }) => key));
      refuseOtherOutput(command, values);
      const audit = openAuditConfig(values.auditConf);
      const record = runRecord(settings);
      const plan = planRun(values, { said, audit, record, asked: settings });
      refuseUsedOutput(plan.output, values.force);
      const terminal = new Terminal();
      if (audit !== undefined) {
        terminal.line(`longhaul: settings of ${audit.name} win over all others`);
      }
      const interruption = new Interruption(() => terminal.line('interrupted: ending the run'));
      const code = await withLiveView(values, terminal, async (live) => {
        if (plan.runCount > 1) {
          const tell = (text: string): void => void progressStream(command).write(text);
          const host = { terminal, interruption, live, tell };
          const { exitCode, ...result } = await performRuns(plan, host);
          writeResult(command, result);
          return exitCode;
        }
        const report = await performRun(plan, terminal, interruption, undefined, live);
        writeResult(command, { text: screenReport(report), json: runDocument(report) });
        return exitCodeOfRun(report, interruption);
      });
      setExitCode(code);
    });
}

/** Several runs, each with logs of its own below the output folder. */
async function performRuns(
  plan: RunPlan,
  { terminal, interruption, live, tell }: RunsHost,
): Promise<EndedRuns> {
  const { runCount } = plan;
  const reports: RunReport[] = [];
  const repeated = await repeatTest(runCount, async (run) => {
    const output = join(plan.output, `run_${run + 1}`);
    // Those of an earlier result may be more than these.
    const onBegin = (): void => {
      if (run === 0) replaceEarlierRun(plan.output, terminal);
    };
    const report = await performRun({ ...plan, output }, terminal, interruption, onBegin, live);
    reports.push(report);
    tell(`Run ${run + 1} of ${runCount}\n${screenReport(report)}\n`);
    return report.outcome;
  });
  const { samplesPerSecond, isValid: areValid } = repeated;
  const json = { runs: reports.map(runDocument), isValid: areValid, samplesPerSecond };
  if (repeated.outcomes.some(({ isInterrupted }) => isInterrupted)) {
    return { exitCode: interruption.exitCode ?? EXIT.interrupted, text: '', json };
  }
  const what =
    samplesPerSecond === null
      ? 'INVALID: not every run is VALID'
      : `VALID, ${samplesPerSecond.toFixed(2)} samples/s completed in the lowest`;
  const problem = reports.find((report) => report.problem !== null)?.problem ?? null;
  const isGood = areValid && reports.every(meetsThresholds);
  const verdict = isGood ? EXIT.valid : EXIT.invalid;
  const exitCode = problem === null ? verdict : exitCodeOf(problem.code);
  return { exitCode, text: `${runCount} runs: ${what}\n`, json };
}

/** What several runs need besides their plan. */
interface RunsHost {
  readonly terminal: Terminal;
  readonly interruption: Interruption;
  readonly live: LiveView | undefined;
  /** Says how a run went before the others are made. */
  tell(text: string): void;
}

interface EndedRuns extends VerbResult {
  readonly exitCode: number;
}

/** @throws MlperfError `ERR_CONFIG_INVALID` where logs would stand between the JSON of stdout. */
function refuseOtherOutput(command: Command, values: RunValues): void {
  const key = (['copySummaryToStdout', 'copyDetailToStdout'] as const).find((one) => values[one]);
  if (!wantsJson(command) || key === undefined) return;
  const message = `${flagOf(key)} and --json: stdout is for one of them`;
  throw new MlperfError('ERR_CONFIG_INVALID', message);
}

function isSaid({ source }: ResolvedSetting): boolean {
  return source !== 'default' && source !== 'not set';
}

/** Exit code of a run that came to its end. */
export function exitCodeOfRun(report: RunReport, interruption: Interruption): number {
  if (report.outcome.isInterrupted) return interruption.exitCode ?? EXIT.interrupted;
  if (report.problem !== null) return exitCodeOf(report.problem.code);
  return isValid(report) && meetsThresholds(report) ? EXIT.valid : EXIT.invalid;
}
