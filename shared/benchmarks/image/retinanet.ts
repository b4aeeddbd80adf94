import { RETINANET_ELEMENTS, RETINANET_IMAGE_SIZE } from '../../rules/rows/retinanet.ts';
import { decodeAnyImage } from './jpeg.ts';
import { linearTaps, resizeRows } from './resize.ts';

// RetinaNet's pre-processing: decoded, RGB, resized to 800 x 800 without regard to the shape, bilinear, in float, divided by
// 255. The model has its own normalisation inside.
// Source: MLCommons inference, vision/classification_and_detection/python/dataset.py, `pre_process_openimages_retinanet`.

const PIXELS: number = RETINANET_ELEMENTS / 3;

/** The largest byte. */
const BYTE_MAX = 255;

/**
 * A file of the data set, decoded and resized, rounded to whole numbers.
 * @returns height x width x RGB.
 * @throws MlperfError `ERR_DATA_SET` saying what is wrong: no image, damaged or truncated, too large.
 */
export async function retinanetBytes(file: Uint8Array): Promise<Uint8Array> {
  const bytes = new Uint8Array(RETINANET_ELEMENTS);
  await resizeFile(file, (line, row) => {
    const start = row * line.length;
    for (let i = 0; i < line.length; i++) bytes[start + i] = (line[i] as number) + 0.5;
  });
  return bytes;
}

/**
 * A file of the data set as the model's input: channel x height x width, 0 to 1, not rounded.
 * @throws MlperfError as {@link retinanetBytes}
 */
export async function retinanetPlanes(file: Uint8Array): Promise<Float32Array> {
  const planes = new Float32Array(RETINANET_ELEMENTS);
  await resizeFile(file, (line, row) => {
    let to = row * RETINANET_IMAGE_SIZE;
    for (let from = 0; from < line.length; from += 3, to++) {
      planes[to] = Math.fround(line[from] as number) / BYTE_MAX;
      planes[to + PIXELS] = Math.fround(line[from + 1] as number) / BYTE_MAX;
      planes[to + 2 * PIXELS] = Math.fround(line[from + 2] as number) / BYTE_MAX;
    }
  });
  return planes;
}

/** The model's input of an image that {@link retinanetBytes} made. */
export function planesOfBytes(bytes: Uint8Array): Float32Array {
  const planes = new Float32Array(RETINANET_ELEMENTS);
  for (let to = 0, from = 0; to < PIXELS; to++, from += 3) {
    planes[to] = SHARES[bytes[from] as number] as number;
    planes[to + PIXELS] = SHARES[bytes[from + 1] as number] as number;
    planes[to + 2 * PIXELS] = SHARES[bytes[from + 2] as number] as number;
  }
  return planes;
}

/** Each byte divided by 255. */
const SHARES: Float32Array = Float32Array.from({ length: 256 }, (_, byte) => byte / BYTE_MAX);

async function resizeFile(
  file: Uint8Array,
  emit: (line: Float64Array, row: number) => void,
): Promise<void> {
  const { rgb, size } = await decodeAnyImage(file);
  const taps = (sourceSize: number) => {
    const targetSize = RETINANET_IMAGE_SIZE;
    return linearTaps({ sourceSize, targetSize, from: 0, count: targetSize });
  };
  resizeRows(rgb, size.width, taps(size.height), taps(size.width), emit);
}
