import { ROUNDS } from '../rounds/rounds.ts';
import type { BenchmarkCard, GeneratedSet } from '../rows/benchmark-card.ts';
import { compressionRow, NONE_OR_LOSSLESS, ORIGINAL } from '../rows/compression-row.ts';

/** Width and height of every image, in pixels. */
export const IMAGE_SIZE = 48;

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

/** The embedded example. */
export const DIGITS: BenchmarkCard = {
  key: 'digits',
  title: 'embedded example: ten digits drawn by this project, a small classifier fitted by it',
  encodings: {
    jpeg: { form: 'jpeg', compression: 'identity' },
    raw: { form: 'raw', compression: 'identity' },
  },
  sampleTensors: {
    jpeg: { datatype: 'BYTES', shape: [1] },
    raw: { datatype: 'UINT8', shape: [IMAGE_SIZE, IMAGE_SIZE, 3] },
  },
  responseTensor: { datatype: 'INT32', shape: [1] },
  own: { performanceSampleCount: 1024, quality: { metric: 'top-1', target: 0.93 } },
  // No benchmark of MLPerf: this project lets its example follow ResNet50's row in every round, and
  // adds lossless responses as 3D-UNet has them, so that every way can be tried.
  compression: [
    compressionRow(
      ROUNDS,
      "(this project's own benchmark, by the example of ResNet50 and 3D-UNet) Allow one of the following " +
        `compression options: ${NONE_OR_LOSSLESS} 3) The original compression of the dataset (JPEG); ` +
        'lossless compression of responses',
      { ...ORIGINAL, losslessResponses: true },
    ),
  ],
  generated: { standard: EVALUATION_SET, training: TRAINING_SET, isOnly: true },
};
