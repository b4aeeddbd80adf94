import { benchmarkRules } from '../../shared/benchmarks/benchmark-rules.ts';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { digitsBenchmark } from './digits/digits-benchmark.ts';
import type { SutBenchmark } from './sut-benchmark.ts';

/** Every benchmark of which this node has a model, pre- and post-processing. */
const BENCHMARKS: readonly SutBenchmark[] = [digitsBenchmark];

/** @throws MlperfError `ERR_BENCHMARK_UNKNOWN` that lists what there is. */
export function sutBenchmark(key: string): SutBenchmark {
  const { key: known } = benchmarkRules(key);
  const benchmark = BENCHMARKS.find((candidate) => candidate.rules.key === known);
  if (benchmark === undefined) {
    const available = BENCHMARKS.map((candidate) => candidate.rules.key).join(', ');
    throw new MlperfError(
      'ERR_BENCHMARK_UNKNOWN',
      `benchmark ${key} has no model on the SUT node; there is: ${available}`,
    );
  }
  return benchmark;
}
