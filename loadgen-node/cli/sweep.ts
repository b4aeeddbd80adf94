import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addSettingsInGroups, settingsOf } from '../../shared/config/command-line.ts';
import { CommandHost } from '../run/host/host.ts';
import { FIND_PEAK_SETTINGS, NOT_OF_SEARCH } from '../search/peak/find-peak-plan.ts';
import { planSweep, runSweep, SWEEP_OPTIONS } from '../search/sweep/run-sweep.ts';
import { takeNodeBenchmark } from './node-benchmark.ts';
import { verb } from './verb.ts';

const FIRST_KEYS: readonly string[] = [
  ...['sut', 'benchmark', 'linkHook', 'delay', 'rate', 'loss', 'scenario'],
  ...['latency', 'ttft', 'tpot', 'searchTime', 'output', 'force', 'resume'],
];

const { keepProbes: _keepProbes, ...CELL_SETTINGS } = FIND_PEAK_SETTINGS;
const TABLE = { ...SWEEP_OPTIONS, ...CELL_SETTINGS };
const GROUPS = {
  keys: FIRST_KEYS,
  heading: 'Options of each run, as in "longhaul run":',
  hidden: [...NOT_OF_SEARCH, 'engine'],
};

/** `longhaul sweep`: how link conditions affect the peak. */
export const sweepVerb = verb({
  flags: (command) => addSettingsInGroups(command, TABLE, GROUPS),
  takesSignals: true,
  before: (command) => takeNodeBenchmark(command, FIND_PEAK_SETTINGS),
  example: `
Example: tc shapes the interface that leads to the node
  sudo longhaul sweep --sut 10.0.0.2:50051 --latency 50ms --delay 0,1,5,10ms --rate 100mbit,1gbit \\
    --link-hook 'LINK_DEVICE=eth1 deploy/two-hosts/link.sh' --output results/sweep

Each cell is a search of find-peak through a link of those conditions. --delay is one way. After
Ctrl-C the same command with --resume keeps the cells that are done.

Exit codes: 0 every cell was measured, 3 some were not, found no value, or that of LoadGen itself,
2 wrong flag or key, 4 SUT, 5 data set, 6 this machine, 130 Ctrl-C.`,
  details: `The hook is a shell command. It is run with LONGHAUL_LINK=set before a cell and with
LONGHAUL_LINK=clear after it, however sweep ends. LONGHAUL_LINK_DELAY_US (one way),
LONGHAUL_LINK_RATE_BITS (empty: unlimited) and LONGHAUL_LINK_LOSS_PERCENT have the conditions. A
cell whose link is measured to be faster fails.`,
  action: async ({ command }) => {
    const { values: options } = settingsOf(command, undefined, SWEEP_OPTIONS);
    const { values, settings } = settingsOf(command, 'run', FIND_PEAK_SETTINGS);
    const plan = planSweep({ options, values, settings });
    const host = new CommandHost('interrupted: ending the sweep');
    const swept = await runSweep(plan, host);
    if (swept === null) return { exitCode: host.exitCode ?? EXIT.interrupted };
    host.progress(null);
    return swept;
  },
});
