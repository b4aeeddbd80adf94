import { IMAGE_SIZE } from '../../rules/cards/digits.ts';
import type { GeneratedSet } from '../../rules/rows/benchmark-card.ts';
import { CLASS_COUNT } from './digit-sets.ts';
import { SeededRandom } from './seeded-random.ts';

/** How an image looks. Lengths of the digit are parts of the image's shorter side. */
export interface DrawingStyle {
  /** In pixels. The digit is in the middle of the longer side. */
  readonly width: number;
  readonly height: number;
  /** Largest noise per colour channel, in grey levels of 256. */
  readonly noise: number;
  /** Smallest distance of the digit's brightness from the background's, in grey levels. */
  readonly contrast: number;
  /** Factor on rotation, slant and shift. */
  readonly distortion: number;
  /** Smallest and largest width and height of a digit, each for itself. */
  readonly scaleMin: number;
  readonly scaleMax: number;
}

/** Rotation as the tangent of half the angle, either way: 17 degrees. */
const HALF_ANGLE_TANGENT_MAX = 0.15;
/** Slant: horizontal shift per unit of height, either way. */
const SHEAR_MAX = 0.25;
/** Shift of the whole digit, either way. */
const SHIFT_MAX = 0.08;
/** Trembling of the hand: shift of each point of a stroke, either way. */
const TREMBLE_MAX = 0.01;
/** Half of the stroke's width: strokes are 3.4 to 7.2 pixels wide where the side has 48. */
const HALF_WIDTH_MIN = 0.035;
const HALF_WIDTH_MAX = 0.075;
/** Change of brightness across the image (uneven light), either way, in grey levels. */
const GRADIENT_MAX = 50;
/** Departure of a colour channel from grey, either way, in grey levels. */
const TINT_MAX = 25;

/** Guards the division by the square of a segment's length when two points fall together. */
const LENGTH_SQUARED_MIN = 1e-12;

/**
 * Draws one digit, written with a round pen, distorted, coloured and noisy.
 *
 * Same arguments, same bytes, on every machine: whatever is random comes from integers, and the
 * rest is addition, product, quotient and square root, which IEEE 754 rounds in one way only.
 * @param label The digit, 0 to 9.
 * @returns Height x width x RGB, one byte each.
 */
function drawDigit(label: number, style: DrawingStyle, random: SeededRandom): Uint8Array {
  const colours = chooseColours(style, random);
  const coverage = drawStrokes(label, style, random);
  return paint(coverage, colours, style, random);
}

interface Colours {
  readonly background: readonly number[];
  readonly digit: readonly number[];
  /** Grey levels from the left to the right border, and from the top to the bottom. */
  readonly gradientX: number;
  readonly gradientY: number;
}

/**
 * Light on dark and dark on light alike; the background's brightness is free, the digit's keeps its
 * distance.
 */
