import {
  addSettingsInGroups,
  progressStream,
  settingsOf,
  sourcesOf,
} from '../../shared/config/command-line.ts';
import type { SettingTable } from '../../shared/config/setting.ts';
import { CommandHost } from '../run/host/host.ts';
import { linePrinter } from '../run/screen/line-printer.ts';
import { ownNodeSettings } from '../search/efficiency/own-node.ts';
import {
  EFFICIENCY_OPTIONS,
  planEfficiency,
  refuseUsedSides,
  SIDE_RUN_SETTINGS,
} from '../search/efficiency/plan-efficiency.ts';
import { runEfficiency } from '../search/efficiency/run-efficiency.ts';
import { NOT_OF_SEARCH } from '../search/peak/find-peak-plan.ts';
import { takeNodeBenchmark } from './node-benchmark.ts';
import { type MakeCommand, verb } from './verb.ts';

const FIRST_KEYS: readonly string[] = [
  ...['benchmark', 'model', 'workers', 'sut', 'inProcessOnly', 'inProcess', 'repeats', 'scenario'],
  ...['latency', 'percentile', 'ttft', 'tpot', 'minDuration', 'searchTime'],
  ...['output', 'force'],
];

const BOTH_HEADING =
  'Options of the node and of each run, as in "longhaul sut" and "longhaul run":';

/**
 * `longhaul efficiency`.
 * @param sutSettings Settings of `longhaul sut`, which also apply to the in-process model.
 */
export function efficiencyVerb(sutSettings: SettingTable): MakeCommand {
  const table = {
    ...ownNodeSettings(sutSettings, SIDE_RUN_SETTINGS),
    ...SIDE_RUN_SETTINGS,
    ...EFFICIENCY_OPTIONS,
  };
  const groups = { keys: FIRST_KEYS, heading: BOTH_HEADING, hidden: [...NOT_OF_SEARCH, 'engine'] };
  return verb({
    flags: (command) => addSettingsInGroups(command, table, groups),
    takesSignals: true,
    before: (command) => takeNodeBenchmark(command, SIDE_RUN_SETTINGS),
    example: `
Example, on one machine, with a node that is started for it:
  longhaul efficiency --benchmark digits --latency 50ms

Exit codes: 0 compared, 3 no efficiency or an INVALID run, 2 wrong flag or sides that differ, 4 SUT,
5 data set or model, 6 this machine, 130 Ctrl-C.`,
    details: `Two machines. On the SUT node, with the settings that its node has:
  longhaul efficiency --in-process-only --benchmark digits --workers 2 --latency 50ms \\
    --output closed.json
then, with its node running, on the LoadGen node:
  longhaul efficiency --sut 10.0.0.2:50051 --in-process closed.json --benchmark digits \\
    --latency 50ms`,
    action: async ({ command }) => {
      const { values: own } = settingsOf(command, undefined, EFFICIENCY_OPTIONS);
      const { values, settings } = settingsOf(command, 'run', SIDE_RUN_SETTINGS);
      const sut = sourcesOf(command, 'sut');
      const plan = planEfficiency({ own, values, settings, sut, sutSettings });
      const host = new CommandHost('interrupted: ending the run');
      if (plan.note !== undefined) host.report(`note: ${plan.note}`);
      refuseUsedSides(plan);
      try {
        return await runEfficiency(plan, host, linePrinter(host, progressStream(command)));
      } catch (error) {
        if (host.exitCode === undefined) throw error;
        host.report('interrupted: no comparison is possible');
        return { exitCode: host.exitCode };
      }
    },
  });
}
