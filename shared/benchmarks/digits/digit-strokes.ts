/** A point in the unit square; x to the right, y downwards. */
export type Point = readonly [x: number, y: number];

/** Points that one stroke of the pen joins by straight lines. */
export type Polyline = readonly Point[];

/** Steps of a full turn in {@link arc}. At 48 pixels the corners of a 24-sided circle do not show. */
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
 * An arc of an ellipse. Steps count 15 degrees each, clockwise on the screen, from 3 o'clock:
 * 6 is the bottom, 12 is 9 o'clock, 18 is the top.
 */
function arc(center: Point, radii: Point, firstStep: number, lastStep: number): Point[] {
  const points: Point[] = [];
  for (let step = firstStep; step <= lastStep; step += 1) {
    const [x, y] = CIRCLE[step % STEPS_PER_TURN] as Point; // In range: the table holds a full turn.
    points.push([center[0] + radii[0] * x, center[1] + radii[1] * y]);
  }
  return points;
}

/** Strokes of the digits 0 to 9, in this order: how a person would write them, before any distortion. */
export const DIGIT_STROKES: readonly (readonly Polyline[])[] = [
  [arc([0.5, 0.5], [0.3, 0.45], 0, 24)],
  [
    [
      [0.35, 0.25],
      [0.55, 0.05],
      [0.55, 0.95],
    ],
  ],
  [[...arc([0.5, 0.3], [0.28, 0.25], 12, 26), [0.22, 0.95], [0.8, 0.95]]],
  [arc([0.47, 0.28], [0.27, 0.23], 13, 30), arc([0.47, 0.73], [0.3, 0.23], 18, 35)],
  [
    [
      [0.6, 0.05],
      [0.2, 0.65],
      [0.82, 0.65],
    ],
    [
      [0.62, 0.4],
      [0.62, 0.95],
    ],
  ],
  [
    [
      [0.75, 0.05],
      [0.3, 0.05],
      [0.27, 0.45],
    ],
    arc([0.48, 0.67], [0.29, 0.28], 15, 34),
  ],
  [
    [
      [0.65, 0.05],
      [0.3, 0.45],
    ],
    arc([0.5, 0.68], [0.27, 0.27], 0, 24),
  ],
  [
    [
      [0.2, 0.05],
      [0.8, 0.05],
      [0.42, 0.95],
    ],
  ],
  [arc([0.5, 0.27], [0.23, 0.22], 0, 24), arc([0.5, 0.72], [0.28, 0.23], 0, 24)],
  [
    arc([0.5, 0.32], [0.27, 0.27], 0, 24),
    [
      [0.76, 0.36],
      [0.6, 0.95],
    ],
  ],
];
