import type { BenchmarkRules } from './benchmark-row.ts';
import { SYNTHETIC_SAMPLE_COUNT_MAX } from './synthetic-samples.ts';

/** Measures the wire. */
export const NULL: BenchmarkRules = {
  key: 'null',
  title: 'no model: the node answers every sample at once, so that the wire itself is measured',
  isOfficial: false,
  // All that there are.
  performanceSampleCount: SYNTHETIC_SAMPLE_COUNT_MAX,
  serverTargetLatencyNs: 100_000_000,
  serverTargetLatencyPercentile: 0.99,
  encodings: { raw: { form: 'raw', compression: 'identity' } },
  sampleTensors: { raw: { datatype: 'UINT8', shape: [-1] } },
  responseTensor: { datatype: 'UINT8', shape: [-1] },
  quality: { metric: 'answered', target: 1 },
};
