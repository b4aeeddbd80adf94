import type { BenchmarkCard, GeneratedSet } from '../rows/benchmark-card.ts';

/** Height and width of the images that models for ImageNet take. */
export const IMAGENET_IMAGE_SIZE = 224;

/** Elements of one such image. */
export const IMAGENET_ELEMENTS: number = IMAGENET_IMAGE_SIZE * IMAGENET_IMAGE_SIZE * 3;

/** Images of the validation set. */
export const IMAGENET_COUNT = 50_000;

/**
 * Images that runs measure with and take accuracy on. More samples
 * than the 1,024 that a performance run loads, so that both kinds of run differ as they do for real
 * data.
 */
export const STANDIN_EVALUATION_SET: GeneratedSet = { seed: 12, sampleCount: 1536 };

/**
 * How an image may travel. `uint8` is cut to the model's size, height x width x RGB, one byte each;
 * `fp32` is the model's input itself, normalised, channel x height x width; `jpeg` is the data
 * set's own file. A response is the class as one float32.
 */
export const IMAGENET = {
  encodings: {
    uint8: { form: 'uint8', compression: 'identity' },
    fp32: { form: 'fp32', compression: 'identity' },
    jpeg: { form: 'jpeg', compression: 'identity' },
  },
  sampleTensors: {
    uint8: { datatype: 'UINT8', shape: [IMAGENET_IMAGE_SIZE, IMAGENET_IMAGE_SIZE, 3] },
    fp32: { datatype: 'FP32', shape: [3, IMAGENET_IMAGE_SIZE, IMAGENET_IMAGE_SIZE] },
    jpeg: { datatype: 'BYTES', shape: [1] },
  },
  responseTensor: { datatype: 'FP32', shape: [1] },
  metric: 'top-1',
  generated: { standard: STANDIN_EVALUATION_SET },
} as const satisfies Partial<BenchmarkCard>;
