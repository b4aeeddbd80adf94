import { FILES_AT_ONCE, forEachIndex } from '../../../../shared/base/async/for-each-index.ts';
import {
  DRAWING_REVISION,
  EVALUATION_SET,
  JPEG_QUALITY,
} from '../../../../shared/benchmarks/digits/digit-sets.ts';
import { renderDigit } from '../../../../shared/benchmarks/digits/render-digit.ts';
import { encodeJpeg } from '../../../../shared/benchmarks/image/jpeg.ts';
import { benchmarkRules } from '../../../../shared/rules/benchmark-rules.ts';
import { IMAGE_SIZE } from '../../../../shared/rules/rows/digits.ts';
import type { PrepareProgress } from '../../data-set/data-set.ts';
import { type DrawnData, ensureDrawnDataSet } from '../drawn-data-set.ts';
import { generatedName, isStandardSet, otherSetMark } from '../generated-data.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { DigitsDataSet, readLabelFile } from './digits-data-set.ts';
import { IMAGE_FOLDER, LABEL_FILE } from './label-list.ts';

const rules = benchmarkRules('digits');

/** Images between two reports of progress. */
const PROGRESS_STEP = 100;

const DIGITS_DATA: DrawnData = {
  name: 'digits-data-set',
  recipe: ({ seed, imageCount }) => ({
    drawingRevision: DRAWING_REVISION,
    images: { seed, imageCount },
    jpegQuality: JPEG_QUALITY,
  }),
  what: 'images of digits',
  draw: async (images, index) => {
    const { label, rgb } = renderDigit(images, index);
    const size = { width: IMAGE_SIZE, height: IMAGE_SIZE };
    return { label, jpeg: await encodeJpeg(rgb, size, JPEG_QUALITY) };
  },
  imageFolder: IMAGE_FOLDER,
  fileName: (index) => `${String(index).padStart(6, '0')}.jpg`,
  listFile: LABEL_FILE,
};

/**
 * The embedded example on the LoadGen node: images of digits that longhaul draws itself, or a folder
 * of the user's with the same layout (see label-list.ts). The response is the class (see
 * shared/benchmarks/digits/response.ts); accuracy is the share of right classes.
 */
export const benchmark: LoadgenBenchmark = {
  rules,
  openDataSet: async ({
    dataFolder,
    cacheFolder,
    generated: images = EVALUATION_SET,
    onProgress,
  }) => {
    if (dataFolder !== undefined) return openOwnDataSet(dataFolder, onProgress);
    // Checksums have proven every file of it: nothing needs to be decoded.
    const folder = await ensureDrawnDataSet(DIGITS_DATA, images, { cacheFolder, onProgress });
    return new DigitsDataSet(generatedName('digits', images, EVALUATION_SET), {
      folder,
      images: await readLabelFile(folder),
      metric: rules.quality.metric,
      isManifestChecked: true,
      marks: isStandardSet(images, EVALUATION_SET) ? [] : [otherSetMark(images, EVALUATION_SET)],
    });
  },
};

/** A user's files may never have been looked at: each of them must decode. */
async function openOwnDataSet(folder: string, onProgress: PrepareProgress): Promise<DigitsDataSet> {
  const images = await readLabelFile(folder);
  const { metric } = rules.quality;
  const parts = { folder, images, metric, isManifestChecked: false, marks: [] };
  const dataSet = new DigitsDataSet('digits-own-data', parts);
  await forEachIndex(images.length, FILES_AT_ONCE, async (index) => {
    await dataSet.checkImage(index);
    if (index % PROGRESS_STEP === 0) {
      onProgress(index / images.length, `checking ${images.length} images in ${folder}`);
    }
  });
  return dataSet;
}
