import { SeededRandom } from '../../../../shared/benchmarks/digits/seeded-random.ts';
import {
  CELLS,
  type Colour,
  DISC_RADIUS,
  discCells,
  type StandinPrompt,
  standinPrompt,
} from '../../../../shared/benchmarks/standin/standin-pictures.ts';
import { PICTURE_SIDE } from '../../../../shared/rules/cards/stable-diffusion-xl.ts';
import type { GeneratedSet } from '../../../../shared/rules/rows/benchmark-card.ts';
import { featureStatistics } from '../../metrics/frechet-distance.ts';
import { cosineOf } from './onnx-judge.ts';
import type { PictureJudge } from './picture-score.ts';

// In place of Inception and CLIP: features are means and deviations of colours, by region; a
// caption fits where the colours of its words are where they belong. Real pictures are drawn for
// the prompts of another seed, no two alike.

/** Pictures that the reference is made of, and their seed. */
const REFERENCE: GeneratedSet = { seed: 62, sampleCount: 256 };

/** Regions along each side. */
const REGIONS = 3;

/**
 * Cells from the middle of a picture, in which a disc surely is, and outside of which surely none
 * is.
 */
const INNER = DISC_RADIUS / 2;
const OUTER: number = DISC_RADIUS * 1.5;

/** A picture as cells: RGB, -1 to 1, row by row. */
type Cells = Float32Array;

/** @param captionPrompts Prompt by caption. */
export async function standinJudge(
  captionPrompts: ReadonlyMap<string, StandinPrompt>,
): Promise<PictureJudge> {
  const drawn = Array.from({ length: REFERENCE.sampleCount }, (_, i) => drawPicture(REFERENCE, i));
  const inner = discCells(CELLS / 2, CELLS / 2, INNER);
  const outer = discCells(CELLS / 2, CELLS / 2, OUTER).map((inside) => 1 - inside);
  return {
    lines: ['stand-in: neither Inception nor CLIP; these figures compare with no others'],
    reference: await featureStatistics(drawn.map(featuresOf)),
    features: async (rgb) => featuresOf(cellsOf(rgb)),
    cosine: async (caption, rgb) => {
      const prompt = captionPrompts.get(caption);
      if (prompt === undefined) return 0;
      const cells = cellsOf(rgb);
      const seen = [...meanWhere(cells, inner), ...meanWhere(cells, outer)];
      return cosineOf([...prompt.thing, ...prompt.place], seen);
    },
    close: async () => {},
  };
}

/**
 * A picture of a sample's prompt: place and size of its disc, its light and its grain are its own.
 */
function drawPicture(set: GeneratedSet, index: number): Cells {
  const { thing, place } = standinPrompt(set, index);
  const random = new SeededRandom(set.seed + 1, index);
  const middle = CELLS / 2;
  const disc = discCells(
    middle + random.uniform(-6, 6),
    middle + random.uniform(-6, 6),
    DISC_RADIUS + random.uniform(-4, 4),
  );
  const light = random.uniform(-0.1, 0.1);
  const cells = new Float32Array(CELLS * CELLS * 3);
  for (let i = 0; i < cells.length; i += 1) {
    const colour: Colour = disc[Math.floor(i / 3)] === 1 ? thing : place;
    const value = (colour[i % 3] as number) + light + 0.1 * random.nearlyNormal();
    cells[i] = Math.min(Math.max(value, -1), 1);
  }
  return cells;
}

/** Means of the pixels of each cell. */
function cellsOf(rgb: Uint8Array): Cells {
  const side = PICTURE_SIDE / CELLS;
  const cells = new Float32Array(CELLS * CELLS * 3);
  for (let i = 0; i < rgb.length; i += 1) {
    const pixel = Math.floor(i / 3);
    const row = Math.floor(pixel / PICTURE_SIDE / side);
    const column = Math.floor((pixel % PICTURE_SIDE) / side);
    const place = (row * CELLS + column) * 3 + (i % 3);
    cells[place] = (cells[place] as number) + (rgb[i] as number);
  }
  return cells.map((sum) => sum / (side * side * 127.5) - 1);
}

/** Mean of each colour in each region, and the colours' mean deviation there. */
function featuresOf(cells: Cells): Float32Array {
  const places = REGIONS * REGIONS * 3;
  const [sums, squares, counts] = [0, 1, 2].map(() => new Float64Array(places)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  for (let i = 0; i < cells.length; i += 1) {
    const cell = Math.floor(i / 3);
    const row = Math.floor((Math.floor(cell / CELLS) * REGIONS) / CELLS);
    const column = Math.floor(((cell % CELLS) * REGIONS) / CELLS);
    const place = (row * REGIONS + column) * 3 + (i % 3);
    const value = cells[i] as number;
    sums[place] = (sums[place] as number) + value;
    squares[place] = (squares[place] as number) + value * value;
    counts[place] = (counts[place] as number) + 1;
  }
  const means = sums.map((sum, i) => sum / (counts[i] as number));
  const variances = squares.map(
    (sum, i) => sum / (counts[i] as number) - (means[i] as number) ** 2,
  );
  const deviations = Array.from({ length: REGIONS * REGIONS }, (_, region) => {
    const [r, g, b] = variances.subarray(region * 3, region * 3 + 3);
    return Math.sqrt(Math.max(0, ((r ?? 0) + (g ?? 0) + (b ?? 0)) / 3));
  });
  return Float32Array.of(...means, ...deviations);
}

function meanWhere(cells: Cells, mask: Uint8Array): Colour {
  const sums: [number, number, number] = [0, 0, 0];
  let count = 0;
  for (const [cell, inside] of mask.entries()) {
    if (inside === 0) continue;
    count += 1;
    for (const channel of [0, 1, 2] as const) sums[channel] += cells[cell * 3 + channel] as number;
  }
  return [sums[0] / count, sums[1] / count, sums[2] / count];
}
