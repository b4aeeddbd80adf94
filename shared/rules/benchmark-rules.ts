import { MlperfError } from '../base/errors/mlperf-error.ts';
import type { PayloadEncoding } from '../domain/query-sample-library.ts';
import type { Round } from './rounds/rounds.ts';
import type { BenchmarkRules, Quality } from './rows/benchmark-row.ts';
import { CUSTOM } from './rows/custom.ts';
import { DELAY } from './rows/delay.ts';
import { DIGITS } from './rows/digits.ts';
import { ECHO } from './rows/echo.ts';
import { MOBILENET } from './rows/mobilenet.ts';
import { NULL } from './rows/null.ts';
import { RESNET50 } from './rows/resnet50.ts';

const BENCHMARKS: readonly BenchmarkRules[] = [
  DIGITS,
  RESNET50,
  MOBILENET,
  CUSTOM,
  NULL,
  ECHO,
  DELAY,
];

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

/** Quality that a benchmark demands in a round. */
export function qualityOf(rules: BenchmarkRules, round: Round | undefined): Quality {
  return (round === undefined ? undefined : rules.qualityOfRound?.[round]) ?? rules.quality;
}
