import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { dataSetError, errorCodeOf } from '../../../../shared/base/errors/mlperf-error.ts';
import { makeStandinImage } from '../../../../shared/benchmarks/standin/standin-image.ts';
import {
  STANDIN_DRAWING_REVISION,
  STANDIN_JPEG_QUALITY,
} from '../../../../shared/benchmarks/standin/standin-sets.ts';
import { type NamedQuality, readingFile } from '../../data-set/data-set.ts';
import type { DrawnData } from '../drawn-data-set.ts';
import { VAL_MAP } from './imagenet-data-set.ts';

/**
 * File beside val_map.txt that `longhaul prepare` leaves in generated data. Not one of the data set's own files: it
 * depends on the model.
 */
const REFERENCE_FILE = 'reference.json';

/** Argument of `longhaul prepare` → the benchmark whose stand-in it measures. */
export const PREPARED_STANDINS: Readonly<Record<string, 'resnet50'>> = {
  'resnet50-standin': 'resnet50',
};

/** Share of the reference's accuracy that a stand-in must reach, as the benchmarks demand it of theirs. */
const SHARE = 0.99;

/** Form of {@link REFERENCE_FILE}: it says that the images are a stand-in, and what the FP32 model makes of them. */
const REFERENCE = z.object({
  /** Key of the benchmark that the model is for. */
  benchmark: z.string().min(1),
  /** The FP32 model of which the accuracy is. */
  model: z.string().min(1),
  /** Top-1, from 0 to 1. */
  accuracy: z.number().min(0).max(1),
});

export type ReferenceAccuracy = z.infer<typeof REFERENCE>;

/**
 * Reads the description of generated data.
 * @returns undefined without one: the images are taken for ImageNet's.
 * @throws MlperfError `ERR_DATA_SET`
 */
export async function readReferenceAccuracy(
  folder: string,
): Promise<ReferenceAccuracy | undefined> {
  const path = join(folder, REFERENCE_FILE);
  const text = await readingFile(path, () =>
    readFile(path, 'utf8').catch((error: unknown) => {
      if (errorCodeOf(error) === 'ENOENT') return undefined;
      throw error;
    }),
  );
  if (text === undefined) return undefined;
  const form = 'must be {"benchmark": "<key>", "model": "<name>", "accuracy": <0 to 1>}';
  try {
    const { success, data } = REFERENCE.safeParse(JSON.parse(text));
    if (success) return data;
  } catch (cause) {
    throw dataSetError(`${path} is not JSON; it ${form}`, cause);
  }
  throw dataSetError(`${path} ${form}`);
}

/** Leaves beside generated images what the FP32 stand-in makes of them. */
export async function writeReferenceAccuracy(
  folder: string,
  reference: ReferenceAccuracy,
): Promise<void> {
  // By one rename: a run that reads it meanwhile sees the old one or the new one.
  const unfinished = join(folder, `${REFERENCE_FILE}.${randomUUID()}`);
  await writeFile(unfinished, `${JSON.stringify(reference, undefined, 2)}\n`);
  await rename(unfinished, join(folder, REFERENCE_FILE));
}

/**
 * The quality that generated data demands in place of the benchmark's.
 * @param images Those on which the reference was measured, for people: `these generated images`.
 */
export function standInQuality(
  { model, accuracy }: ReferenceAccuracy,
  metric: string,
  images: string,
): NamedQuality {
  return {
    metric,
    target: accuracy * SHARE,
    reference: { value: accuracy, share: SHARE },
    source: `the FP32 stand-in ${model} on ${images}`,
  };
}

/**
 * The stand-in's data set: JPEG files of varied size and `val_map.txt`, laid out as ImageNet's validation set is. The
 * classes are 0 to 9 of 1,000.
 */
export const STANDIN_DATA: DrawnData = {
  name: 'imagenet-standin-data-set',
  recipe: ({ seed, sampleCount }) => ({
    // The key is part of the name of the folder, which earlier versions made.
    images: { seed, imageCount: sampleCount },
    drawingRevision: STANDIN_DRAWING_REVISION,
    jpegQuality: STANDIN_JPEG_QUALITY,
  }),
  what: 'images to measure with',
  draw: makeStandinImage,
  imageFolder: '',
  // Eight digits, as in ImageNet's.
  fileName: (index) => `standin_val_${String(index + 1).padStart(8, '0')}.JPEG`,
  listFile: VAL_MAP.file,
};
