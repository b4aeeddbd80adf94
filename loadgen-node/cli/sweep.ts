import type { Command } from 'commander';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import {
  addSettingsInGroups,
  createCommand,
  settingsOf,
} from '../../shared/config/command-line.ts';
import { CommandHost } from '../run/host/host.ts';
import { FIND_PEAK_SETTINGS, RUN_HEADING, SEARCH_KEYS } from '../search/peak/find-peak-settings.ts';
import { planSweep, runSweep } from '../search/sweep/run-sweep.ts';
import { SWEEP_OPTIONS } from '../search/sweep/sweep-settings.ts';

const ABOUT = 'search the peak over a grid of delays, rates and losses of the link';

const EXAMPLE = `
Example:
  longhaul sweep --sut 10.0.0.2:50051 --benchmark digits --scenario server --latency 50ms \\
    --delay 0,1,5,10ms --rate 100mbit,1gbit --loss 0,0.1% --output results/sweep
  longhaul sweep ... --output results/sweep --resume     after Ctrl-C: cells that are done are kept

Each cell is a search of find-peak through a link of those conditions. --delay is one way.

Exit codes: 0 every cell was measured, 3 some were not, found no value, or that of LoadGen itself, 2 wrong flag or key, 4 SUT, 5 data set,
6 this machine, 130 Ctrl-C.`;

/** `longhaul sweep`: what the link does to the peak. */
export function sweepCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand('sweep', ABOUT);
  const { keepProbes: _keepProbes, ...settings } = FIND_PEAK_SETTINGS;
  const keys = ['sut', 'benchmark', ...Object.keys(SWEEP_OPTIONS), ...SEARCH_KEYS.slice(2)];
  const table = { ...SWEEP_OPTIONS, ...settings };
  return addJson(addSettingsInGroups(command, table, { keys, heading: RUN_HEADING }))
    .addHelpText('after', EXAMPLE)
    .action(async () => {
      const { values: options } = settingsOf(command, undefined, SWEEP_OPTIONS);
      const { values, settings } = settingsOf(command, 'run', FIND_PEAK_SETTINGS);
      const plan = planSweep(options, values, settings);
      const host = new CommandHost('interrupted: ending the sweep');
      const swept = await runSweep(plan, host);
      if (swept === null) return setExitCode(host.exitCode ?? EXIT.interrupted);
      const { isWhole, ...result } = swept;
      host.progress(null);
      writeResult(command, result);
      setExitCode(isWhole ? EXIT.valid : EXIT.invalid);
    });
}
