/** A point in the unit square; x to the right, y downwards. */
export type Point = readonly [x: number, y: number];

/** Steps of a full turn of an arc. At 48 pixels the corners of a 24-sided circle do not show. */
const STEPS_PER_TURN = 24;
/** Cosine and sine of one step (15 degrees), written out: `Math.cos` may differ in its last digit by machine. */
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
 * Strokes of the digits 0 to 9, in this order: how a person would write them, before any distortion. A stroke of the pen
 * joins its points by straight lines. A point is `x,y`. An arc of an ellipse is `x,y,rx,ry,first,last`: its centre, its
 * radii, and steps of 15 degrees, clockwise on the screen, from 3 o'clock: 6 is the bottom, 12 is 9 o'clock, 18 is the
 * top.
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
export const DIGIT_STROKES: readonly (readonly (readonly Point[])[])[] = STROKES.map((strokes) =>
  strokes.map((stroke) => stroke.split(' ').flatMap(toPoints)),
);

function toPoints(piece: string): Point[] {
  const numbers = piece.split(',').map(Number);
  const [x, y] = numbers as [number, number];
  if (numbers.length === 2) return [[x, y]];
  const [radiusX, radiusY, first, last] = numbers.slice(2) as [number, number, number, number];
  return Array.from({ length: last - first + 1 }, (_, step) => {
    const [unitX, unitY] = CIRCLE[(first + step) % STEPS_PER_TURN] as Point; // In range: a full turn.
    return [x + radiusX * unitX, y + radiusY * unitY];
  });
}
