import type { GeneratedSet } from '../../rules/rows/benchmark-card.ts';
import { SeededRandom } from '../digits/seeded-random.ts';
import { AIR, type VolumeShape, voxelCount, WINDOW_SIDE, WINDOW_STEP } from './volume.ts';

/**
 * Mean intensities of body, kidney and tumour, normalised as those of a scan. Labels are their
 * places.
 */
export const STANDIN_INTENSITIES: readonly [body: number, kidney: number, tumour: number] = [
  normalised(20),
  normalised(110),
  normalised(200),
];

/** Largest noise on a voxel of the body: less than half the way from one mean to the next. */
const NOISE = 40 / 76.9;

/** Every so many voxels of a kidney and of a tumour carry the intensity of another label. */
const WRONG_ONE_OF = 8;

/** @param hounsfield Units of a scan. */
function normalised(hounsfield: number): number {
  return (hounsfield - 101) / 76.9;
}

/** Label of the air around the body while a volume is drawn; it becomes 0 as well. */
const AIR_LABEL = 255;

/** A ball that is stretched along the axes; all in voxels. */
interface Ellipsoid {
  readonly centre: readonly [number, number, number];
  readonly radius: readonly [number, number, number];
}

/**
 * Volume `index` of a set: a noisy body in air with two kidneys, and a tumour on each; 128 or 192
 * voxels to a side. Same set and index, same volume on every machine.
 * @returns Its shape, its labels (0, 1 kidney, 2 tumour), and a function that fills in its
 *   intensities.
 */
export function drawStandinVolume({ seed }: GeneratedSet, index: number) {
  const random = new SeededRandom(seed, index);
  const side = (): number => WINDOW_SIDE + WINDOW_STEP * random.integerBelow(2);
  const shape: VolumeShape = [side(), side(), side()];
  const [depth, height, width] = shape;
  const regions = new Uint8Array(voxelCount(shape)).fill(AIR_LABEL);
  const centre = [depth / 2, height / 2, width / 2] as const;
  // As deep as the volume: a trunk, cut off above and below.
  fill(regions, shape, 0, { centre, radius: [depth * 4, height * 0.46, width * 0.46] });
  for (const across of [0.3, 0.7]) {
    const jitter = (): number => random.uniform(-6, 6);
    const kidney: Ellipsoid = {
      centre: [depth / 2 + jitter(), height / 2 + jitter(), width * across + jitter()],
      radius: [random.uniform(22, 30), random.uniform(14, 20), random.uniform(12, 16)],
    };
    fill(regions, shape, 1, kidney);
    const away = random.uniform(-1, 1);
    const radius = random.uniform(7, 12);
    const [d, h, w] = kidney.centre;
    const beside = d + away * kidney.radius[0];
    fill(regions, shape, 2, { centre: [beside, h, w], radius: [radius, radius, radius] });
  }
  return {
    shape,
    labels: regions.map((region) => (region === AIR_LABEL ? 0 : region)),
    paint: (voxels: Float32Array) => {
      for (let i = 0; i < voxels.length; i += 1) {
        const region = regions[i] as number;
        const isWrong = i % WRONG_ONE_OF === 0 && region > 0;
        const shown = isWrong ? region - 1 : region;
        if (region === AIR_LABEL) voxels[i] = AIR;
        else voxels[i] = (STANDIN_INTENSITIES[shown] as number) + random.triangular() * NOISE;
      }
    },
  };
}

/** Gives a label to all voxels of an ellipsoid. */
function fill(
  regions: Uint8Array,
  [depth, height, width]: VolumeShape,
  label: number,
  { centre, radius }: Ellipsoid,
): void {
  const [cd, ch, cw] = centre;
  const [rd, rh, rw] = radius;
  for (let d = Math.max(0, Math.ceil(cd - rd)); d < Math.min(depth, cd + rd); d += 1) {
    for (let h = Math.max(0, Math.ceil(ch - rh)); h < Math.min(height, ch + rh); h += 1) {
      const rest = 1 - ((d - cd) / rd) ** 2 - ((h - ch) / rh) ** 2;
      if (rest < 0) continue;
      const reach = rw * Math.sqrt(rest);
      const row = (d * height + h) * width;
      const begin = Math.max(0, Math.ceil(cw - reach));
      const end = Math.min(width, Math.floor(cw + reach) + 1);
      regions.fill(label, row + begin, row + end);
    }
  }
}
