import type { Command } from 'commander';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addJson, progressStream, writeResult } from '../../shared/base/process/json-output.ts';
import {
  addSettingsInGroups,
  createCommand,
  settingsOf,
} from '../../shared/config/command-line.ts';
import { CommandHost } from '../run/host/host.ts';
import { planFindPeak } from '../search/peak/find-peak-plan.ts';
import { FIND_PEAK_SETTINGS, RUN_HEADING, SEARCH_KEYS } from '../search/peak/find-peak-settings.ts';
import { measureMetric } from '../search/peak/measure-metric.ts';
import { peakText } from '../search/peak/print-peak.ts';
import {
  isPeakOfSut,
  peakDocument,
  refuseUsedSearch,
  searchPeak,
} from '../search/peak/search-peak.ts';

const EXAMPLE = `
Example:
  longhaul find-peak --sut 10.0.0.2:50051,10.0.0.3:50051 --benchmark digits \\
    --scenario server --latency 15ms --percentile 99 --output results/peak
  longhaul find-peak ... --output results/peak --resume     after Ctrl-C, a kill, or a lost node

Exit codes: 0 found and confirmed, 3 no load is confirmed, or LoadGen itself was the limit, 2 wrong flag or key, 4 SUT,
5 data set, 6 this machine, 130 Ctrl-C.`;

/** `longhaul find-peak`: searches the largest load under a latency bound. */
export function findPeakCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand(
    'find-peak',
    'find the largest load that keeps the latency bound, and what limits it',
  );
  const groups = { keys: SEARCH_KEYS, heading: RUN_HEADING };
  return addJson(addSettingsInGroups(command, FIND_PEAK_SETTINGS, groups))
    .addHelpText('after', EXAMPLE)
    .action(async () => {
      const { values, settings } = settingsOf(command, 'run', FIND_PEAK_SETTINGS);
      const plan = planFindPeak(values, settings);
      refuseUsedSearch(plan, values);
      const host = new CommandHost('interrupted: ending the probe');
      const { search } = plan;
      if (search === null) {
        const measured = await measureMetric(plan, host);
        writeResult(command, measured);
        return setExitCode(measured.isValid ? EXIT.valid : EXIT.invalid);
      }
      const stream = progressStream(command);
      const result = await searchPeak({ plan, search, values, settings }, host, (line) => {
        host.progress(null);
        stream.write(`${line}\n`);
      });
      if (result === null) return setExitCode(host.exitCode ?? EXIT.interrupted);
      writeResult(command, { text: peakText(search, result), json: peakDocument(result) });
      setExitCode(isPeakOfSut(result) ? EXIT.valid : EXIT.invalid);
    });
}
