import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FILES_AT_ONCE, forEachIndex } from '../../../shared/base/async.ts';
import { type ArtifactOptions, ensureArtifact } from '../../../shared/base/cache/artifact-cache.ts';
import { jpegCodecVersion } from '../../../shared/benchmarks/image/jpeg.ts';
import type { GeneratedSet } from '../../../shared/rules/rows/benchmark-card.ts';

/** Images that longhaul draws for a benchmark, and their folder layout. */
export interface DrawnData<Content> {
  /** Name of the cache artifact. */
  readonly name: string;
  /** All that the files depend on but the set and the codec. */
  readonly recipe: object;
  /** Text in progress reports: `images of digits`. */
  readonly what: string;
  draw(
    images: GeneratedSet,
    index: number,
  ): Promise<{ readonly content: Content; readonly jpeg: Uint8Array }>;
  /** Path of an image below the folder of the data set. */
  pathOf(index: number): string;
  /** The file that tells what the images show, and its text. */
  readonly listFile: string;
  list(contents: readonly Content[], pathOf: (index: number) => string): string;
}

/** Images between two progress reports. */
const PROGRESS_STEP = 50;

/**
 * Gets a set of images from the cache, verified by checksums, or draws them.
 * @returns Folder of the data set.
 * @throws MlperfError `ERR_CACHE`, `ERR_NOT_INSTALLED`
 */
export async function ensureDrawnDataSet<Content>(
  data: DrawnData<Content>,
  images: GeneratedSet,
  { cacheFolder, onProgress }: Pick<ArtifactOptions, 'cacheFolder' | 'onProgress'>,
): Promise<string> {
  return ensureArtifact({
    cacheFolder,
    name: data.name,
    // Another codec may give other bytes for the same pixels: for comparisons this is a different
    // data set.
    recipe: { ...data.recipe, images, jpegCodec: await jpegCodecVersion() },
    build: (folder, onBuildProgress) => writeDataSet(data, images, folder, onBuildProgress),
    onProgress,
  });
}

async function writeDataSet<Content>(
  { what, draw, pathOf, listFile, list }: DrawnData<Content>,
  images: GeneratedSet,
  folder: string,
  onProgress: ArtifactOptions['onProgress'],
): Promise<void> {
  const { sampleCount } = images;
  const contents: Content[] = [];
  for (const file of [pathOf(0), listFile]) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
  }
  await forEachIndex(sampleCount, FILES_AT_ONCE, async (index) => {
    if (index % PROGRESS_STEP === 0) {
      onProgress(index / sampleCount, `drawing ${sampleCount} ${what}`);
    }
    const { content, jpeg } = await draw(images, index);
    contents[index] = content;
    await writeFile(join(folder, pathOf(index)), jpeg);
  });
  await writeFile(join(folder, listFile), list(contents, pathOf));
}
