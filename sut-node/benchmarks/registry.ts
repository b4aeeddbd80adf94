import { loadBenchmarkModule } from '../../shared/rules/benchmark-module.ts';
import type { SutBenchmark } from './sut-benchmark.ts';

/**
 * The benchmark's model, pre- and post-processing on this node. That of a language model follows from its card.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN` that lists what there is.
 */
export function sutBenchmark(key: string): Promise<SutBenchmark> {
  return loadBenchmarkModule(key, import.meta.url, 'model on the SUT node');
}
