import { CLASS_COUNT, type DigitSet, IMAGE_SIZE, RAW_IMAGE_BYTES } from './digit-sets.ts';
import { DIGIT_STROKES, type Point } from './digit-strokes.ts';
import { SeededRandom } from './seeded-random.ts';

/**
 * How hard the images are. Set by trial so that the model of this project reads about 97 of 100: less
 * would look broken, more would leave accuracy tests nothing to find (a node that answers with wrong
 * samples, damaged images, a model of fewer bits). Noise is the strongest knob.
 */
const DIFFICULTY = {
  /** Largest noise per colour channel, in grey levels of 256. */
  noise: 60,
  /** Smallest distance of the digit's brightness from the background's, in grey levels. */
  contrast: 60,
  /** Factor on every geometric distortion below. */
  distortion: 1.3,
} as const;

/** Rotation as the tangent of half the angle: at most 22 degrees either way with the factor above. */
const HALF_ANGLE_TANGENT_MAX: number = 0.15 * DIFFICULTY.distortion;
/** Slant: horizontal shift per unit of height, either way. */
const SHEAR_MAX: number = 0.25 * DIFFICULTY.distortion;
/** Shift of the whole digit, either way, as a part of the image's side. */
const SHIFT_MAX: number = 0.08 * DIFFICULTY.distortion;
/** Width and height of a digit, each for itself, as a part of the image's side. */
const SCALE_MIN = 0.6;
const SCALE_MAX = 0.85;
/** Trembling of the hand: shift of each point of a stroke, either way, as a part of the image's side. */
const TREMBLE_MAX = 0.01;
/** Half of the stroke's width as a part of the image's side: strokes are 3.4 to 7.2 pixels wide. */
const HALF_WIDTH_MIN = 0.035;
const HALF_WIDTH_MAX = 0.075;
/** Change of brightness across the image (uneven light), either way, in grey levels. */
const GRADIENT_MAX = 50;
/** Departure of a colour channel from grey, either way, in grey levels. */
const TINT_MAX = 25;

/** Guards the division by the square of a segment's length when two points fall together. */
const LENGTH_SQUARED_MIN = 1e-12;

/** An image and what it shows. */
export interface RenderedDigit {
  /** The digit, 0 to 9. */
  readonly label: number;
  /** Height x width x RGB, one byte each: {@link RAW_IMAGE_BYTES}. */
  readonly rgb: Uint8Array;
}

/**
 * Draws image `index` of a set: one digit, written with a round pen, distorted, coloured and noisy.
 *
 * Same set and index, same bytes, on every machine: whatever is random comes from integers, and the
 * rest is addition, product, quotient and square root, which IEEE 754 rounds in one way only.
 */
export function renderDigit(set: DigitSet, index: number): RenderedDigit {
  const random = new SeededRandom(set.seed, index);
  const label = random.integerBelow(CLASS_COUNT);
  const colours = chooseColours(random);
  const coverage = drawStrokes(label, random);
  return { label, rgb: paint(coverage, colours, random) };
}

interface Colours {
  readonly background: readonly number[];
  readonly digit: readonly number[];
  /** Grey levels from the left to the right border, and from the top to the bottom. */
  readonly gradientX: number;
  readonly gradientY: number;
}

/** Light on dark and dark on light alike; the background's brightness is free, the digit's keeps its distance. */
function chooseColours(random: SeededRandom): Colours {
  const backgroundLevel = random.uniform(0, 255);
  let digitLevel: number;
  do digitLevel = random.uniform(0, 255);
  while (Math.abs(digitLevel - backgroundLevel) < DIFFICULTY.contrast);
  return {
    background: tint(backgroundLevel, random),
    digit: tint(digitLevel, random),
    gradientX: random.uniform(-GRADIENT_MAX, GRADIENT_MAX),
    gradientY: random.uniform(-GRADIENT_MAX, GRADIENT_MAX),
  };
}

function tint(level: number, random: SeededRandom): number[] {
  return [0, 1, 2].map(() => level + random.uniform(-TINT_MAX, TINT_MAX));
}

/** Coverage of each pixel by the digit, 0 to 1, row by row. */
function drawStrokes(label: number, random: SeededRandom): Float64Array {
  const place = choosePlacement(random);
  const halfWidth = random.uniform(HALF_WIDTH_MIN, HALF_WIDTH_MAX);
  const pixel = 1 / IMAGE_SIZE;
  // A point farther away than this is not covered: the edge is softened over one pixel.
  const reach = halfWidth + pixel / 2;
  const distances = new Float64Array(IMAGE_SIZE * IMAGE_SIZE).fill(Number.POSITIVE_INFINITY);
  for (const stroke of DIGIT_STROKES[label] ?? []) {
    let from: Point | undefined;
    for (const point of stroke) {
      const to = place(point);
      if (from !== undefined) lowerDistances(distances, from, to, reach);
      from = to;
    }
  }
  return distances.map((squared) => clamp((reach - Math.sqrt(squared)) / pixel, 1));
}

