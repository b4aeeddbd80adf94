/** Default bytes of a response of the benchmarks `null` and `delay`: those of a class label. */
export const SYNTHETIC_RESPONSE_BYTES_DEFAULT = 4;

/** Bytes of a made-up sample: those of an image of 224 x 224 RGB bytes. */
export const SYNTHETIC_SAMPLE_BYTES_DEFAULT: number = 224 * 224 * 3;

/** Made-up samples of a data set. */
export const SYNTHETIC_SAMPLE_COUNT_DEFAULT = 1024;

/** Most made-up samples of a data set. */
export const SYNTHETIC_SAMPLE_COUNT_MAX: number = 2 ** 24;

/** Largest made-up sample, and response to one, in bytes. */
export const SYNTHETIC_BYTES_MAX: number = 2 ** 30;
