import { IMAGE_SIZE } from '../../rules/cards/digits.ts';

/** Classes of the benchmark: the digits 0 to 9. */
export const CLASS_COUNT = 10;

/** Bytes of an image in the form `raw`: height x width x RGB, one byte each. */
export const RAW_IMAGE_BYTES: number = IMAGE_SIZE * IMAGE_SIZE * 3;

/**
 * Number of the way in which images are drawn. Raise it with every change of the drawing, so that
 * cached data sets and models of the old drawing are no longer found.
 */
export const DRAWING_REVISION = 1;

/** Quality of the JPEG files, as it is common for photographs. */
export const JPEG_QUALITY = 85;
