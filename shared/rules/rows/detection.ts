import type { PayloadEncoding } from '../../domain/system-under-test.ts';
import type { SampleTensor } from '../../domain/tensors.ts';

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
 * Numbers of a detection in a response, float32, little-endian: index of the sample, top, left, bottom and right as shares of
 * the image, score, label.
 */
export const DETECTION_FLOATS = 7;

/**
 * How an image may travel, and the tensors of it. `uint8` is resized, height x width x RGB, one byte each; `fp32` is the model's
 * input, normalised, channel x height x width; `jpeg` is the data set's own file.
 */
export function detectionRow(benchmark: DetectionBenchmark): {
  readonly encodings: Readonly<Record<string, PayloadEncoding>>;
  readonly sampleTensors: Readonly<Record<string, SampleTensor>>;
  readonly responseTensor: SampleTensor;
} {
  const side = DETECTION_IMAGE_SIZES[benchmark];
  const tensors = [
    ['uint8', { datatype: 'UINT8', shape: [side, side, 3] }],
    ['fp32', { datatype: 'FP32', shape: [3, side, side] }],
    ['jpeg', { datatype: 'BYTES', shape: [1] }],
  ] as const;
  // ssd-mobilenet takes bytes.
  const own = tensors.filter(([form]) => form !== 'fp32' || benchmark !== 'ssd-mobilenet');
  return {
    encodings: Object.fromEntries(
      own.map(([form]) => [form, { form, compression: 'identity' } as const]),
    ),
    sampleTensors: Object.fromEntries(own),
    // As many detections as there are.
    responseTensor: { datatype: 'FP32', shape: [-1, DETECTION_FLOATS] },
  };
}
