import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { dataSetError, type MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import {
  type VolumeShape,
  volumeText,
  voxelCount,
} from '../../../../shared/benchmarks/volume/volume.ts';
import { readingFile } from '../../data-set/data-set.ts';

/** A header of NIfTI-1. Rule: nifti1.h of the NIfTI Data Format Working Group. */
export interface NiftiHeader {
  /** Voxels along the file's axes; the first axis is fastest in the file. */
  readonly shape: VolumeShape;
  /** Size of a voxel along each axis, mostly in mm. */
  readonly spacing: readonly [number, number, number];
}

const HEADER_BYTES = 348;
const MAGIC = 'n+1\0';
const GZIP_MARK = 0x8b1f;

/** Limit on voxels, above any scan's, for broken headers. */
const VOXELS_MAX = 2 ** 31;

/** Planes read at once, before their voxels are rearranged. */
const PLANES_AT_ONCE = 64;

/** Memory layout of voxels by NIfTI type number. */
const TYPES = {
  2: Uint8Array,
  4: Int16Array,
  8: Int32Array,
  16: Float32Array,
  64: Float64Array,
  256: Int8Array,
  512: Uint16Array,
  768: Uint32Array,
} as const;

interface ParsedHeader extends NiftiHeader {
  readonly Elements: (typeof TYPES)[keyof typeof TYPES];
  readonly dataOffset: number;
  /** A voxel's value is `stored * slope + inter`. */
  readonly slope: number;
  readonly inter: number;
}

/** @throws MlperfError `ERR_DATA_SET` naming the file. */
export function readNiftiHeader(path: string): Promise<NiftiHeader> {
  return readingBytes(path, (source) => readHeader(source, path));
}

/**
 * Reads a volume; only the voxels and some planes of the file are in memory.
 * @param path `.nii`, or the same compressed with gzip.
 * @param allocate Allocates the voxels, which are stored with the last axis fastest.
 * @throws MlperfError `ERR_DATA_SET` naming the file.
 */
export function readNifti<T extends Float32Array | Uint8Array>(
  path: string,
  allocate: (shape: VolumeShape) => T,
): Promise<NiftiHeader & { readonly voxels: T }> {
  return readingBytes(path, async (source) => {
    const header = await readHeader(source, path);
    const { shape, Elements, dataOffset } = header;
    const [depth, height, width] = shape;
    const voxels = allocate(shape);
    const planeBytes = depth * height * Elements.BYTES_PER_ELEMENT;
    const stored = new Elements(depth * height * PLANES_AT_ONCE);
    const planes = Buffer.from(stored.buffer);
    await source.fill(Buffer.alloc(dataOffset - HEADER_BYTES));
    for (let first = 0; first < width; first += PLANES_AT_ONCE) {
      const count = Math.min(PLANES_AT_ONCE, width - first);
      if (!(await source.fill(planes.subarray(0, count * planeBytes)))) {
        throw dataSetError(
          `${path}: is cut off: it has not all of its ${volumeText(shape)} voxels`,
        );
      }
      placePlanes(stored, voxels, header, { first, count });
    }
    return { shape, spacing: header.spacing, voxels };
  });
}

/**
 * Copies planes of the file (first axis fastest) into the voxels. Neighbours along the last axis
 * come from different planes: with several planes at once they are written consecutively.
 */
function placePlanes(
  stored: { readonly [index: number]: number },
  voxels: Float32Array | Uint8Array,
  { shape: [depth, height, width], slope, inter }: ParsedHeader,
  { first, count }: { readonly first: number; readonly count: number },
): void {
  const planeSize = depth * height;
  for (let h = 0; h < height; h += 1) {
    for (let d = 0; d < depth; d += 1) {
      let from = h * depth + d;
      const target = (d * height + h) * width + first;
      for (let to = target; to < target + count; to += 1, from += planeSize) {
        voxels[to] = (stored[from] as number) * slope + inter;
      }
    }
  }
}

async function readHeader(source: Bytes, path: string): Promise<ParsedHeader> {
  const bytes = Buffer.alloc(HEADER_BYTES);
  const isWhole = await source.fill(bytes);
  const wrong = (what: string): MlperfError => dataSetError(`${path}: ${what}`);
  const isNifti = isWhole && bytes.toString('latin1', 344, HEADER_BYTES) === MAGIC;
  if (!isNifti || bytes.readInt32LE(0) !== HEADER_BYTES) {
    throw wrong('is not a little-endian NIfTI-1 file with header and voxels (.nii, .nii.gz)');
  }
  const axes = Array.from({ length: 7 }, (_, i) =>
    i < bytes.readInt16LE(40) ? bytes.readInt16LE(42 + 2 * i) : 1,
  );
  const [a = 0, b = 0, c = 0, ...others] = axes;
  const shape: VolumeShape = [a, b, c];
  if (Math.min(...shape) < 1 || others.some((length) => length !== 1)) {
    throw wrong(
      `has the axes ${axes.slice(0, Math.max(3, bytes.readInt16LE(40))).join(' x ')}; three are read`,
    );
  }
  if (voxelCount(shape) > VOXELS_MAX) throw wrong(`has ${volumeText(shape)} voxels, too many`);
  const Elements = TYPES[bytes.readInt16LE(70) as keyof typeof TYPES];
  if (Elements === undefined) {
    throw wrong(
      `has voxels of type ${bytes.readInt16LE(70)}; read are ${Object.keys(TYPES).join(', ')}`,
    );
  }
  const dataOffset = bytes.readFloatLE(108);
  if (!(Number.isInteger(dataOffset) && dataOffset >= HEADER_BYTES && dataOffset < 2 ** 24)) {
    throw wrong(`has its first voxel at byte ${dataOffset}, which cannot be`);
  }
  // A slope of 0, or NaN, means that voxels are stored unscaled.
  const isScaled = Number.isFinite(bytes.readFloatLE(112)) && bytes.readFloatLE(112) !== 0;
  const [slope, inter] = isScaled ? [bytes.readFloatLE(112), bytes.readFloatLE(116)] : [1, 0];
  if (!Number.isFinite(inter)) throw wrong(`adds ${inter} to each voxel (scl_inter)`);
  const spacing = [bytes.readFloatLE(80), bytes.readFloatLE(84), bytes.readFloatLE(88)] as const;
  return { shape, spacing, Elements, dataOffset, slope, inter };
}

/** Bytes of a file in order, decompressed if gzipped. */
interface Bytes {
  /** Fills `target` with the next bytes; false if the file ends before. */
  fill(target: Buffer): Promise<boolean>;
  readonly close: () => void;
}

function readingBytes<T>(path: string, read: (source: Bytes) => Promise<T>): Promise<T> {
  return readingFile(path, async () => {
    const source = await openBytes(path);
    return read(source).finally(source.close);
  });
}

async function openBytes(path: string): Promise<Bytes> {
  const begin = Buffer.alloc(2);
  const file = await open(path);
  await file.read(begin, 0, 2, 0).finally(() => file.close());
  const raw = createReadStream(path, { highWaterMark: 2 ** 18 });
  const isGzip = begin.readUInt16LE(0) === GZIP_MARK;
  // Forwards a file error to the reader of the decompressed data.
  const stream = isGzip ? pipeline(raw, createGunzip({ chunkSize: 2 ** 18 }), () => {}) : raw;
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let rest: Buffer = Buffer.alloc(0);
  return {
    fill: async (target) => {
      let filled = 0;
      while (filled < target.length) {
        if (rest.length === 0) {
          const next = await chunks.next();
          if (next.done === true) return false;
          rest = next.value;
        }
        const count = rest.copy(target, filled);
        filled += count;
        rest = rest.subarray(count);
      }
      return true;
    },
    close: () => void stream.destroy(),
  };
}
