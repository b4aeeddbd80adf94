import { roundHalfEven } from '../../../../shared/base/round-half-even.ts';
import {
  type VolumeShape,
  voxelCount,
  WINDOW_SIDE,
  WINDOW_STEP,
} from '../../../../shared/benchmarks/volume/volume.ts';

/** A scan of KiTS19 as stored: intensities in Hounsfield units, and one label per voxel. */
export interface Scan {
  readonly shape: VolumeShape;
  /** Size of a voxel along each axis, in mm. */
  readonly spacing: readonly [number, number, number];
  /** Last axis fastest. Modified in place. */
  readonly image: Float32Array;
  readonly labels: Uint8Array;
}

// Same arithmetic as 3d-unet-kits19/preprocess.py: float32 where NumPy uses float32, double
// elsewhere.

/** Size of a voxel after resampling, in mm. */
export const SPACING = [1.6, 1.2, 1.2] as const;

const CLIP_MIN = -79;
const CLIP_MAX = 304;
const MEAN = 101;
const DEVIATION: number = Math.fround(76.9);
/** Intensity of the padding around a scan, after normalising. */
const PADDING: number = Math.fround(-2.2);

/**
 * Resamples a scan to {@link SPACING}, clips and normalises its intensities, and makes each axis a
 * multiple of 64, at least 128.
 */
export function prepareScan(scan: Scan) {
  const steps = scan.shape.map((length, axis) =>
    resampledAxis(length, (scan.spacing[axis] as number) / (SPACING[axis] as number)),
  ) as unknown as AxisSteps;
  const image = resampleLinear(scan.image, scan.shape, steps);
  for (let i = 0; i < image.length; i += 1) {
    const value = Math.min(Math.max(image[i] as number, CLIP_MIN), CLIP_MAX);
    image[i] = Math.fround(value - MEAN) / DEVIATION;
  }
  const resampled = shapeOf(steps.map(({ nearest }) => nearest.length));
  const places = resampled.map(placedAxis);
  const shape = shapeOf(places.map(({ length }) => length));
  const prepared = new Float32Array(voxelCount(shape)).fill(PADDING);
  gather(image, resampled, places, prepared);
  const labels = new Uint8Array(voxelCount(shape));
  const nearest = places.map((axis, i) =>
    axis.map((place) => (place < 0 ? -1 : ((steps[i] as ResampledAxis).nearest[place] as number))),
  );
  gather(scan.labels, scan.shape, nearest, labels);
  return { shape, image: prepared, labels };
}

function shapeOf(lengths: readonly number[]): VolumeShape {
  return lengths as unknown as VolumeShape;
}

/**
 * For each position of a resampled axis, the surrounding voxels and their weights; -1 lies beyond
 * the last voxel, because of rounding.
 */
type ResampledAxis = ReturnType<typeof resampledAxis>;
type AxisSteps = readonly [ResampledAxis, ResampledAxis, ResampledAxis];

/**
 * Source voxels that scipy.ndimage.zoom (grid_mode False, mode constant) uses for each position of
 * an axis scaled by `factor`.
 */
function resampledAxis(length: number, factor: number) {
  const newLength = roundHalfEven(length * factor);
  const step = newLength === 1 ? 1 : (length - 1) / (newLength - 1);
  const at = Float64Array.from({ length: newLength }, (_, i) => i * step);
  const isOutside = (place: number): boolean => place > length - 1;
  const before = at.map((place) => 1 - (place - Math.floor(place)));
  return {
    nearest: Int32Array.from(at, (place) => (isOutside(place) ? -1 : Math.floor(place + 0.5))),
    voxels: [
      Int32Array.from(at, (place) => (isOutside(place) ? -1 : Math.floor(place))),
      // At the last voxel the weight of the next one is 0.
      Int32Array.from(at, (place) => Math.min(Math.floor(place) + 1, length - 1)),
    ] as const,
    weights: [before, before.map((weight) => 1 - weight)] as const,
  };
}

