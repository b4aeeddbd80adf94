import type { BenchmarkCard, GeneratedSet } from '../rows/benchmark-card.ts';

/** Height and width of the images that the models of object detection take, by benchmark. */
export const DETECTION_IMAGE_SIZES = {
  retinanet: 800,
  'ssd-mobilenet': 300,
  'ssd-resnet34': 1200,
} as const;

/** A benchmark of object detection. */
export type DetectionBenchmark = keyof typeof DETECTION_IMAGE_SIZES;

/** Elements of one such image. */
export function detectionElements(benchmark: DetectionBenchmark): number {
  return DETECTION_IMAGE_SIZES[benchmark] ** 2 * 3;
}

/**
 * Numbers of a detection in a response, float32, little-endian: index of the sample, top, left,
 * bottom and right as shares of the image, score, label.
 */
export const DETECTION_FLOATS = 7;

/**
 * The standard set of images that longhaul makes: twice as many as a performance run loads, so that
 * both kinds of run differ as they do for real data. Nothing is fitted on any of them.
 */
export const STANDIN_OBJECT_SET: GeneratedSet = { seed: 32, sampleCount: 128 };

/** The set of ssd-mobilenet, of which a performance run loads 256 images. */
export const STANDIN_OBJECT_SET_LARGE: GeneratedSet = { seed: 32, sampleCount: 384 };

/**
 * How an image may travel, and the tensors of it. `uint8` is resized, height x width x RGB, one
 * byte each; `fp32` is the model's input, normalised, channel x height x width; `jpeg` is the data
 * set's own file.
 */
export function detectionFacts(
  key: DetectionBenchmark,
): Pick<BenchmarkCard, 'key' | 'encodings' | 'sampleTensors' | 'responseTensor'> {
  const side = DETECTION_IMAGE_SIZES[key];
  const tensors = [
    ['uint8', { datatype: 'UINT8', shape: [side, side, 3] }],
    ['fp32', { datatype: 'FP32', shape: [3, side, side] }],
    ['jpeg', { datatype: 'BYTES', shape: [1] }],
  ] as const;
  // ssd-mobilenet takes bytes.
  const own = tensors.filter(([form]) => form !== 'fp32' || key !== 'ssd-mobilenet');
  return {
    key,
    encodings: Object.fromEntries(
      own.map(([form]) => [form, { form, compression: 'identity' } as const]),
    ),
    sampleTensors: Object.fromEntries(own),
    // The free axis is the number of detections.
    responseTensor: { datatype: 'FP32', shape: [-1, DETECTION_FLOATS] },
  };
}
