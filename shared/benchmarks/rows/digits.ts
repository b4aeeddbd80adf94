import type { BenchmarkRules } from '../benchmark-row.ts';

/** The embedded example. */
export const DIGITS: BenchmarkRules = {
  key: 'digits',
  title: 'embedded example: ten digits drawn by this project, a small classifier fitted by it',
  isOfficial: false,
  performanceSampleCount: 1024,
  serverTargetLatencyNs: 100_000_000,
  serverTargetLatencyPercentile: 0.99,
  encodings: {
    jpeg: { form: 'jpeg', compression: 'identity' },
    raw: { form: 'raw', compression: 'identity' },
  },
  quality: { metric: 'top-1', target: 0.93 },
};
