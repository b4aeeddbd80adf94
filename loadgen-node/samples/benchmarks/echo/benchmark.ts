import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { syntheticBenchmark } from '../synthetic/synthetic-benchmark.ts';

/** Measures the wire in both directions: a response must equal its sample, byte for byte. */
export const benchmark: LoadgenBenchmark = syntheticBenchmark(
  'echo',
  () => (response, payload) => Buffer.compare(response, payload) === 0,
  { comparesAll: true },
);
