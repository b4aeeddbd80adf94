import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { syntheticBenchmark } from '../synthetic/synthetic-benchmark.ts';

/**
 * Tests LoadGen with known service times. The SUT node chooses the length of a response, and so its
 * token count: any non-empty response is correct, unless the run sets a length.
 */
export const benchmark: LoadgenBenchmark = syntheticBenchmark(
  'delay',
  (responseBytes) => (response) =>
    responseBytes === undefined ? response.length > 0 : response.length === responseBytes,
);
