import { posix } from 'node:path';
import { FILES_AT_ONCE, forEachIndex } from '../../../../shared/base/async.ts';
import { namingSample } from '../../../../shared/base/errors/mlperf-error.ts';
import { DRAWING_REVISION, JPEG_QUALITY } from '../../../../shared/benchmarks/digits/digit-sets.ts';
import { renderDigit } from '../../../../shared/benchmarks/digits/draw-digit.ts';
import { decodeResponse } from '../../../../shared/benchmarks/digits/response.ts';
import { decodeJpeg, encodeJpeg } from '../../../../shared/benchmarks/image/jpeg.ts';
import { benchmarkRules } from '../../../../shared/rules/benchmark-rules.ts';
import { EVALUATION_SET, IMAGE_SIZE } from '../../../../shared/rules/cards/digits.ts';
import type { DataSet, PrepareProgress } from '../../data-set/data-set.ts';
import { scoreEach } from '../../data-set/first-of-each.ts';
import { type DrawnData, ensureDrawnDataSet } from '../drawn-data-set.ts';
import { generatedName, isStandardSet, otherSetMark } from '../generated-data.ts';
import { type ImageList, type ImageSet, imageDataSet, readImageList } from '../labelled-images.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { formatScriptLine } from '../score-each.ts';

const rules = benchmarkRules('digits');

/** Images between two progress reports. */
const PROGRESS_STEP = 100;

const SIZE = { width: IMAGE_SIZE, height: IMAGE_SIZE };

/**
 * Layout of a data set of digits, generated or the user's own:
 *
 *   images/000000.jpg ...   JPEG files of 48 x 48 pixels
 *   labels.txt              one line per image: file name in images/, space, the digit it shows
 */
const IMAGE_FOLDER = 'images';

export const LABEL_LIST: ImageList = {
  file: 'labels.txt',
  hint: '',
  emptyHint: '; one image at least is needed',
  isUnique: false,
  parseLine: (line, wrong) => {
    const [, fileName, label] = /^(\S+)\s+([0-9])$/.exec(line) ?? [];
    if (fileName === undefined || label === undefined) {
      throw wrong(`"${line}" is not a file name and a digit, such as "000000.jpg 7"`);
    }
    return { path: posix.join(IMAGE_FOLDER, fileName), label: Number(label) };
  },
};

const DIGITS_DATA: DrawnData<number> = {
  name: 'digits-data-set',
  recipe: { drawingRevision: DRAWING_REVISION, jpegQuality: JPEG_QUALITY },
  what: 'images of digits',
  draw: async (images, index) => {
    const { label, rgb } = renderDigit(images, index);
    return { content: label, jpeg: await encodeJpeg(rgb, SIZE, JPEG_QUALITY) };
  },
  pathOf: (index) => posix.join(IMAGE_FOLDER, `${String(index).padStart(6, '0')}.jpg`),
  listFile: LABEL_LIST.file,
  list: (labels, pathOf) =>
    labels.map((label, i) => `${posix.basename(pathOf(i))} ${label}\n`).join(''),
};

/**
 * The embedded example on the LoadGen node: images of digits that longhaul draws itself, or a
 * folder of the user's with the same layout. The response is the class (see
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
    // Checksums have verified every file: decoding is not needed.
    const folder = await ensureDrawnDataSet(DIGITS_DATA, images, { cacheFolder, onProgress });
    return digitsDataSet({
      name: generatedName('digits', images, EVALUATION_SET),
      folder,
      images: await readImageList(LABEL_LIST, folder),
      isManifestChecked: true,
      marks: isStandardSet(images, EVALUATION_SET) ? [] : [otherSetMark(images, EVALUATION_SET)],
    });
  },
};

/** Opens a user's folder. Its files may never have been checked: each must decode. */
async function openOwnDataSet(folder: string, onProgress: PrepareProgress): Promise<DataSet> {
  const images = await readImageList(LABEL_LIST, folder);
  const name = 'digits-own-data';
  const dataSet = digitsDataSet({ name, folder, images, isManifestChecked: false, marks: [] });
  await forEachIndex(images.length, FILES_AT_ONCE, async (index) => {
    await dataSet.readPayload(index, 'raw');
    if (index % PROGRESS_STEP === 0) {
      onProgress(index / images.length, `checking ${images.length} images in ${folder}`);
    }
  });
  return dataSet;
}

function digitsDataSet(set: Omit<ImageSet, 'list' | 'decoders' | 'scoreAccuracy'>): DataSet {
  const { images } = set;
  return imageDataSet({
    ...set,
    list: LABEL_LIST,
    decoders: { raw: (file) => decodeJpeg(file, SIZE) },
    scoreAccuracy: async (entries) => {
      const score = await scoreEach(
        entries,
        images.length,
        ({ sampleIndex, response }) =>
          namingSample(sampleIndex, () => decodeResponse(response)) === images[sampleIndex]?.label,
      );
      // Digits have no official script; as image classification, they use ImageNet's line.
      const scriptLine = formatScriptLine(score.correctCount, score.sampleCount);
      return { metric: rules.quality.metric, ...score, scriptLine };
    },
  });
}
