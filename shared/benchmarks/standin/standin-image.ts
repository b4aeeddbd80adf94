import type { GeneratedSet } from '../../rules/rows/benchmark-card.ts';
import { type DrawingStyle, drawDigit } from '../digits/draw-digit.ts';
import { SeededRandom } from '../digits/seeded-random.ts';
import { encodeJpeg, type ImageSize } from '../image/jpeg.ts';
import { STANDIN_CLASS_COUNT, STANDIN_JPEG_QUALITY } from './standin-sets.ts';

/**
 * How hard the images are. Set by trial so that the stand-in for ResNet-50 reads about 96 of 100 in FP32 and
 * about one less in int8: then whether int8 reaches 99 % of FP32 is a real question. The digit is small enough to
 * lie in the 224 of 256 pixels that pre-processing keeps.
 */
const DIFFICULTY: Omit<DrawingStyle, 'width' | 'height'> = {
  noise: 80,
  contrast: 45,
  distortion: 1.2,
  scaleMin: 0.5,
  scaleMax: 0.72,
};

/** Sides of the files, in pixels: most images of ImageNet lie between these. */
const SIDE_MIN = 320;
const SIDE_MAX = 500;

/**
 * Pixels of a file's side per pixel that is drawn. Drawing is on one thread and takes its time by the pixel;
 * the codec enlarges on its own threads.
 */
const ENLARGEMENT = 4;

/** A file of a stand-in's data set. */
export interface StandinImage {
  /** The digit that it shows, which is its class: 0 to 9. */
  readonly label: number;
  readonly jpeg: Uint8Array;
}

/**
 * Draws image `index` of a set: a digit on a noisy ground, 320 to 500 pixels to a side, landscape or portrait.
 * Same set and index, same bytes, wherever the JPEG codec is the same.
 * @throws MlperfError `ERR_NOT_INSTALLED`
 */
export async function makeStandinImage(set: GeneratedSet, index: number): Promise<StandinImage> {
  const random = new SeededRandom(set.seed, index);
  const label = random.integerBelow(STANDIN_CLASS_COUNT);
  const size: ImageSize = { width: chooseSide(random), height: chooseSide(random) };
  const drawn: ImageSize = {
    width: Math.round(size.width / ENLARGEMENT),
    height: Math.round(size.height / ENLARGEMENT),
  };
  const rgb = drawDigit(label, { ...DIFFICULTY, ...drawn }, random);
  return { label, jpeg: await encodeJpeg(rgb, drawn, STANDIN_JPEG_QUALITY, size) };
}

function chooseSide(random: SeededRandom): number {
  return SIDE_MIN + random.integerBelow(SIDE_MAX - SIDE_MIN + 1);
}
