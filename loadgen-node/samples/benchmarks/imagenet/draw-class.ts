import { SeededRandom } from '../../../../shared/benchmarks/digits/seeded-random.ts';
import {
  CELLS_REVISION,
  CODE_SHARE,
  CODE_SIDE,
  codeOf,
  STANDIN_JPEG_QUALITY,
  WRONG_ONE_OF,
} from '../../../../shared/benchmarks/standin/planted-cells.ts';
import type { GeneratedSet } from '../../../../shared/rules/rows/benchmark-card.ts';
import { drawCells, drawSize } from '../draw-cells.ts';
import type { DrawnData } from '../drawn-data-set.ts';
import { IMAGENET_CLASSES, VAL_MAP } from './imagenet-data-set.ts';

/** Most images of ImageNet have sides between these. */
const SIDES = { min: 320, max: 500 } as const;

/**
 * Top-1 of the stand-in models on the standard images: 61 of 1,536 carry the code of another class.
 */
export const STANDIN_TOP1: number = 1 - 61 / 1536;

/**
 * Image `index` of a set: the code of its class in the middle; of {@link WRONG_ONE_OF} one has that
 * of the next class.
 */
export async function drawClass({ seed }: GeneratedSet, index: number) {
  const random = new SeededRandom(seed, index);
  const label = random.integerBelow(IMAGENET_CLASSES);
  const isWrong = index % WRONG_ONE_OF === WRONG_ONE_OF - 1;
  const code = codeOf(isWrong ? (label + 1) % IMAGENET_CLASSES : label);
  const size = drawSize(random, SIDES);
  const cell = (CODE_SHARE * Math.min(size.width, size.height)) / CODE_SIDE;
  const place = (share: number, side: number): number =>
    Math.floor(((share - 0.5) * side) / cell + CODE_SIDE / 2);
  const jpeg = await drawCells(random, size, (x, y) => {
    const [column, row] = [place(x, size.width), place(y, size.height)];
    return column < 0 || column >= CODE_SIDE ? undefined : code[row * CODE_SIDE + column];
  });
  return { jpeg, content: label };
}

/**
 * The stand-in's data set: JPEG files of varied size and `val_map.txt`, laid out as ImageNet's
 * validation set is.
 */
export const STANDIN_IMAGES: DrawnData<number> = {
  name: 'imagenet-standin-data-set',
  recipe: { revision: CELLS_REVISION, jpegQuality: STANDIN_JPEG_QUALITY },
  what: 'images to measure with',
  draw: drawClass,
  // Eight digits, as in ImageNet's.
  pathOf: (index) => `standin_val_${String(index + 1).padStart(8, '0')}.JPEG`,
  listFile: VAL_MAP.file,
  list: (labels, pathOf) => labels.map((label, i) => `${pathOf(i)} ${label}\n`).join(''),
};
