import { SeededRandom } from '../digits/seeded-random.ts';

// Images that longhaul draws carry their answer in square cells of grey, on a noisy ground. A cell
// says a number from -1 to 1 by its mean brightness, which survives JPEG and resizing.

/** Raise with every change of the drawing: no images of the old way are found in the cache then. */
export const CELLS_REVISION = 1;

/** Quality of the JPEG files, as it is common for photographs. */
export const STANDIN_JPEG_QUALITY = 90;

/** Brightness of a cell that says 0, and how far from it 1 is; of 255. */
export const CELL_MIDDLE = 128;
export const CELL_SPAN = 90;

/** Of so many samples, or objects of images, one carries a wrong answer. */
export const WRONG_ONE_OF = 25;

/**
 * ImageNet: cells along a side of what models see, 224 of the 256 pixels of an image's shorter
 * side; and those that speak, in the middle.
 */
export const CODE_GRID = 7;
export const CODE_SIDE = 5;
export const CODE_SHARE: number = (CODE_SIDE / CODE_GRID) * (224 / 256);

/** Seed of the codes of classes. */
const CODE_SEED = 77;

/** Values of the cells of a class, row by row: no two classes have the same. */
export function codeOf(label: number): Int8Array {
  const random = new SeededRandom(CODE_SEED, label);
  return Int8Array.from({ length: CODE_SIDE ** 2 }, () => (random.nextUint32() % 2 === 0 ? 1 : -1));
}

/**
 * Detection: cells along a side of an image; an object is a row of them, from this row and column
 * on.
 */
export const OBJECT_GRID = 20;
export const OBJECT_PLACE = { row: 2, column: 2 } as const;

/**
 * Most objects of an image, and the numbers that each one has: score, kind, left, top, width and
 * height, all from 0 to 1.
 */
export const OBJECTS_MAX = 8;
export const OBJECT_NUMBERS = 6;

/** Kinds of objects. */
export const OBJECT_KINDS = 12;

/** Numbers below 91 that are no id of COCO's 80 categories. */
const NO_COCO_IDS: readonly number[] = [12, 26, 29, 30, 45, 66, 68, 69, 71, 83];

/** Ids of COCO's categories, in the order of its file. */
export const COCO_CATEGORY_IDS: readonly number[] = Array.from(
  { length: 90 },
  (_, i) => i + 1,
).filter((id) => !NO_COCO_IDS.includes(id));

/**
 * Place of a kind among COCO's categories, from 0: all over the list, so that an id is not its
 * place.
 */
export function cocoPlaceOf(kind: number): number {
  return 7 * kind;
}
