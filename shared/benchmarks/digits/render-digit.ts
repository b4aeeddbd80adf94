import { IMAGE_SIZE } from '../../rules/rows/digits.ts';
import { CLASS_COUNT, type GeneratedSet } from './digit-sets.ts';
import { type DrawingStyle, drawDigit } from './draw-digit.ts';
import { SeededRandom } from './seeded-random.ts';

/**
 * How the images look, and how hard they are. Set by trial so that the model of this project reads about 97 of
 * 100: less would look broken, more would leave accuracy tests nothing to find (a node that answers with wrong
 * samples, damaged images, a model of fewer bits). Noise is the strongest knob.
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
 * Draws image `index` of a set. Same set and index, same bytes, on every machine (see {@link drawDigit}).
 */
export function renderDigit(set: GeneratedSet, index: number): RenderedDigit {
  const random = new SeededRandom(set.seed, index);
  const label = random.integerBelow(CLASS_COUNT);
  return { label, rgb: drawDigit(label, STYLE, random) };
}
