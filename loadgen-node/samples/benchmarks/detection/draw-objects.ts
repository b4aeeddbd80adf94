import { at } from '../../../../shared/base/at.ts';
import { SeededRandom } from '../../../../shared/benchmarks/digits/seeded-random.ts';
import type { ImageSize } from '../../../../shared/benchmarks/image/jpeg.ts';
import { STANDIN_OBJECT_CLASSES } from '../../../../shared/benchmarks/standin/standin-objects.ts';

/** Left, top, width and height in pixels of the drawn image. */
export type Box = readonly [number, number, number, number];

/** An object of an image, and the box around it. */
export interface DrawnObject {
  readonly label: number;
  readonly box: Box;
  /** True for a group of objects in one box. */
  readonly isGroup: boolean;
}

/** An image, and the objects in it. */
export interface DrawnScene {
  readonly size: ImageSize;
  /** height x width x RGB. */
  readonly rgb: Uint8Array;
  readonly objects: readonly DrawnObject[];
}

/** Sides in pixels. */
const WIDTHS = [360, 512] as const;
const HEIGHTS = [300, 512] as const;

/** Objects of an image, and tries to place each. */
const OBJECTS_MAX = 9;
const TRIES = 12;

/** Least side of an object, and how often it may double: small ones are as common as large ones. */
const SIDE_MIN = 6;
const DOUBLINGS = 5;

/** Share of the images that show a group, and its parts. */
const GROUP_SHARE = 0.15;
const GROUP_SIZES = [6, 12] as const;
const PART_SIDES = [7, 16] as const;

/** Most of an object that may be hidden by another one. */
const HIDDEN_MAX = 0.2;

/**
 * How hard the images are: the largest shift of an object's colour, and the largest noise of a pixel, both of 255. Set by
 * trial so that the stand-in model misses some objects and takes some for others.
 */
const COLOUR_SHIFT = 62;
const NOISE = 34;

/** Steps of the ground's brightness. */
const PATCH = 32;

/**
 * Draws an image of a seeded sequence: rectangles and ellipses of known colours on a noisy grey ground, some small, some in
 * groups, some partly hidden by others.
 */
export function drawScene(seed: number, index: number): DrawnScene {
  const random = new SeededRandom(seed, index);
  const size = { width: between(random, WIDTHS), height: between(random, HEIGHTS) };
  const rgb = drawGround(size, random);
  const objects: DrawnObject[] = [];
  if (random.uniform(0, 1) < GROUP_SHARE) objects.push(drawGroup(rgb, size, random));
  const count = 1 + random.integerBelow(OBJECTS_MAX);
  for (let i = 0; i < count; i += 1) {
    const label = random.integerBelow(STANDIN_OBJECT_CLASSES.length);
    const box = findPlace(size, objects, random);
    if (box === undefined) continue;
    drawObject(rgb, size, label, box, random);
    objects.push({ label, box, isGroup: false });
  }
  addNoise(rgb, random);
  return { size, rgb, objects };
}

function between(random: SeededRandom, [low, high]: readonly [number, number]): number {
  return low + random.integerBelow(high - low + 1);
}

/** Patches of grey. */
function drawGround({ width, height }: ImageSize, random: SeededRandom): Uint8Array {
  const rgb = new Uint8Array(width * height * 3);
  const columns = Math.ceil(width / PATCH);
  const greys = Uint8Array.from({ length: columns * Math.ceil(height / PATCH) }, () =>
    random.uniform(70, 180),
  );
  for (let y = 0, at = 0; y < height; y += 1) {
    const row = Math.floor(y / PATCH) * columns;
    for (let x = 0; x < width; x += 1, at += 3) {
      rgb.fill(greys[row + Math.floor(x / PATCH)] as number, at, at + 3);
    }
  }
  return rgb;
}

/** A box for the next object; undefined where it would hide too much of others, or be hidden. */
function findPlace(
  { width, height }: ImageSize,
  objects: readonly DrawnObject[],
  random: SeededRandom,
): Box | undefined {
  for (let i = 0; i < TRIES; i += 1) {
    const side = SIDE_MIN * 2 ** random.integerBelow(DOUBLINGS) * random.uniform(1, 2);
    const ratio = random.uniform(0.6, 1.6);
    const [w, h] = [side * ratio, side / ratio];
    if (w > width - 2 || h > height - 2) continue;
    const box: Box = [random.uniform(0, width - w), random.uniform(0, height - h), w, h];
    const isFree = objects.every((object) => {
      const shared = sharedArea(box, object.box);
      const smaller = Math.min(w * h, object.box[2] * object.box[3]);
      return shared <= (object.isGroup ? 0 : HIDDEN_MAX * smaller);
    });
    if (isFree) return box;
  }
  return undefined;
}

function sharedArea(a: Box, b: Box): number {
  const width = Math.min(a[0] + a[2], b[0] + b[2]) - Math.max(a[0], b[0]);
  const height = Math.min(a[1] + a[3], b[1] + b[3]) - Math.max(a[1], b[1]);
  return Math.max(0, width) * Math.max(0, height);
}

/** Small objects of one kind side by side; the box is that of all of them. */
function drawGroup(rgb: Uint8Array, size: ImageSize, random: SeededRandom): DrawnObject {
  const label = random.integerBelow(STANDIN_OBJECT_CLASSES.length);
  const side = between(random, PART_SIDES);
  const step = side * 1.5;
  const count = between(random, GROUP_SIZES);
  const columns = Math.ceil(Math.sqrt(count));
  const rows = Math.ceil(count / columns);
  const box: Box = [
    random.uniform(0, size.width - columns * step),
    random.uniform(0, size.height - rows * step),
    columns * step - (step - side),
    rows * step - (step - side),
  ];
  for (let i = 0; i < count; i += 1) {
    const left = box[0] + (i % columns) * step;
    const top = box[1] + Math.floor(i / columns) * step;
    drawObject(rgb, size, label, [left, top, side, side], random);
  }
  return { label, box, isGroup: true };
}

function drawObject(
  rgb: Uint8Array,
  { width, height }: ImageSize,
  label: number,
  [left, top, boxWidth, boxHeight]: Box,
  random: SeededRandom,
): void {
  const { colour, isEllipse } = at(STANDIN_OBJECT_CLASSES, label);
  const shifted = colour.map((share) =>
    Math.min(255, Math.max(0, share * 255 + COLOUR_SHIFT * random.triangular())),
  );
  for (let y = Math.ceil(top - 0.5); y + 0.5 < top + boxHeight; y += 1) {
    const v = ((y + 0.5 - top) / boxHeight) * 2 - 1;
    const half = isEllipse ? Math.sqrt(Math.max(0, 1 - v * v)) : 1;
    const from = left + (boxWidth / 2) * (1 - half);
    const to = left + (boxWidth / 2) * (1 + half);
    for (let x = Math.ceil(from - 0.5); x + 0.5 < to; x += 1) {
      if (x < 0 || y < 0 || x >= width || y >= height) continue;
      rgb.set(shifted, (y * width + x) * 3);
    }
  }
}

function addNoise(rgb: Uint8Array, random: SeededRandom): void {
  for (let at = 0; at + 2 < rgb.length; at += 3) {
    const bits = random.nextUint32();
    for (let channel = 0; channel < 3; channel += 1) {
      const noise = ((((bits >>> (channel * 8)) & 255) - 127.5) / 127.5) * NOISE;
      const value = (rgb[at + channel] as number) + noise;
      rgb[at + channel] = Math.min(255, Math.max(0, value));
    }
  }
}