/**
 * Linear interpolation of eight neighbours, in scipy's order; outside is the smallest intensity.
 */
function resampleLinear(
  image: Float32Array,
  [, height, width]: VolumeShape,
  [ds, hs, ws]: AxisSteps,
): Float32Array {
  const [depths, heights, widths] = [ds, hs, ws].map(({ nearest }) => nearest.length) as number[];
  const lineLength = widths as number;
  const lines = (depths as number) * (heights as number);
  const smallest = image.reduce((min, value) => Math.min(min, value), Number.POSITIVE_INFINITY);
  const target = new Float32Array(lines * lineLength).fill(smallest);
  const sums = new Float64Array(lineLength);
  for (let line = 0; line < lines; line += 1) {
    const d = Math.floor(line / (heights as number));
    const h = line % (heights as number);
    if ((ds.nearest[d] as number) < 0 || (hs.nearest[h] as number) < 0) continue;
    sums.fill(0);
    for (const i of [0, 1] as const) {
      for (const j of [0, 1] as const) {
        const row = (ds.voxels[i][d] as number) * height + (hs.voxels[j][h] as number);
        const weights = [ds.weights[i][d] as number, hs.weights[j][h] as number] as const;
        addLine(sums, image, row * width, weights, ws);
      }
    }
    const begin = line * lineLength;
    for (let i = 0; i < lineLength; i += 1) {
      if ((ws.nearest[i] as number) >= 0) target[begin + i] = sums[i] as number;
    }
  }
  return target;
}

/** @param row Index of the line's first voxel. */
function addLine(
  sums: Float64Array,
  image: Float32Array,
  row: number,
  [depthWeight, heightWeight]: readonly [number, number],
  { voxels: [before, after], weights: [beforeWeights, afterWeights] }: ResampledAxis,
): void {
  for (let i = 0; i < sums.length; i += 1) {
    const first = (image[row + (before[i] as number)] as number) * depthWeight * heightWeight;
    const second = (image[row + (after[i] as number)] as number) * depthWeight * heightWeight;
    const sum = (sums[i] as number) + first * (beforeWeights[i] as number);
    sums[i] = sum + second * (afterWeights[i] as number);
  }
}

/**
 * For each position of a prepared axis, the voxel used; -1 for padding. An axis shorter than a
 * window is padded with its end values; one that exceeds a multiple of 64 by up to 31 voxels is
 * cropped on both sides; any other is padded to the next multiple.
 */
function placedAxis(length: number): Int32Array {
  const repeated = Math.max(0, WINDOW_SIDE - length);
  const repeatedBefore = Math.floor(repeated / 2);
  const full = length + repeated;
  const surplus = full % WINDOW_STEP;
  const cut = surplus < WINDOW_STEP / 2 ? surplus : 0;
  const cutBefore = Math.floor(cut / 2);
  const kept = full - cut;
  const padded = (WINDOW_STEP - (kept % WINDOW_STEP)) % WINDOW_STEP;
  const paddedBefore = Math.floor(padded / 2);
  return Int32Array.from({ length: kept + padded }, (_, i) => {
    const at = i - paddedBefore;
    if (at < 0 || at >= kept) return -1;
    return Math.min(Math.max(at + cutBefore - repeatedBefore, 0), length - 1);
  });
}

/**
 * Copies voxels to their new positions.
 * @param axes Per axis and position the source voxel; -1 leaves the target unchanged.
 */
function gather<T extends Float32Array | Uint8Array>(
  source: T,
  [, height, width]: VolumeShape,
  axes: readonly Int32Array[],
  target: T,
): void {
  const [ds, hs, ws] = axes as [Int32Array, Int32Array, Int32Array];
  let at = 0;
  for (const d of ds) {
    for (const h of hs) {
      const row = d < 0 || h < 0 ? -1 : (d * height + h) * width;
      for (let i = 0; row >= 0 && i < ws.length; i += 1) {
        const w = ws[i] as number;
        if (w >= 0) target[at + i] = source[row + w] as number;
      }
      at += ws.length;
    }
  }
}
