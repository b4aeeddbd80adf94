import type { BenchmarkRules } from './benchmark-row.ts';

/** Any ONNX model, any payloads. */
export const CUSTOM: BenchmarkRules = {
  key: 'custom',
  title: 'your own: any ONNX model, and a folder of which each file is the payload of a sample',
  isOfficial: false,
  performanceSampleCount: 1024,
  serverTargetLatencyNs: 100_000_000,
  serverTargetLatencyPercentile: 0.99,
  encodings: { raw: { form: 'raw', compression: 'identity' } },
  // Nobody but the user knows which answers are right.
  quality: { metric: 'answered', target: 1 },
};
