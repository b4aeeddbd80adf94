import type { PayloadEncoding } from '../domain/query-sample-library.ts';
import { MlperfError } from '../errors/mlperf-error.ts';
import { NULL_SAMPLE_COUNT_MAX } from './null-benchmark.ts';

/** What the rules (or, for a benchmark of our own, this project) fix about a benchmark, as data. */
export interface BenchmarkRules {
  /** Key on the command line, in configuration files and on the wire. */
  readonly key: string;
  /** One line for people. */
  readonly title: string;
  /** True for a benchmark of MLPerf; false for one that only this project has. */
  readonly isOfficial: boolean;
  /** Samples that a performance run loads (LoadGen: performance_sample_count). */
  readonly performanceSampleCount: number;
  /** Latency bound of the Server scenario at its percentile. */
  readonly serverTargetLatencyNs: number;
  readonly serverTargetLatencyPercentile: number;
  /** Encodings in which a sample may travel, the default first. Name → what goes on the wire. */
  readonly encodings: Readonly<Record<string, PayloadEncoding>>;
  /** Accuracy below which a run misses the benchmark's quality, as a fraction, and what it is called. */
  readonly quality: { readonly metric: string; readonly target: number };
}

const DIGITS: BenchmarkRules = {
  key: 'digits',
  title: 'embedded example: ten digits drawn by this project, a small classifier fitted by it',
  isOfficial: false,
  performanceSampleCount: 1024,
  serverTargetLatencyNs: 100_000_000,
  serverTargetLatencyPercentile: 0.99,
  encodings: {
    jpeg: { form: 'jpeg', compression: 'identity' },
    raw: { form: 'raw', compression: 'identity' },
  },
  quality: { metric: 'top-1', target: 0.93 },
};

const NULL: BenchmarkRules = {
  key: 'null',
  title: 'no model: the node answers every sample at once, so that the wire itself is measured',
  isOfficial: false,
  // All that there are.
  performanceSampleCount: NULL_SAMPLE_COUNT_MAX,
  serverTargetLatencyNs: 100_000_000,
  serverTargetLatencyPercentile: 0.99,
  encodings: { raw: { form: 'raw', compression: 'identity' } },
  quality: { metric: 'answered', target: 1 },
};

const BENCHMARKS: readonly BenchmarkRules[] = [DIGITS, NULL];

/** Keys of all benchmarks, in the order in which they are listed to people. */
export const BENCHMARK_KEYS: readonly string[] = BENCHMARKS.map((benchmark) => benchmark.key);

/** @throws MlperfError `ERR_BENCHMARK_UNKNOWN` that lists what there is. */
export function benchmarkRules(key: string): BenchmarkRules {
  const rules = BENCHMARKS.find((benchmark) => benchmark.key === key);
  if (rules === undefined) {
    throw new MlperfError(
      'ERR_BENCHMARK_UNKNOWN',
      `unknown benchmark "${key}"; there is: ${BENCHMARK_KEYS.join(', ')}`,
    );
  }
  return rules;
}

/** @throws MlperfError `ERR_BENCHMARK_UNKNOWN` that lists the encodings of the benchmark. */
export function benchmarkEncoding(rules: BenchmarkRules, name: string): PayloadEncoding {
  const encoding = Object.hasOwn(rules.encodings, name) ? rules.encodings[name] : undefined;
  if (encoding === undefined) {
    const known = Object.keys(rules.encodings).join(', ');
    throw new MlperfError(
      'ERR_BENCHMARK_UNKNOWN',
      `benchmark ${rules.key} has no encoding "${name}"; there is: ${known}`,
    );
  }
  return encoding;
}
