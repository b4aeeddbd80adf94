import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { syntheticBenchmark } from '../synthetic/synthetic-benchmark.ts';

/** Measures the wire both ways: a response must be its sample, byte for byte. */
export const benchmark: LoadgenBenchmark = syntheticBenchmark(
  'echo',
  () => (response, payload) => Buffer.compare(response, payload) === 0,
  { comparesAll: true },
);
