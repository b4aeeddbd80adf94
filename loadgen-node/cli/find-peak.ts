import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { progressStream } from '../../shared/config/command-line.ts';
import { eachTest, resumingIn } from '../official/test-process.ts';
import { CommandHost } from '../run/host/host.ts';
import { linePrinter } from '../run/screen/line-printer.ts';
import {
  FIND_PEAK_SETTINGS,
  NOT_OF_SEARCH,
  planFindPeak,
  RUN_HEADING,
  SEARCH_KEYS,
} from '../search/peak/find-peak-plan.ts';
import { measureMetric } from '../search/peak/measure-metric.ts';
import { peakText } from '../search/peak/print-peak.ts';
import {
  isPeakOfSut,
  peakDocument,
  refuseUsedSearch,
  searchPeak,
} from '../search/peak/search-peak.ts';
import { takeNodeBenchmark } from './node-benchmark.ts';
import { verb } from './verb.ts';

/** `longhaul find-peak`: searches the largest load under a latency bound. */
export const findPeakVerb = verb({
  runSettings: {
    table: FIND_PEAK_SETTINGS,
    keys: SEARCH_KEYS,
    heading: RUN_HEADING,
    hidden: NOT_OF_SEARCH,
  },
  takesSignals: true,
  before: (command) => takeNodeBenchmark(command, FIND_PEAK_SETTINGS),
  example: `
Example:
  longhaul find-peak --sut 10.0.0.2:50051,10.0.0.3:50051 --benchmark digits \\
    --scenario Server --latency 15ms --percentile 99 --output results/peak

After Ctrl-C, a kill or a lost node the same command with --resume goes on.

Exit codes: 0 found and confirmed, 3 no load is confirmed, LoadGen itself was the limit, or the SUT
answered others as well, 2 wrong flag or key, 4 SUT, 5 data set, 6 this machine, 130 Ctrl-C.`,
  action: async ({ values, settings, command }) => {
    const plan = planFindPeak(values, settings);
    refuseUsedSearch(plan, values);
    const { search } = plan;
    const work = async () => {
      const host = new CommandHost('interrupted: ending the probe');
      if (search === null) {
        const { isValid, ...measured } = await measureMetric(plan, host);
        return { ...measured, isGood: isValid };
      }
      const print = linePrinter(host, progressStream(command));
      const asked = { plan, search, values, settings };
      const { result, problems } = await searchPeak(asked, host, print);
      if (result === null) return { exitCode: host.exitCode ?? EXIT.interrupted, problems };
      const json = peakDocument(result);
      const text = peakText(search, result, plan.run.output);
      return { text, json, isGood: isPeakOfSut(result), problems };
    };
    return await eachTest(plan.run.linked !== undefined, work, resumingIn(plan.run.output));
  },
});
