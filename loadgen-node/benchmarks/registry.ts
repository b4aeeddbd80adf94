import { benchmarkRules } from '../../shared/benchmarks/benchmark-rules.ts';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { digitsBenchmark } from './digits/digits-benchmark.ts';
import type { LoadgenBenchmark } from './loadgen-benchmark.ts';
import { nullBenchmark } from './null/null-benchmark.ts';

/** Every benchmark of which this node has a data set and an accuracy metric. */
const BENCHMARKS: readonly LoadgenBenchmark[] = [digitsBenchmark, nullBenchmark];

/** @throws MlperfError `ERR_BENCHMARK_UNKNOWN` that lists what there is. */
export function loadgenBenchmark(key: string): LoadgenBenchmark {
  const { key: known } = benchmarkRules(key);
  const benchmark = BENCHMARKS.find((candidate) => candidate.rules.key === known);
  if (benchmark === undefined) {
    const available = BENCHMARKS.map((candidate) => candidate.rules.key).join(', ');
    throw new MlperfError(
      'ERR_BENCHMARK_UNKNOWN',
      `benchmark ${key} has no data set on the LoadGen node; there is: ${available}`,
    );
  }
  return benchmark;
}
