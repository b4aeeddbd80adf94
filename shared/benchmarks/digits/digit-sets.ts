import { IMAGE_SIZE } from '../../rules/rows/digits.ts';

/** Classes of the benchmark: the digits 0 to 9. */
export const CLASS_COUNT = 10;

/** Bytes of an image in the form `raw`: height x width x RGB, one byte each. */
export const RAW_IMAGE_BYTES: number = IMAGE_SIZE * IMAGE_SIZE * 3;

/**
 * Number of the way in which images are drawn. Raise it with every change of the drawing, so that
 * cached data sets and models of the old drawing are no longer found.
 */
export const DRAWING_REVISION = 1;

/** Samples that longhaul makes: sample i comes from random sequence i of the seed, so a larger set begins as a smaller one. */
export interface GeneratedSet {
  /** 32 bits, unsigned. */
  readonly seed: number;
  readonly sampleCount: number;
}

/**
 * Images that the model is fitted on. Its seed is not the evaluation set's, so no image is in both.
 * With 1,000 images more the model reads 1 of 100 better and takes 1 s longer to fit.
 */
export const TRAINING_SET: GeneratedSet = { seed: 1, sampleCount: 2000 };

/**
 * Images that runs measure with and take accuracy on; the model has never seen them. More samples
 * than the 1,024 that a performance run loads, so that both kinds of run differ as they do for real
 * data.
 */
export const EVALUATION_SET: GeneratedSet = { seed: 2, sampleCount: 1200 };

/** Quality of the JPEG files, as it is common for photographs. */
export const JPEG_QUALITY = 85;
