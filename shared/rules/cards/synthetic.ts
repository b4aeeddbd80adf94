import type { BenchmarkCard } from '../rows/benchmark-card.ts';

/** Default bytes of a response of the benchmarks `null` and `delay`: those of a class label. */
export const SYNTHETIC_RESPONSE_BYTES_DEFAULT = 4;

/** Bytes of a made-up sample: those of an image of 224 x 224 RGB bytes. */
export const SYNTHETIC_SAMPLE_BYTES_DEFAULT: number = 224 * 224 * 3;

/** Made-up samples of a data set. */
export const SYNTHETIC_SAMPLE_COUNT_DEFAULT = 1024;

/** Most made-up samples of a data set. */
export const SYNTHETIC_SAMPLE_COUNT_MAX: number = 2 ** 24;

/** Largest made-up sample, and response to one, in bytes. */
export const SYNTHETIC_BYTES_MAX: number = 2 ** 30;

const RAW = { raw: { form: 'raw', compression: 'identity' } } as const;

const scoredBy = (metric: string) => ({
  performanceSampleCount: SYNTHETIC_SAMPLE_COUNT_MAX,
  quality: { metric, target: 1 },
});

/** Measures the wire. */
export const NULL: BenchmarkCard = {
  key: 'null',
  title: 'no model: the node answers every sample at once, so that the wire itself is measured',
  isSynthetic: true,
  encodings: RAW,
  sampleTensors: { raw: { datatype: 'UINT8', shape: [-1] } },
  responseTensor: { datatype: 'UINT8', shape: [-1] },
  // All that there are.
  own: scoredBy('answered'),
};

/** Measures the wire with responses of the same size as the samples. */
export const ECHO: BenchmarkCard = {
  ...NULL,
  key: 'echo',
  title: 'no model: the node answers every sample with its own bytes, which come back unchanged',
  own: scoredBy('echoed'),
};

/** Tests LoadGen against known service times and token latencies. */
export const DELAY: BenchmarkCard = {
  ...NULL,
  key: 'delay',
  title: 'no model: the node answers every sample after a time that its settings say',
  hasTokens: true,
};

/** The user's own model and samples. */
export const CUSTOM: BenchmarkCard = {
  key: 'custom',
  title: 'your own: any ONNX model, and a folder of which each file is the payload of a sample',
  hasTokens: true,
  encodings: RAW,
  // Only the user knows which answers are right.
  own: { ...scoredBy('answered'), performanceSampleCount: 1024 },
};
