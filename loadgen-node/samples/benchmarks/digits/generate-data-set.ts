import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FILES_AT_ONCE, forEachIndex } from '../../../../shared/base/async/for-each-index.ts';
import {
  type ArtifactOptions,
  ensureArtifact,
} from '../../../../shared/base/cache/artifact-cache.ts';
import {
  DRAWING_REVISION,
  type GeneratedSet,
  JPEG_QUALITY,
} from '../../../../shared/benchmarks/digits/digit-sets.ts';
import { renderDigit } from '../../../../shared/benchmarks/digits/render-digit.ts';
import { encodeJpeg, jpegCodecVersion } from '../../../../shared/benchmarks/image/jpeg.ts';
import { IMAGE_SIZE } from '../../../../shared/rules/rows/digits.ts';
import {
  formatLabelList,
  generatedFileName,
  IMAGE_FOLDER,
  imagePath,
  LABEL_FILE,
  type LabelledDigit,
} from './label-list.ts';

/** Images between two reports of progress. */
const PROGRESS_STEP = 100;

/** Which images, and where they are kept. */
export interface GeneratedDataRequest extends Pick<ArtifactOptions, 'cacheFolder' | 'onProgress'> {
  readonly images: GeneratedSet;
}

/**
 * Finds a set of images in the cache, checked against their checksums, or draws them.
 * @returns Folder of the data set.
 * @throws MlperfError `ERR_CACHE`, `ERR_NOT_INSTALLED`
 */
export async function ensureGeneratedDataSet({
  cacheFolder,
  onProgress,
  images,
}: GeneratedDataRequest): Promise<string> {
  return ensureArtifact({
    cacheFolder,
    name: 'digits-data-set',
    recipe: {
      drawingRevision: DRAWING_REVISION,
      images: { seed: images.seed, imageCount: images.imageCount },
      jpegQuality: JPEG_QUALITY,
      // The same pixels may become other bytes: who compares two runs must find two data sets then.
      jpegCodec: await jpegCodecVersion(),
    },
    build: (folder, onBuildProgress) => writeDataSet(images, folder, onBuildProgress),
    onProgress,
  });
}

async function writeDataSet(
  set: GeneratedSet,
  folder: string,
  onProgress: ArtifactOptions['onProgress'],
): Promise<void> {
  const { imageCount } = set;
  const images: LabelledDigit[] = [];
  await mkdir(join(folder, IMAGE_FOLDER));
  await forEachIndex(imageCount, FILES_AT_ONCE, async (index) => {
    const { label, rgb } = renderDigit(set, index);
    const image = { fileName: generatedFileName(index), label };
    images[index] = image;
    const jpeg = await encodeJpeg(rgb, { width: IMAGE_SIZE, height: IMAGE_SIZE }, JPEG_QUALITY);
    await writeFile(imagePath(folder, image), jpeg);
    if (index % PROGRESS_STEP === 0) {
      onProgress(index / imageCount, `drawing ${imageCount} images of digits`);
    }
  });
  await writeFile(join(folder, LABEL_FILE), formatLabelList(images));
}
