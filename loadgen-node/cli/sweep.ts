import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addSettingsInGroups, settingsOf, sourcesOf } from '../../shared/config/command-line.ts';
import type { SettingTable } from '../../shared/config/setting.ts';
import { CommandHost } from '../run/host/host.ts';
import { ownNodeSettings } from '../search/own-node.ts';
import { NOT_OF_SEARCH } from '../search/peak/find-peak-plan.ts';
import { planSweep, runSweep } from '../search/sweep/run-sweep.ts';
import { CELL_SETTINGS, SWEEP_OPTIONS } from '../search/sweep/sweep-settings.ts';
import { takeNodeBenchmark } from './node-benchmark.ts';
import { type MakeCommand, verb } from './verb.ts';

const FIRST_KEYS: readonly string[] = [
  ...['sut', 'benchmark', 'model', 'delay', 'rate', 'loss', 'with', 'device', 'scenario'],
  ...['latency', 'ttft', 'tpot', 'searchTime', 'output', 'force', 'resume'],
];

const BOTH_HEADING =
  'Options of each run and of the node, as in "longhaul run" and "longhaul sut":';

/**
 * `longhaul sweep`: what the link does to the peak.
 * @param sutSettings Settings of `longhaul sut`, for a node that it starts.
 */
export function sweepVerb(sutSettings: SettingTable): MakeCommand {
  const { keepProbes: _keepProbes, ...cell } = CELL_SETTINGS;
  const table = { ...ownNodeSettings(sutSettings, CELL_SETTINGS), ...SWEEP_OPTIONS, ...cell };
  const groups = { keys: FIRST_KEYS, heading: BOTH_HEADING, hidden: [...NOT_OF_SEARCH, 'engine'] };
  return verb({
    flags: (command) => addSettingsInGroups(command, table, groups),
    takesSignals: true,
    before: (command) => takeNodeBenchmark(command, CELL_SETTINGS),
    example: `
Example, on one machine: a node is started behind a link of its own, in a network namespace
  sudo longhaul sweep --benchmark digits --latency 50ms \\
    --delay 0,1,5,10ms --rate 100mbit,1gbit --loss 0,0.1% --output results/sweep

Each cell is a search of find-peak through a link of those conditions. --delay is one way. Needs
Linux, root, ip and tc. After Ctrl-C the same command with --resume keeps the cells that are done.

Exit codes: 0 every cell was measured, 3 some were not, found no value, or that of LoadGen itself,
2 wrong flag or key, 4 SUT, 5 data set, 6 this machine, 130 Ctrl-C.`,
    details: `Two machines: tc shapes the interface that leads to the node
  sudo longhaul sweep --sut 10.0.0.2:50051 --device eth1 --benchmark digits --delay 0,1,5,10ms

If it is killed and an interface stays slow: tc qdisc del dev INTERFACE root`,
    action: async ({ command }) => {
      const { values: options } = settingsOf(command, undefined, SWEEP_OPTIONS);
      const { values, settings } = settingsOf(command, 'run', CELL_SETTINGS);
      const sut = sourcesOf(command, 'sut');
      const plan = planSweep({ options, values, settings, sut, sutSettings });
      const host = new CommandHost('interrupted: ending the sweep');
      const swept = await runSweep(plan, host);
      if (swept === null) return { exitCode: host.exitCode ?? EXIT.interrupted };
      const { isWhole, ...result } = swept;
      host.progress(null);
      return { ...result, isGood: isWhole };
    },
  });
}
