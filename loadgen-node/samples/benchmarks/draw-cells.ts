import type { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import { encodeJpeg, type ImageSize } from '../../../shared/benchmarks/image/jpeg.ts';
import {
  CELL_MIDDLE,
  CELL_SPAN,
  STANDIN_JPEG_QUALITY,
} from '../../../shared/benchmarks/standin/planted-cells.ts';

/** Sides of the files, in pixels. */
export interface FileSides {
  readonly min: number;
  readonly max: number;
}

/**
 * Pixels of a file's side per pixel that is drawn: drawing is on one thread, and the codec enlarges
 * on its own.
 */
const ENLARGEMENT = 3;

/** Largest noise of a pixel, of 255, of the ground and of a cell. */
const GROUND_NOISE = 60;
const CELL_NOISE = 6;

/**
 * Steps of the ground's brightness, in drawn pixels, and how far from the middle it goes, as a
 * cell's number.
 */
const PATCH = 8;
const GROUND = 0.6;

/** Size of an image of a seeded sequence: landscape or portrait. */
export function drawSize(random: SeededRandom, { min, max }: FileSides): ImageSize {
  const side = (): number => min + random.integerBelow(max - min + 1);
  return { width: side(), height: side() };
}

/**
 * Draws a noisy ground in patches of grey, and on it what is planted. Same sequence, same bytes,
 * wherever the JPEG codec is the same.
 * @param planted Number of the cell at a pixel, of 0 to 1 along either side; undefined: the ground.
 * @throws MlperfError `ERR_NOT_INSTALLED`
 */
export async function drawCells(
  random: SeededRandom,
  size: ImageSize,
  planted: (x: number, y: number) => number | undefined,
): Promise<Uint8Array> {
  const width = Math.round(size.width / ENLARGEMENT);
  const height = Math.round(size.height / ENLARGEMENT);
  const columns = Math.ceil(width / PATCH);
  const patches = Float32Array.from({ length: columns * Math.ceil(height / PATCH) }, () =>
    random.uniform(-GROUND, GROUND),
  );
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0, i = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, i += 3) {
      const ground = patches[Math.floor(y / PATCH) * columns + Math.floor(x / PATCH)] as number;
      const told = planted((x + 0.5) / width, (y + 0.5) / height);
      const mean = CELL_MIDDLE + CELL_SPAN * (told ?? ground);
      const noiseMax = told === undefined ? GROUND_NOISE : CELL_NOISE;
      // Grey alone: JPEG keeps colours at half the resolution.
      rgb.fill(mean + noiseMax * random.triangular() + 0.5, i, i + 3);
    }
  }
  return encodeJpeg(rgb, { width, height }, STANDIN_JPEG_QUALITY, size);
}
