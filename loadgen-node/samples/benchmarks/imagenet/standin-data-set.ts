import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FILES_AT_ONCE, forEachIndex } from '../../../../shared/base/async/for-each-index.ts';
import {
  type ArtifactOptions,
  artifactFolder,
  ensureArtifact,
} from '../../../../shared/base/cache/artifact-cache.ts';
import type { GeneratedSet } from '../../../../shared/benchmarks/digits/digit-sets.ts';
import { jpegCodecVersion } from '../../../../shared/benchmarks/image/jpeg.ts';
import { makeStandinImage } from '../../../../shared/benchmarks/standin/standin-image.ts';
import {
  STANDIN_DRAWING_REVISION,
  STANDIN_JPEG_QUALITY,
} from '../../../../shared/benchmarks/standin/standin-sets.ts';
import { VAL_MAP_FILE } from './val-map.ts';

/** Images between two reports of progress. */
const PROGRESS_STEP = 50;

/** Digits of the number in a file's name, as in ImageNet's. */
const NUMBER_DIGITS = 8;

/** Which images, and where they are kept. */
export interface StandinDataSetRequest extends Pick<ArtifactOptions, 'cacheFolder' | 'onProgress'> {
  readonly images: GeneratedSet;
}

/**
 * Finds the stand-in's data set in the cache, checked against its checksums, or draws it: JPEG files of varied
 * size and `val_map.txt`, laid out as ImageNet's validation set is. The classes are 0 to 9 of 1,000.
 * @returns Folder of the data set.
 * @throws MlperfError `ERR_CACHE`, `ERR_NOT_INSTALLED`
 */
export async function ensureStandinDataSet({
  cacheFolder,
  onProgress,
  images,
}: StandinDataSetRequest): Promise<string> {
  return ensureArtifact({
    ...(await artifactOf(images, cacheFolder)),
    build: (folder, onBuildProgress) => writeDataSet(images, folder, onBuildProgress),
    onProgress,
  });
}

/**
 * Folder in which a data set of the stand-in is kept, whether it was made or not.
 * @throws MlperfError `ERR_NOT_INSTALLED`
 */
export async function standinDataFolder(
  images: GeneratedSet,
  cacheFolder: string,
): Promise<string> {
  return artifactFolder(await artifactOf(images, cacheFolder));
}

async function artifactOf(
  { seed, imageCount }: GeneratedSet,
  cacheFolder: string,
): Promise<Pick<ArtifactOptions, 'cacheFolder' | 'name' | 'recipe'>> {
  return {
    cacheFolder,
    name: 'imagenet-standin-data-set',
    recipe: {
      images: { seed, imageCount },
      drawingRevision: STANDIN_DRAWING_REVISION,
      jpegQuality: STANDIN_JPEG_QUALITY,
      // The same pixels may become other bytes: who compares two runs must find two data sets then.
      jpegCodec: await jpegCodecVersion(),
    },
  };
}

async function writeDataSet(
  images: GeneratedSet,
  folder: string,
  onProgress: ArtifactOptions['onProgress'],
): Promise<void> {
  const { imageCount } = images;
  const lines: string[] = [];
  await forEachIndex(imageCount, FILES_AT_ONCE, async (index) => {
    if (index % PROGRESS_STEP === 0) {
      onProgress(index / imageCount, `drawing ${imageCount} images to measure with`);
    }
    const { label, jpeg } = await makeStandinImage(images, index);
    const fileName = `standin_val_${String(index + 1).padStart(NUMBER_DIGITS, '0')}.JPEG`;
    lines[index] = `${fileName} ${label}\n`;
    await writeFile(join(folder, fileName), jpeg);
  });
  await writeFile(join(folder, VAL_MAP_FILE), lines.join(''));
}