function chooseColours({ contrast }: DrawingStyle, random: SeededRandom): Colours {
  const backgroundLevel = random.uniform(0, 255);
  let digitLevel: number;
  do digitLevel = random.uniform(0, 255);
  while (Math.abs(digitLevel - backgroundLevel) < contrast);
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
function drawStrokes(label: number, style: DrawingStyle, random: SeededRandom): Float64Array {
  const place = choosePlacement(style, random);
  const halfWidth = random.uniform(HALF_WIDTH_MIN, HALF_WIDTH_MAX);
  const grid = gridOf(style);
  const pixel = 1 / grid.side;
  // A point farther away than this is not covered: the edge is softened over one pixel.
  const reach = halfWidth + pixel / 2;
  const distances = new Float64Array(grid.width * grid.height).fill(Number.POSITIVE_INFINITY);
  for (const stroke of DIGIT_STROKES[label] ?? []) {
    let from: Point | undefined;
    for (const point of stroke) {
      const to = place(point);
      if (from !== undefined) lowerDistances(distances, grid, { from, to, reach });
      from = to;
    }
  }
  return distances.map((squared) => clamp((reach - Math.sqrt(squared)) / pixel, 1));
}

/**
 * Draws the distortion of one image; the function that is returned applies it, with a new tremble
 * per point.
 */
function choosePlacement(
  { distortion, scaleMin, scaleMax }: DrawingStyle,
  random: SeededRandom,
): (point: Point) => Point {
  const either = (max: number): number => random.uniform(-max * distortion, max * distortion);
  const halfTangent = either(HALF_ANGLE_TANGENT_MAX);
  const cosine = (1 - halfTangent * halfTangent) / (1 + halfTangent * halfTangent);
  const sine = (2 * halfTangent) / (1 + halfTangent * halfTangent);
  const width = random.uniform(scaleMin, scaleMax);
  const height = random.uniform(scaleMin, scaleMax);
  const shear = either(SHEAR_MAX);
  const shiftX = either(SHIFT_MAX);
  const shiftY = either(SHIFT_MAX);
  return ([pointX, pointY]) => {
    const y = (pointY - 0.5) * height + random.uniform(-TREMBLE_MAX, TREMBLE_MAX);
    const x = (pointX - 0.5) * width + random.uniform(-TREMBLE_MAX, TREMBLE_MAX) + shear * y;
    return [0.5 + shiftX + x * cosine - y * sine, 0.5 + shiftY + x * sine + y * cosine];
  };
}

/**
 * Places the pixels of an image on the plane of the strokes. The plane goes from 0 to 1 along the
 * shorter side of the image, which has `side` pixels.
 */
interface Grid {
  readonly width: number;
  readonly height: number;
  readonly side: number;
  /** Pixels to the left of the plane's 0, or above it (`top`); 0 along the shorter side. */
  readonly left: number;
  readonly top: number;
}

function gridOf({ width, height }: DrawingStyle): Grid {
  const side = Math.min(width, height);
  return { width, height, side, left: (width - side) / 2, top: (height - side) / 2 };
}

/** A piece of a stroke. It covers only pixels that are at most `reach` away. */
interface Segment {
  readonly from: Point;
  readonly to: Point;
  readonly reach: number;
}

/** Lowers the squared distances of the pixels near a segment to their distance from it. */
function lowerDistances(distances: Float64Array, grid: Grid, { from, to, reach }: Segment): void {
  const { width, height, side, left, top } = grid;
  const [fromX, fromY] = from;
  const deltaX = to[0] - fromX;
  const deltaY = to[1] - fromY;
  const lengthSquared = deltaX * deltaX + deltaY * deltaY + LENGTH_SQUARED_MIN;
  const columns = pixelsWithin(fromX, to[0], reach, { side, before: left, count: width });
  const rows = pixelsWithin(fromY, to[1], reach, { side, before: top, count: height });
  for (let row = rows.first; row <= rows.last; row += 1) {
    const y = (row + 0.5 - top) / side - fromY;
    for (let column = columns.first; column <= columns.last; column += 1) {
      const x = (column + 0.5 - left) / side - fromX;
      const along = clamp((x * deltaX + y * deltaY) / lengthSquared, 1);
      const restX = x - along * deltaX;
      const restY = y - along * deltaY;
      const squared = restX * restX + restY * restY;
      const pixel = row * width + column;
      if (squared < (distances[pixel] as number)) distances[pixel] = squared;
    }
  }
}

/**
 * First and last pixel of one axis whose centre can lie within `reach` of a segment; first > last:
 * none.
 */
function pixelsWithin(
  from: number,
  to: number,
  reach: number,
  axis: { readonly side: number; readonly before: number; readonly count: number },
): { first: number; last: number } {
  const first = Math.floor((Math.min(from, to) - reach) * axis.side + axis.before);
  const last = Math.ceil((Math.max(from, to) + reach) * axis.side + axis.before);
  return { first: Math.max(first, 0), last: Math.min(last, axis.count - 1) };
}

/** Mixes background and digit by coverage, adds light and noise, and cuts to bytes. */
function paint(
  coverage: Float64Array,
  colours: Colours,
  { width, height, noise }: DrawingStyle,
  random: SeededRandom,
): Uint8Array {
  const rgb = new Uint8Array(width * height * 3);
  for (let pixel = 0; pixel < coverage.length; pixel += 1) {
    const x = ((pixel % width) + 0.5) / width - 0.5;
    const y = (Math.floor(pixel / width) + 0.5) / height - 0.5;
    const light = colours.gradientX * x + colours.gradientY * y;
    const share = coverage[pixel] as number;
    for (let channel = 0; channel < 3; channel += 1) {
      const background = colours.background[channel] as number;
      const digit = colours.digit[channel] as number;
      rgb[pixel * 3 + channel] = clamp(
        background + (digit - background) * share + light + random.triangular() * noise,
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

/** A point in the unit square; x to the right, y downwards. */
type Point = readonly [x: number, y: number];

/** Steps of a full turn of an arc. At 48 pixels the corners of a 24-sided circle do not show. */
const STEPS_PER_TURN = 24;
/**
 * Cosine and sine of one step (15 degrees), written out: `Math.cos` may differ in its last digit by
 * machine.
 */
const STEP_COSINE = 0.9659258262890683;
const STEP_SINE = 0.25881904510252074;

/** Points on the unit circle, step by step, by repeated rotation: additions and products only. */
const CIRCLE: readonly Point[] = unitCircle();

function unitCircle(): Point[] {
  const points: Point[] = [];
  let [x, y] = [1, 0];
  for (let step = 0; step < STEPS_PER_TURN; step += 1) {
    points.push([x, y]);
    [x, y] = [x * STEP_COSINE - y * STEP_SINE, x * STEP_SINE + y * STEP_COSINE];
  }
  return points;
}

/**
 * Strokes of the digits 0 to 9, in this order: how a person would write them, before any
 * distortion. A stroke of the pen joins its points by straight lines. A point is `x,y`. An arc of
 * an ellipse is `x,y,rx,ry,first,last`: its centre, its radii, and steps of 15 degrees, clockwise
 * on the screen, from 3 o'clock: 6 is the bottom, 12 is 9 o'clock, 18 is the top.
 */
const STROKES: readonly (readonly string[])[] = [
  ['0.5,0.5,0.3,0.45,0,24'],
  ['0.35,0.25 0.55,0.05 0.55,0.95'],
  ['0.5,0.3,0.28,0.25,12,26 0.22,0.95 0.8,0.95'],
  ['0.47,0.28,0.27,0.23,13,30', '0.47,0.73,0.3,0.23,18,35'],
  ['0.6,0.05 0.2,0.65 0.82,0.65', '0.62,0.4 0.62,0.95'],
  ['0.75,0.05 0.3,0.05 0.27,0.45', '0.48,0.67,0.29,0.28,15,34'],
  ['0.65,0.05 0.3,0.45', '0.5,0.68,0.27,0.27,0,24'],
  ['0.2,0.05 0.8,0.05 0.42,0.95'],
  ['0.5,0.27,0.23,0.22,0,24', '0.5,0.72,0.28,0.23,0,24'],
  ['0.5,0.32,0.27,0.27,0,24', '0.76,0.36 0.6,0.95'],
];

/** Points of each stroke of each digit. */
const DIGIT_STROKES: readonly (readonly (readonly Point[])[])[] = STROKES.map((strokes) =>
  strokes.map((stroke) => stroke.split(' ').flatMap(toPoints)),
);

function toPoints(piece: string): Point[] {
  const numbers = piece.split(',').map(Number);
  const [x, y] = numbers as [number, number];
  if (numbers.length === 2) return [[x, y]];
  const [radiusX, radiusY, first, last] = numbers.slice(2) as [number, number, number, number];
  return Array.from({ length: last - first + 1 }, (_, step) => {
    // In range: a full turn.
    const [unitX, unitY] = CIRCLE[(first + step) % STEPS_PER_TURN] as Point;
    return [x + radiusX * unitX, y + radiusY * unitY];
  });
}

/**
 * How the images look, and how hard they are. Set by trial so that the model of this project reads
 * about 97 of 100: less would look broken, more would leave accuracy tests no room to find faults
 * (a node that answers with wrong samples, damaged images, a model of fewer bits). Noise is the
 * strongest knob.
 */
const STYLE: DrawingStyle = {
  width: IMAGE_SIZE,
  height: IMAGE_SIZE,
  noise: 60,
  contrast: 60,
  distortion: 1.3,
  scaleMin: 0.6,
  scaleMax: 0.85,
};

/** An image and what it shows. */
export interface RenderedDigit {
  /** The digit, 0 to 9. */
  readonly label: number;
  /** Height x width x RGB, one byte each: {@link RAW_IMAGE_BYTES}. */
  readonly rgb: Uint8Array;
}

/**
 * Draws image `index` of a set. Same set and index, same bytes, on every machine (see
 * {@link drawDigit}).
 */
export function renderDigit(set: GeneratedSet, index: number): RenderedDigit {
  const random = new SeededRandom(set.seed, index);
  const label = random.integerBelow(CLASS_COUNT);
  return { label, rgb: drawDigit(label, STYLE, random) };
}
