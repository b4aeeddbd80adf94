import assert from 'node:assert';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  configInvalid,
  dataSetError,
  describeSystemError,
  MlperfError,
} from '../../../../shared/base/errors/mlperf-error.ts';
import type { GeneratedSet } from '../../../../shared/benchmarks/digits/digit-sets.ts';
import { retinanetBytes, retinanetPlanes } from '../../../../shared/benchmarks/image/retinanet.ts';
import { STANDIN_OBJECT_SET } from '../../../../shared/benchmarks/standin/standin-objects.ts';
import { benchmarkRules } from '../../../../shared/rules/benchmark-rules.ts';
import type { DataSet, PrepareProgress } from '../../data-set/data-set.ts';
import { type CocoAnnotations, readCocoAnnotations } from '../../metrics/coco-annotations.ts';
import { findFiles } from '../find-files.ts';
import { STAND_IN_WORD, standinSource } from '../generated-data.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { scoreDetections } from '../score-detections.ts';
import {
  ANNOTATIONS_FILE,
  ensureStandinImages,
  IMAGE_FOLDER,
  STANDIN_FILE,
} from './standin-data.ts';

const RULES = benchmarkRules('retinanet');

/** Images and categories of the data set. Source: MLCommons inference, tools/openimages_mlperf.sh. */
const IMAGE_COUNT = 24_781;
const CATEGORY_COUNT = 264;

/** mAP of the stand-in model on the standard generated images, as longhaul serves it; a test measures it. */
export const STANDIN_MAP = 0.7221;

/**
 * Object detection on Open Images v6, on the LoadGen node: a folder with the annotations and the images, or drawn images in the
 * same layout. Sample `i` is image `i` of the annotations.
 */
export const benchmark: LoadgenBenchmark = {
  rules: RULES,
  openDataSet: async ({ dataFolder, cacheFolder, generated, isScoreOnly = false, onProgress }) => {
    if (dataFolder === undefined) throw noDataFolder();
    if (dataFolder !== STAND_IN_WORD) return openOwnFolder(dataFolder, isScoreOnly, onProgress);
    const set = generated ?? STANDIN_OBJECT_SET;
    const folder = await ensureStandinImages(set, { cacheFolder, onProgress });
    const annotations = await readCocoAnnotations(folder, ANNOTATIONS_FILE, '');
    return dataSetOf(folder, annotations, {
      ...drawnSource(annotations, set),
      isManifestChecked: true,
    });
  },
};

async function openOwnFolder(
  folder: string,
  isScoreOnly: boolean,
  onProgress: PrepareProgress,
): Promise<DataSet> {
  const hint = `; it holds the annotations in COCO's form, and ${IMAGE_FOLDER} beside it the images`;
  const annotations = await readCocoAnnotations(folder, ANNOTATIONS_FILE, hint);
  if (!isScoreOnly) {
    const list = join(folder, ANNOTATIONS_FILE);
    const placeOf = (index: number) => `images[${index}]`;
    // The reference drops what is missing, and all indices behind it shift.
    await findFiles({ folder, list, paths: pathsOf(annotations), placeOf, hint: '' }, onProgress);
  }
  const { images, categories } = annotations;
  // A copy of generated images is known by their names.
  if (images.some(({ file_name: name }) => STANDIN_FILE.test(name))) {
    return dataSetOf(folder, annotations, drawnSource(annotations, STANDIN_OBJECT_SET));
  }
  const isWhole = images.length === IMAGE_COUNT && categories.length === CATEGORY_COUNT;
  return dataSetOf(folder, annotations, {
    name: isWhole ? 'openimages-v6-mlperf' : 'openimages-own-data',
    marks: isWhole
      ? []
      : [
          `the data set is not MLPerf's part of Open Images v6: ${images.length} images of ${categories.length} categories; ` +
            `an official run needs its ${IMAGE_COUNT} images of ${CATEGORY_COUNT} categories`,
        ],
  });
}

function pathsOf({ images }: CocoAnnotations): string[] {
  return images.map(({ file_name: name }) => `${IMAGE_FOLDER}/${name}`);
}

/** Forms on the wire: shared/rules/rows/retinanet.ts. Decoding happens when a sample is loaded, untimed. */
function dataSetOf(
  folder: string,
  annotations: CocoAnnotations,
  parts: Pick<DataSet, 'name' | 'isManifestChecked' | 'quality' | 'marks'>,
): DataSet {
  const paths = pathsOf(annotations);
  return {
    ...parts,
    folder,
    totalSampleCount: paths.length,
    files: [ANNOTATIONS_FILE, ...paths],
    readPayload: async (sampleIndex, form) => {
      const name = paths[sampleIndex];
      assert(name !== undefined, `sample ${sampleIndex} of ${paths.length}`);
      const path = join(folder, name);
      try {
        const file = await readFile(path);
        if (form === 'jpeg') return file;
        if (form === 'uint8') return await retinanetBytes(file);
        assert.equal(form, 'fp32');
        return new Uint8Array((await retinanetPlanes(file)).buffer);
      } catch (error) {
        // That the codec is not installed is no fault of the file.
        if (error instanceof MlperfError && error.code !== 'ERR_DATA_SET') throw error;
        const place = `${ANNOTATIONS_FILE}, images[${sampleIndex}]`;
        throw dataSetError(`${path} (${place}): ${describeSystemError(error)}`, error);
      }
    },
    scoreAccuracy: (entries) => scoreDetections(entries, annotations, RULES.quality.metric, false),
  };
}

function drawnSource({ images }: CocoAnnotations, set: GeneratedSet) {
  return standinSource({
    ...{ name: 'openimages-standin', set, standard: STANDIN_OBJECT_SET },
    ...{ metric: RULES.quality.metric, value: STANDIN_MAP },
    samples: `${images.length} images drawn by longhaul, not Open Images`,
  });
}

function noDataFolder(): MlperfError {
  return configInvalid(
    `benchmark retinanet needs --data-dir FOLDER with ${ANNOTATIONS_FILE} and the images of Open Images v6 in ${IMAGE_FOLDER} ` +
      `(see the README of the benchmark), or --data-dir ${STAND_IN_WORD} for generated images`,
  );
}
