import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { progressStream } from '../../shared/config/command-line.ts';
import { eachTest, resumingIn } from '../official/test-process.ts';
import { CommandHost } from '../run/host/host.ts';
import { linePrinter } from '../run/screen/line-printer.ts';
import { CURVE_KEYS, CURVE_SETTINGS, NOT_OF_CURVE, planCurve } from '../search/curve/curve-plan.ts';
import { refuseUsedCurve, runCurve } from '../search/curve/run-curve.ts';
import { RUN_HEADING } from '../search/peak/find-peak-plan.ts';
import { takeNodeBenchmark } from './node-benchmark.ts';
import { verb } from './verb.ts';

/** `longhaul curve`: latency against throughput. */
export const curveVerb = verb({
  runSettings: {
    table: CURVE_SETTINGS,
    keys: CURVE_KEYS,
    heading: RUN_HEADING,
    hidden: NOT_OF_CURVE,
  },
  takesSignals: true,
  before: (command) => takeNodeBenchmark(command, CURVE_SETTINGS),
  example: `
Examples:
  longhaul curve --sut 10.0.0.2:50051 --benchmark digits                         rates are found
  longhaul curve --sut 10.0.0.2:50051 --benchmark digits --qps 10..500/8 --latency 15ms
  longhaul curve --sut 10.0.0.2:50051 --benchmark digits --concurrency 1..64
  longhaul curve ... --output results/curve --resume       after Ctrl-C; more loads may be given

Exit codes: 0 measured, 2 wrong flag or key, 4 SUT, 5 data set, 6 this machine, 130 Ctrl-C.`,
  action: async ({ values, settings, command }) => {
    const plan = planCurve(values, settings);
    refuseUsedCurve(plan, values);
    const work = async () => {
      const host = new CommandHost('interrupted: ending the point');
      const print = linePrinter(host, progressStream(command));
      const asked = { plan, values, settings };
      const { isComplete, ...result } = await runCurve(asked, host, print);
      return isComplete ? result : { ...result, exitCode: host.exitCode ?? EXIT.interrupted };
    };
    return await eachTest(plan.run.linked !== undefined, work, resumingIn(plan.run.output));
  },
});
