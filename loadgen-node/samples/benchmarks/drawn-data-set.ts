import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FILES_AT_ONCE, forEachIndex } from '../../../shared/base/async.ts';
import {
  type ArtifactOptions,
  artifactFolder,
  ensureArtifact,
} from '../../../shared/base/cache/artifact-cache.ts';
import { jpegCodecVersion } from '../../../shared/benchmarks/image/jpeg.ts';
import type { GeneratedSet } from '../../../shared/rules/rows/benchmark-card.ts';

/** Images that longhaul draws for a benchmark, and how they lie in their folder. */
export interface DrawnData {
  /** Name of the artifact in the cache. */
  readonly name: string;
  /** All that the files depend on but the codec; its order is part of the folder's name. */
  recipe(images: GeneratedSet): object;
  /** Name of the images in the progress text: `images of digits`. */
  readonly what: string;
  draw(
    images: GeneratedSet,
    index: number,
  ): Promise<{ readonly label: number; readonly jpeg: Uint8Array }>;
  /** Folder of the images below that of the data set. */
  readonly imageFolder: string;
  fileName(index: number): string;
  /** The list: a line with file name, space and label per image. */
  readonly listFile: string;
}

/** Images between two reports of progress. */
const PROGRESS_STEP = 50;

/**
 * Finds a set of images in the cache, checked against their checksums, or draws them.
 * @returns Folder of the data set.
 * @throws MlperfError `ERR_CACHE`, `ERR_NOT_INSTALLED`
 */
export async function ensureDrawnDataSet(
  data: DrawnData,
  images: GeneratedSet,
  { cacheFolder, onProgress }: Pick<ArtifactOptions, 'cacheFolder' | 'onProgress'>,
): Promise<string> {
  return ensureArtifact({
    ...(await artifactOf(data, images, cacheFolder)),
    build: (folder, onBuildProgress) => writeDataSet(data, images, folder, onBuildProgress),
    onProgress,
  });
}

/**
 * Folder in which a set of images is kept, whether it was drawn or not.
 * @throws MlperfError `ERR_NOT_INSTALLED`
 */
export async function drawnFolder(
  data: DrawnData,
  images: GeneratedSet,
  cacheFolder: string,
): Promise<string> {
  return artifactFolder(await artifactOf(data, images, cacheFolder));
}

async function artifactOf(data: DrawnData, images: GeneratedSet, cacheFolder: string) {
  // The same pixels may become other bytes: who compares two runs must find two data sets then.
  const recipe = { ...data.recipe(images), jpegCodec: await jpegCodecVersion() };
  return { cacheFolder, name: data.name, recipe };
}

async function writeDataSet(
  { what, draw, imageFolder, fileName, listFile }: DrawnData,
  images: GeneratedSet,
  folder: string,
  onProgress: ArtifactOptions['onProgress'],
): Promise<void> {
  const { sampleCount } = images;
  const lines: string[] = [];
  await mkdir(join(folder, imageFolder), { recursive: true });
  await forEachIndex(sampleCount, FILES_AT_ONCE, async (index) => {
    if (index % PROGRESS_STEP === 0) {
      onProgress(index / sampleCount, `drawing ${sampleCount} ${what}`);
    }
    const { label, jpeg } = await draw(images, index);
    lines[index] = `${fileName(index)} ${label}\n`;
    await writeFile(join(folder, imageFolder, fileName(index)), jpeg);
  });
  await writeFile(join(folder, listFile), lines.join(''));
}
