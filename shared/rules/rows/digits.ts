import type { BenchmarkRules } from './benchmark-row.ts';

/** Width and height of every image, in pixels. */
export const IMAGE_SIZE = 48;

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
  sampleTensors: {
    jpeg: { datatype: 'BYTES', shape: [1] },
    raw: { datatype: 'UINT8', shape: [IMAGE_SIZE, IMAGE_SIZE, 3] },
  },
  responseTensor: { datatype: 'INT32', shape: [1] },
  quality: { metric: 'top-1', target: 0.93 },
};
