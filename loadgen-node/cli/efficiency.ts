import { addSettingsInGroups, settingsOf, sourcesOf } from '../../shared/config/command-line.ts';
import type { SettingTable } from '../../shared/config/setting.ts';
import { CommandHost } from '../run/host/host.ts';
import {
  EFFICIENCY_OPTIONS,
  planEfficiency,
  refuseUsedSides,
  SIDE_RUN_SETTINGS,
} from '../search/efficiency/plan-efficiency.ts';
import { runEfficiency } from '../search/efficiency/run-efficiency.ts';
import { ownNodeSettings } from '../search/own-node.ts';
import { SEARCH_KEYS } from '../search/peak/find-peak-plan.ts';
import { type MakeCommand, verb } from './verb.ts';

const EXAMPLE = `
One machine, a node started for it:
  longhaul efficiency --benchmark digits --scenario server --latency 50ms

Two machines. On the SUT machine, with the settings that its node has:
  longhaul efficiency --in-process-only --benchmark digits --workers 2 --latency 50ms --output closed.json
then, with its node running, on the LoadGen machine:
  longhaul efficiency --sut 10.0.0.2:50051 --in-process closed.json --benchmark digits --latency 50ms

Exit codes: 0 compared, 3 no efficiency or an INVALID run, 2 wrong flag or sides that differ, 4 SUT, 5 data set or
model, 6 this machine, 130 Ctrl-C.`;

const BOTH_HEADING =
  'Options of the node and of each run, as in "longhaul sut" and "longhaul run":';

/**
 * `longhaul efficiency`.
 * @param sutSettings Settings of `longhaul sut`, which the model in process has, too.
 */
export function efficiencyVerb(sutSettings: SettingTable): MakeCommand {
  const table = {
    ...ownNodeSettings(sutSettings, SIDE_RUN_SETTINGS),
    ...SIDE_RUN_SETTINGS,
    ...EFFICIENCY_OPTIONS,
  };
  const first = ['benchmark', 'model', 'sut', ...Object.keys(EFFICIENCY_OPTIONS), ...SEARCH_KEYS];
  const groups = { keys: [...new Set(first)], heading: BOTH_HEADING };
  return verb({
    flags: (command) => addSettingsInGroups(command, table, groups),
    example: EXAMPLE,
    action: async ({ command }) => {
      const { values: own } = settingsOf(command, undefined, EFFICIENCY_OPTIONS);
      const { values, settings } = settingsOf(command, 'run', SIDE_RUN_SETTINGS);
      const sut = sourcesOf(command, 'sut');
      const plan = planEfficiency({ own, values, settings, sut, sutSettings });
      const host = new CommandHost('interrupted: ending the run');
      if (plan.note !== undefined) host.report(`note: ${plan.note}`);
      refuseUsedSides(plan);
      try {
        const { isWhole, ...result } = await runEfficiency(plan, host);
        host.progress(null);
        return { ...result, isGood: isWhole };
      } catch (error) {
        if (host.exitCode === undefined) throw error;
        host.report('interrupted: nothing can be compared');
        return { exitCode: host.exitCode };
      }
    },
  });
}
