import {
  type VolumeShape,
  voxelCount,
  WINDOW_SIDE,
  WINDOW_STEP,
} from '../../../shared/benchmarks/volume/volume.ts';
import { VOXEL_CLASSES } from './standin.ts';

/** Voxels of a window. */
export const WINDOW_VOXELS: number = WINDOW_SIDE ** 3;

/** Standard deviation of a window's weights, voxels: an eighth of its side. */
const DEVIATION: number = WINDOW_SIDE / 8;

/** First voxel of a window. */
type Corner = readonly [depth: number, height: number, width: number];

/**
 * Weights of the voxels of a window: a Gaussian per axis, their product, its cube root, divided by
 * the largest; rounded to float32 last. Source: 3d-unet-kits19, inference_utils.py,
 * gaussian_kernel.
 */
export function windowWeights(): Float32Array {
  const middle = (WINDOW_SIDE - 1) / 2;
  const gaussian = Float64Array.from({ length: WINDOW_SIDE }, (_, i) =>
    Math.exp(-((i - middle) ** 2) / (2 * DEVIATION * DEVIATION)),
  );
  const weights = new Float64Array(WINDOW_VOXELS);
  let largest = 0;
  let at = 0;
  for (const d of gaussian) {
    for (const h of gaussian) {
      for (let w = 0; w < WINDOW_SIDE; w += 1, at += 1) {
        const weight = Math.cbrt(d * h * (gaussian[w] as number));
        weights[at] = weight;
        if (weight > largest) largest = weight;
      }
    }
  }
  return Float32Array.from(weights, (weight) => weight / largest);
}

/** Corners of all windows of a volume, in the reference's order of summation. */
export function windowCorners(shape: VolumeShape): Corner[] {
  const [ds, hs, ws] = shape.map((length) =>
    Array.from({ length: (length - WINDOW_SIDE) / WINDOW_STEP + 1 }, (_, i) => i * WINDOW_STEP),
  ) as [number[], number[], number[]];
  return ds.flatMap((d) => hs.flatMap((h) => ws.map((w): Corner => [d, h, w])));
}

/** Copies a window of a volume into a batch tensor, from element `at` on. */
export function copyWindow(
  voxels: Float32Array,
  [, height, width]: VolumeShape,
  [d, h, w]: Corner,
  target: Float32Array,
  at: number,
): void {
  let to = at;
  for (let z = d; z < d + WINDOW_SIDE; z += 1) {
    for (let y = h; y < h + WINDOW_SIDE; y += 1) {
      const from = (z * height + y) * width + w;
      for (let x = from; x < from + WINDOW_SIDE; x += 1, to += 1) {
        target[to] = voxels[x] as number;
      }
    }
  }
}

/**
 * Adds up the scores of windows, weighted, and labels each voxel with the class of the largest; all
 * in float32, in the reference's order. Windows come in the order of {@link windowCorners}; so only
 * the planes of one window are in memory: 16 bytes per voxel of 128 planes.
 */
export class WindowBlend {
  readonly labels: Uint8Array;
  readonly #shape: VolumeShape;
  readonly #weights: Float32Array;
  /** Sums of the planes from {@link #begin} on. */
  readonly #sums: Sums;
  #begin = 0;

  /** @param weights From {@link windowWeights}. */
  constructor(shape: VolumeShape, weights: Float32Array) {
    const count = WINDOW_SIDE * shape[1] * shape[2];
    this.labels = new Uint8Array(voxelCount(shape));
    this.#shape = shape;
    this.#weights = weights;
    this.#sums = {
      other: new Float32Array(count),
      kidney: new Float32Array(count),
      tumour: new Float32Array(count),
      weight: new Float32Array(count),
    };
  }

  /**
   * Adds a window.
   * @param outputs Scores of a batch: per window the planes of each class in turn.
   * @param row The window's index in the batch.
   */
  add([d, h, w]: Corner, outputs: Float32Array, row: number): void {
    while (d > this.#begin) this.#moveOn();
    const begin = row * VOXEL_CLASSES * WINDOW_VOXELS;
    const scores = outputs.subarray(begin, begin + VOXEL_CLASSES * WINDOW_VOXELS);
    const [, height, width] = this.#shape;
    addWeighted(this.#sums, scores, this.#weights, { h, w, height, width });
  }

  /** Labels the remaining planes: no further window follows. */
  finish(): Uint8Array {
    this.#label(WINDOW_SIDE);
    return this.labels;
  }

  /** Labels the planes that no further window reaches, and frees their memory for the next ones. */
  #moveOn(): void {
    this.#label(WINDOW_STEP);
    const [, height, width] = this.#shape;
    const gone = WINDOW_STEP * height * width;
    for (const sums of Object.values(this.#sums)) {
      sums.copyWithin(0, gone);
      sums.fill(0, sums.length - gone);
    }
    this.#begin += WINDOW_STEP;
  }

  #label(planes: number): void {
    const [, height, width] = this.#shape;
    const { other, kidney, tumour, weight } = this.#sums;
    const count = planes * height * width;
    const begin = this.#begin * height * width;
    for (let i = 0; i < count; i += 1) {
      const divisor = weight[i] as number;
      let largest = Math.fround((other[i] as number) / divisor);
      let label = 0;
      const second = Math.fround((kidney[i] as number) / divisor);
      if (second > largest) {
        largest = second;
        label = 1;
      }
      if (Math.fround((tumour[i] as number) / divisor) > largest) label = 2;
      this.labels[begin + i] = label;
    }
  }
}

/** Sums of some planes: weighted scores by class, and weights. */
type Sums = Readonly<Record<'other' | 'kidney' | 'tumour' | 'weight', Float32Array>>;

/**
 * Adds a window's scores and weights to its planes; one loop, since each number is used once.
 * @param place The window's corner in a plane, and the size of a plane.
 */
function addWeighted(
  { other, kidney, tumour, weight }: Sums,
  scores: Float32Array,
  weights: Float32Array,
  { h, w, height, width }: Readonly<Record<'h' | 'w' | 'height' | 'width', number>>,
): void {
  let i = 0;
  for (let z = 0; z < WINDOW_SIDE; z += 1) {
    for (let y = h; y < h + WINDOW_SIDE; y += 1) {
      const row = (z * height + y) * width + w;
      for (let x = row; x < row + WINDOW_SIDE; x += 1, i += 1) {
        const share = weights[i] as number;
        const first = Math.fround((scores[i] as number) * share);
        const second = Math.fround((scores[i + WINDOW_VOXELS] as number) * share);
        const third = Math.fround((scores[i + 2 * WINDOW_VOXELS] as number) * share);
        other[x] = (other[x] as number) + first;
        kidney[x] = (kidney[x] as number) + second;
        tumour[x] = (tumour[x] as number) + third;
        weight[x] = (weight[x] as number) + share;
      }
    }
  }
}
