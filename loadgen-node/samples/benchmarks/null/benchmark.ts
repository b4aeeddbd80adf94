import { SYNTHETIC_RESPONSE_BYTES_DEFAULT } from '../../../../shared/rules/cards/synthetic.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { syntheticBenchmark } from '../synthetic/synthetic-benchmark.ts';

/** Measures the wire and LoadGen itself: only the length of a response is checked. */
export const benchmark: LoadgenBenchmark = syntheticBenchmark(
  'null',
  (responseBytes = SYNTHETIC_RESPONSE_BYTES_DEFAULT) =>
    (response) =>
      response.length === responseBytes,
);
