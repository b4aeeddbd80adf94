import type { Scenario } from '../../shared/domain/scenario.ts';
import type { Round } from '../../shared/rules/rounds/rounds.ts';

/**
 * Settings of a test: the keys, forms and defaults of a configuration file's section `run`. Times are texts with their unit
 * (`10s`, `15ms`), percentiles are percentages.
 */
export interface TestOptions {
  /** Benchmark whose rules hold. Default: that of the QDL or of the samples, else `custom`. */
  readonly benchmark?: string;
  /** Default: `Server`. */
  readonly scenario?: Scenario;
  /** Default: `performance`. */
  readonly mode?: 'performance' | 'accuracy' | 'submission' | 'find-peak';
  /** Queries per second; Server and Offline need it. */
  readonly targetQps?: number;
  /**
   * Server, `division: 'open'` where there are nodes: `constant`, `burst:SIZE[@PERIOD]`, `step:RATE@DURATION,...` or `trace:FILE`. A load
   * test, no scenario of MLPerf. Default: `poisson`, LoadGen's own.
   */
  readonly arrivals?: string;
  /** Server: bound on the latency. Default: the benchmark's. */
  readonly targetLatency?: string;
  /** 0 to 100. Default: the benchmark's, or LoadGen's. */
  readonly targetLatencyPercentile?: number;
  /** MultiStream. Default: 8. */
  readonly samplesPerQuery?: number;
  /** Default: `10s`. */
  readonly minDuration?: string;
  readonly maxDuration?: string;
  /** Default: 100. */
  readonly minQueryCount?: number;
  readonly maxQueryCount?: number;
  /** Server: p99 of LoadGen's own lag, in percent of the bound, above which the run is INVALID. Default: 10. */
  readonly generatorLagMax?: number;
  /** Round whose LoadGen and mlperf.conf hold. Default: v4.1's LoadGen and seeds, and the values named here. */
  readonly round?: Round;
  /** LoadGen's own files. */
  readonly mlperfConf?: string;
  readonly userConf?: string;
  /** True: a performance run goes on until early stopping decides. */
  readonly extendUntilDecided?: boolean;
  /** True: mlperf_log_trace.json is written. */
  readonly trace?: boolean;
  /** The test ends when nothing completes for this long. Default: `60s`. */
  readonly stallTimeout?: string;
  /** What figures must be: `['p99 < 15ms', 'errors == 0']`. */
  readonly thresholds?: readonly string[];
}

/** Keys of {@link TestOptions}. */
export const TEST_OPTION_KEYS: readonly (keyof TestOptions)[] = [
  'benchmark',
  'scenario',
  'mode',
  'targetQps',
  'arrivals',
  'targetLatency',
  'targetLatencyPercentile',
  'samplesPerQuery',
  'minDuration',
  'maxDuration',
  'minQueryCount',
  'maxQueryCount',
  'generatorLagMax',
  'round',
  'mlperfConf',
  'userConf',
  'extendUntilDecided',
  'trace',
  'stallTimeout',
  'thresholds',
];
