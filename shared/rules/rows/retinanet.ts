import type { PayloadEncoding } from '../../domain/system-under-test.ts';
import type { SampleTensor } from '../../domain/tensors.ts';

/** Height and width of the images that the model takes. */
export const RETINANET_IMAGE_SIZE = 800;

/** Elements of one such image. */
export const RETINANET_ELEMENTS: number = RETINANET_IMAGE_SIZE * RETINANET_IMAGE_SIZE * 3;

/**
 * How an image may travel. `uint8` is resized, height x width x RGB, one byte each; `fp32` is the model's input, channel x
 * height x width, 0 to 1; `jpeg` is the data set's own file.
 */
export const RETINANET_ENCODINGS: Readonly<Record<'uint8' | 'fp32' | 'jpeg', PayloadEncoding>> = {
  uint8: { form: 'uint8', compression: 'identity' },
  fp32: { form: 'fp32', compression: 'identity' },
  jpeg: { form: 'jpeg', compression: 'identity' },
};

/** The same payloads as tensors. */
export const RETINANET_TENSORS: Readonly<Record<'uint8' | 'fp32' | 'jpeg', SampleTensor>> = {
  uint8: { datatype: 'UINT8', shape: [RETINANET_IMAGE_SIZE, RETINANET_IMAGE_SIZE, 3] },
  fp32: { datatype: 'FP32', shape: [3, RETINANET_IMAGE_SIZE, RETINANET_IMAGE_SIZE] },
  jpeg: { datatype: 'BYTES', shape: [1] },
};

/**
 * Numbers of a detection in a response, float32, little-endian: index of the sample, top, left, bottom and right as shares of
 * the image, score, label.
 */
export const DETECTION_FLOATS = 7;
