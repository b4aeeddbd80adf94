import assert from 'node:assert';
import { type BorrowedBytes, readInPlace } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { RAW_IMAGE_BYTES } from '../../../shared/benchmarks/digits/digit-sets.ts';
import { decodeJpeg } from '../../../shared/benchmarks/image/jpeg.ts';
import { IMAGE_SIZE } from '../../../shared/rules/rows/digits.ts';

const PIXEL_COUNT: number = IMAGE_SIZE * IMAGE_SIZE;

/** Half of the largest byte: turns 0 to 255 into -1 to 1. */
const HALF_RANGE = 127.5;

/**
 * Decodes one payload into the elements of one sample of the model's input.
 * @throws MlperfError `ERR_DATA_SET` saying what is wrong with the payload.
 */
export async function preprocess(
  payload: BorrowedBytes,
  form: string,
  target: Float32Array,
): Promise<void> {
  if (form === 'jpeg') {
    const rgb = await decodeJpeg(readInPlace(payload), { width: IMAGE_SIZE, height: IMAGE_SIZE });
    normaliseImage(rgb, target);
    return;
  }
  assert.equal(form, 'raw');
  if (payload.length !== RAW_IMAGE_BYTES) {
    throw new MlperfError(
      'ERR_DATA_SET',
      `a raw image has ${RAW_IMAGE_BYTES} bytes (${IMAGE_SIZE} x ${IMAGE_SIZE} x 3), ` +
        `this payload has ${payload.length}`,
    );
  }
  normaliseImage(payload, target);
}

/**
 * Turns bytes of 0 to 255 into floats of -1 to 1, and pixels into planes.
 * @param rgb Height x width x RGB.
 * @param target RGB x height x width.
 */
export function normaliseImage(rgb: BorrowedBytes, target: Float32Array): void {
  assert.equal(rgb.length, RAW_IMAGE_BYTES);
  assert.equal(target.length, RAW_IMAGE_BYTES);
  for (let pixel = 0; pixel < PIXEL_COUNT; pixel += 1) {
    for (let channel = 0; channel < 3; channel += 1) {
      const byte = rgb[pixel * 3 + channel] as number; // In range: the lengths are asserted above.
      target[channel * PIXEL_COUNT + pixel] = byte / HALF_RANGE - 1;
    }
  }
}
