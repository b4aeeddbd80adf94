/** A kind of object in a stand-in's images for detection; its place in the list is its label. */
export interface StandinObjectClass {
  /** For people: `rectangle, hue 0`. */
  readonly name: string;
  /** Red, green and blue, 0 to 1. */
  readonly colour: readonly [number, number, number];
  readonly isEllipse: boolean;
}

/** Weakest, middle and strongest share of a colour. */
const LOW = 0.1;
const MIDDLE = 0.5;
const HIGH = 0.9;

/** Twelve colours around the circle of hues, none of them near grey. */
const COLOURS: readonly StandinObjectClass['colour'][] = [
  [HIGH, LOW, LOW],
  [HIGH, MIDDLE, LOW],
  [HIGH, HIGH, LOW],
  [MIDDLE, HIGH, LOW],
  [LOW, HIGH, LOW],
  [LOW, HIGH, MIDDLE],
  [LOW, HIGH, HIGH],
  [LOW, MIDDLE, HIGH],
  [LOW, LOW, HIGH],
  [MIDDLE, LOW, HIGH],
  [HIGH, LOW, HIGH],
  [HIGH, LOW, MIDDLE],
];

/** All kinds of objects: the images have no other, and the stand-in model finds no other. */
export const STANDIN_OBJECT_CLASSES: readonly StandinObjectClass[] = COLOURS.map((colour, i) => ({
  name: `${i % 2 === 0 ? 'rectangle' : 'ellipse'}, hue ${i * 30}`,
  colour,
  isEllipse: i % 2 === 1,
}));

/** Numbers below 91 that are no id of COCO's 80 categories. */
const NO_COCO_IDS: readonly number[] = [12, 26, 29, 30, 45, 66, 68, 69, 71, 83];

/** Ids of COCO's categories, in the order of its file. */
export const COCO_CATEGORY_IDS: readonly number[] = Array.from(
  { length: 90 },
  (_, i) => i + 1,
).filter((id) => !NO_COCO_IDS.includes(id));

/** Place of a drawn kind among COCO's categories, from 0: all over the list, so that an id is not its place. */
export function standinCocoPlace(label: number): number {
  return 7 * label;
}
