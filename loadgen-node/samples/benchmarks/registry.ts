import { loadBenchmarkModule } from '../../../shared/rules/benchmark-module.ts';
import type { LoadgenBenchmark } from './loadgen-benchmark.ts';

/**
 * The benchmark's data set and accuracy metric on this node.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN` listing the benchmarks.
 */
export function loadgenBenchmark(key: string): Promise<LoadgenBenchmark> {
  return loadBenchmarkModule(key, import.meta.url, 'data set on the LoadGen node');
}
