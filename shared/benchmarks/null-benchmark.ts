/** Bytes of a response of the benchmark `null` where nothing else is said: those of a class label. */
export const NULL_RESPONSE_BYTES_DEFAULT = 4;

/** Bytes of a sample of the benchmark `null`: those of an image of 224 x 224 RGB bytes. */
export const NULL_SAMPLE_BYTES_DEFAULT: number = 224 * 224 * 3;

/** Samples of the benchmark `null`. */
export const NULL_SAMPLE_COUNT_DEFAULT = 1024;

/** Most samples of the benchmark `null`. */
export const NULL_SAMPLE_COUNT_MAX: number = 2 ** 24;

/** Largest sample or response of the benchmark `null`, in bytes. */
export const NULL_BYTES_MAX: number = 2 ** 30;
