import { type BorrowedBytes, littleUint32At } from '../../base/bytes/borrowed-bytes.ts';

/** Voxels along depth, height and width. */
export type VolumeShape = readonly [depth: number, height: number, width: number];

/**
 * Side of the windows that the model sees, and the step from one to the next. Source:
 * global_vars.py of 3d-unet-kits19.
 */
export const WINDOW_SIDE = 128;
export const WINDOW_STEP = 64;

/**
 * Intensity of the air around a patient in a pre-processed scan: the lower end of the clipping,
 * normalised.
 */
export const AIR: number = Math.fround((-79 - 101) / 76.9);

/** Bytes of a payload before its voxels: depth, height and width, each as uint32. */
const HEADER_BYTES = 12;
const VOXEL_BYTES = 4;

/** Largest axis that a payload may name: far above any scan. */
const AXIS_MAX = 8192;

export function voxelCount([depth, height, width]: VolumeShape): number {
  return depth * height * width;
}

/** A volume for people: `192 x 128 x 128`. */
export function volumeText(shape: VolumeShape): string {
  return shape.join(' x ');
}

/**
 * Allocates a payload of the form `volume`: depth, height and width as uint32, then the voxels as
 * float32, width fastest; all little-endian. The voxels are zeros and a view of the payload.
 */
export function newVolume(shape: VolumeShape) {
  const count = voxelCount(shape);
  const payload = new Uint8Array(HEADER_BYTES + count * VOXEL_BYTES);
  new Uint32Array(payload.buffer, 0, shape.length).set(shape);
  return { payload, voxels: new Float32Array(payload.buffer, HEADER_BYTES, count) };
}

/**
 * The shape and voxels of a payload; voxels are copied if they are not aligned to four bytes.
 * @throws Error with the payload's fault
 */
export function openVolume(payload: BorrowedBytes) {
  if (payload.length < HEADER_BYTES) {
    throw new Error(
      `a volume begins with depth, height and width in ${HEADER_BYTES} bytes; this payload has ${payload.length}`,
    );
  }
  const shape: VolumeShape = [
    littleUint32At(payload, 0),
    littleUint32At(payload, 4),
    littleUint32At(payload, 8),
  ];
  for (const length of shape) {
    if (length >= WINDOW_SIDE && length <= AXIS_MAX && length % WINDOW_STEP === 0) continue;
    throw new Error(
      `a volume of ${volumeText(shape)}: each axis must be a multiple of ${WINDOW_STEP} from ${WINDOW_SIDE} to ${AXIS_MAX}`,
    );
  }
  const count = voxelCount(shape);
  const bytes = HEADER_BYTES + count * VOXEL_BYTES;
  if (payload.length !== bytes) {
    throw new Error(
      `a volume of ${volumeText(shape)} has ${bytes} bytes; this payload has ${payload.length}`,
    );
  }
  return { shape, voxels: voxelsOf(payload as Uint8Array, count) };
}

function voxelsOf({ buffer, byteOffset }: Uint8Array, count: number): Float32Array {
  const begin = byteOffset + HEADER_BYTES;
  if (begin % VOXEL_BYTES === 0) return new Float32Array(buffer, begin, count);
  return new Float32Array(buffer.slice(begin, begin + count * VOXEL_BYTES));
}
