import { formatFixed } from '../base/number-format.ts';
import type { TestLogs } from '../logs/write/test-logs.ts';
import type { SetEnd } from './issue/issue-query-controller.ts';

/**
 * Prints when a performance run began and ended by the wall clock, for those who match it with another
 * log (LoadGen: print_timestamps). Outside the timed region.
 */
export class TimestampPrinter {
  readonly #logs: TestLogs;
  readonly #beginMs: number;

  /** Prints the beginning. */
  constructor(logs: TestLogs) {
    this.#logs = logs;
    this.#beginMs = Date.now();
    logs.print(
      `Loadgen :: Perf mode start. system_clock Timestamp = ${secondsOf(this.#beginMs)}\n`,
    );
  }

  /** Prints the end, and how long the run took by the test's clock and by the wall clock. */
  printEnd({ startNs, endNs }: SetEnd): void {
    const endMs = Date.now();
    const clockMs = Math.trunc((endNs - startNs) / 1e6);
    const wallMs = endMs - this.#beginMs;
    this.#logs.print(
      `Loadgen :: Perf mode stop. system_clock Timestamp = ${secondsOf(endMs)}\n` +
        `Loadgen :: PerfClock Perf duration = ${clockMs}ms\n` +
        `Loadgen :: system_clock Perf duration = ${wallMs}ms\n` +
        `Loadgen :: PerfClock/system_clock ratio : ${formatFixed(clockMs / wallMs, 4)}\n`,
    );
  }
}

function secondsOf(epochMs: number): number {
  return Math.trunc(epochMs / 1000);
}
