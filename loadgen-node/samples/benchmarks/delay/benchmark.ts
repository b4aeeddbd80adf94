import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { syntheticBenchmark } from '../synthetic/synthetic-benchmark.ts';

/**
 * Tests LoadGen against service times that are known. How long a response is, and so how many tokens it
 * has, is the SUT node's choice: any response that is not empty is right, unless the run says how many bytes.
 */
export const benchmark: LoadgenBenchmark = syntheticBenchmark(
  'delay',
  (responseBytes) => (response) =>
    responseBytes === undefined ? response.length > 0 : response.length === responseBytes,
);
