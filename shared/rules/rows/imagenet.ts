import type { PayloadEncoding } from '../../domain/system-under-test.ts';
import type { SampleTensor } from '../../domain/tensors.ts';

/** Height and width of the images that models for ImageNet take. */
export const IMAGENET_IMAGE_SIZE = 224;

/** Elements of one such image. */
export const IMAGENET_ELEMENTS: number = IMAGENET_IMAGE_SIZE * IMAGENET_IMAGE_SIZE * 3;

/**
 * How an image may travel. `uint8` is cut to the model's size, height x width x RGB, one byte each; `fp32`
 * is the model's input itself, normalised, channel x height x width; `jpeg` is the data set's own file.
 */
export const IMAGENET_ENCODINGS: Readonly<Record<'uint8' | 'fp32' | 'jpeg', PayloadEncoding>> = {
  uint8: { form: 'uint8', compression: 'identity' },
  fp32: { form: 'fp32', compression: 'identity' },
  jpeg: { form: 'jpeg', compression: 'identity' },
};

/** The same payloads as tensors. */
export const IMAGENET_TENSORS: Readonly<Record<'uint8' | 'fp32' | 'jpeg', SampleTensor>> = {
  uint8: { datatype: 'UINT8', shape: [IMAGENET_IMAGE_SIZE, IMAGENET_IMAGE_SIZE, 3] },
  fp32: { datatype: 'FP32', shape: [3, IMAGENET_IMAGE_SIZE, IMAGENET_IMAGE_SIZE] },
  jpeg: { datatype: 'BYTES', shape: [1] },
};

/** A response: the class as one float32. */
export const IMAGENET_RESPONSE_TENSOR: SampleTensor = { datatype: 'FP32', shape: [1] };
