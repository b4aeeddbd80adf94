import { loadBenchmarkModule } from '../../shared/rules/benchmark-module.ts';
import type { SutBenchmark } from './sut-benchmark.ts';

/**
 * The benchmark's model, pre- and post-processing on this node. A language model's follows from its
 * card.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN` with the list of benchmarks.
 */
export function sutBenchmark(key: string): Promise<SutBenchmark> {
  return loadBenchmarkModule(key, import.meta.url, 'model on the SUT node');
}