/** Draws the distortion of one image; the function that is returned applies it, with a new tremble per point. */
function choosePlacement(random: SeededRandom): (point: Point) => Point {
  const halfTangent = random.uniform(-HALF_ANGLE_TANGENT_MAX, HALF_ANGLE_TANGENT_MAX);
  const cosine = (1 - halfTangent * halfTangent) / (1 + halfTangent * halfTangent);
  const sine = (2 * halfTangent) / (1 + halfTangent * halfTangent);
  const width = random.uniform(SCALE_MIN, SCALE_MAX);
  const height = random.uniform(SCALE_MIN, SCALE_MAX);
  const shear = random.uniform(-SHEAR_MAX, SHEAR_MAX);
  const shiftX = random.uniform(-SHIFT_MAX, SHIFT_MAX);
  const shiftY = random.uniform(-SHIFT_MAX, SHIFT_MAX);
  return ([pointX, pointY]) => {
    const y = (pointY - 0.5) * height + random.uniform(-TREMBLE_MAX, TREMBLE_MAX);
    const x = (pointX - 0.5) * width + random.uniform(-TREMBLE_MAX, TREMBLE_MAX) + shear * y;
    return [0.5 + shiftX + x * cosine - y * sine, 0.5 + shiftY + x * sine + y * cosine];
  };
}

/** Lowers the squared distances of the pixels near a segment to their distance from it. */
function lowerDistances(distances: Float64Array, from: Point, to: Point, reach: number): void {
  const [fromX, fromY] = from;
  const deltaX = to[0] - fromX;
  const deltaY = to[1] - fromY;
  const lengthSquared = deltaX * deltaX + deltaY * deltaY + LENGTH_SQUARED_MIN;
  const [left, right] = pixelsWithin(fromX, to[0], reach);
  const [top, bottom] = pixelsWithin(fromY, to[1], reach);
  for (let row = top; row <= bottom; row += 1) {
    const y = (row + 0.5) / IMAGE_SIZE - fromY;
    for (let column = left; column <= right; column += 1) {
      const x = (column + 0.5) / IMAGE_SIZE - fromX;
      const along = clamp((x * deltaX + y * deltaY) / lengthSquared, 1);
      const restX = x - along * deltaX;
      const restY = y - along * deltaY;
      const squared = restX * restX + restY * restY;
      const pixel = row * IMAGE_SIZE + column;
      if (squared < (distances[pixel] as number)) distances[pixel] = squared;
    }
  }
}

/** First and last pixel of one axis whose centre can lie within `reach` of a segment; first > last: none. */
function pixelsWithin(from: number, to: number, reach: number): [first: number, last: number] {
  const first = Math.floor((Math.min(from, to) - reach) * IMAGE_SIZE);
  const last = Math.ceil((Math.max(from, to) + reach) * IMAGE_SIZE);
  return [Math.max(first, 0), Math.min(last, IMAGE_SIZE - 1)];
}

/** Mixes background and digit by coverage, adds light and noise, and cuts to bytes. */
function paint(coverage: Float64Array, colours: Colours, random: SeededRandom): Uint8Array {
  const rgb = new Uint8Array(RAW_IMAGE_BYTES);
  for (let pixel = 0; pixel < coverage.length; pixel += 1) {
    const x = ((pixel % IMAGE_SIZE) + 0.5) / IMAGE_SIZE - 0.5;
    const y = (Math.floor(pixel / IMAGE_SIZE) + 0.5) / IMAGE_SIZE - 0.5;
    const light = colours.gradientX * x + colours.gradientY * y;
    const share = coverage[pixel] as number;
    for (let channel = 0; channel < 3; channel += 1) {
      const background = colours.background[channel] as number;
      const digit = colours.digit[channel] as number;
      const noise = random.triangular() * DIFFICULTY.noise;
      rgb[pixel * 3 + channel] = clamp(
        background + (digit - background) * share + light + noise,
        255,
      );
    }
  }
  return rgb;
}

/** Cuts a number to 0 to `max`. */
function clamp(value: number, max: number): number {
  if (value < 0) return 0;
  return value > max ? max : value;
}
