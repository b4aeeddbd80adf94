import assert from 'node:assert';
import { join } from 'node:path';
import { detectionBytes, detectionFloats } from '../../../../shared/benchmarks/image/detection.ts';
import { benchmarkRules, dataSetSamplesOf } from '../../../../shared/rules/benchmark-rules.ts';
import type { DetectionBenchmark } from '../../../../shared/rules/cards/detection.ts';
import type { GeneratedSet } from '../../../../shared/rules/rows/benchmark-card.ts';
import type { DataSet, PrepareProgress } from '../../data-set/data-set.ts';
import { type CocoAnnotations, readCocoAnnotations } from '../../metrics/coco-annotations.ts';
import { ensureDrawnDataSet } from '../drawn-data-set.ts';
import { findFiles } from '../find-files.ts';
import { STAND_IN_WORD, standardSetOf, standinSource } from '../generated-data.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { readSampleFile } from '../sample-file.ts';
import { scoreDetections } from '../score-detections.ts';
import { standinBenchmark } from '../standin-benchmark.ts';
import { type DetectionFolder, STANDIN_FILE, standinImages } from './draw-objects.ts';

/** A data set of MLPerf's object detection benchmarks. */
export interface DetectionData extends DetectionFolder {
  /** Text for the whole data set: `MLPerf's part of Open Images v6`. */
  readonly whole: string;
  /** Names in the logs: for the whole data set, and for any other. */
  readonly names: readonly [whole: string, other: string];
  /** Number of categories in the whole data set. */
  readonly categoryCount: number;
}

/** Scoring details that differ between detection benchmarks. */
interface DetectionScore {
  /** As in `scoreDetections`: true if labels are category numbers from 1. */
  readonly useInvMap: boolean;
  /**
   * mAP of the stand-in model on the standard generated images, as served by longhaul; a test
   * measures it.
   */
  readonly standinMap: number;
}

/**
 * An object detection benchmark on the LoadGen node: a folder with annotations and images, or drawn
 * images in the same layout. Sample `i` is image `i` of the annotations.
 */
export function detectionBenchmark(
  key: DetectionBenchmark,
  data: DetectionData,
  score: DetectionScore,
): LoadgenBenchmark {
  const { annotationsFile, imageFolder, title } = data;
  return standinBenchmark(key, {
    holds: `${annotationsFile} and the images of ${title} in ${imageFolder}`,
    makes: 'generated images',
    openOwn: (folder, { isScoreOnly = false, onProgress }) =>
      new OpenedFolder(key, data, score, folder).openOwn(isScoreOnly, onProgress),
    openStandin: async (set, options) => {
      const folder = await ensureDrawnDataSet(standinImages(data), set, options);
      return new OpenedFolder(key, data, score, folder).openDrawn(set);
    },
  });
}

type Source = Pick<DataSet, 'name' | 'isManifestChecked' | 'quality' | 'marks'>;

class OpenedFolder {
  readonly #key: DetectionBenchmark;
  readonly #data: DetectionData;
  readonly #score: DetectionScore;
  readonly #folder: string;

  constructor(key: DetectionBenchmark, data: DetectionData, score: DetectionScore, folder: string) {
    this.#key = key;
    this.#data = data;
    this.#score = score;
    this.#folder = folder;
  }

  async openDrawn(set: GeneratedSet): Promise<DataSet> {
    const annotations = await readCocoAnnotations(this.#folder, this.#data.annotationsFile, '');
    const source = this.#drawnSource(annotations, set);
    return this.#dataSet(annotations, { ...source, isManifestChecked: true });
  }

  async openOwn(isScoreOnly: boolean, onProgress: PrepareProgress): Promise<DataSet> {
    const folder = this.#folder;
    const { annotationsFile, imageFolder, categoryCount, whole, names } = this.#data;
    const imageCount = dataSetSamplesOf(this.#key);
    const hint = `; it holds the annotations in COCO's form, and ${imageFolder} beside it the images`;
    const annotations = await readCocoAnnotations(folder, annotationsFile, hint);
    if (!isScoreOnly) {
      const list = join(folder, annotationsFile);
      const placeOf = (index: number) => `images[${index}]`;
      const paths = this.#pathsOf(annotations);
      // The reference drops missing images, which shifts all later indices.
      await findFiles({ folder, list, paths, placeOf, hint: '' }, onProgress);
    }
    const { images, categories } = annotations;
    // Copies of generated images are recognised by their names.
    const standard = standardSetOf(this.#key, STAND_IN_WORD);
    if (standard !== undefined && images.some(({ file_name: name }) => STANDIN_FILE.test(name))) {
      return this.#dataSet(annotations, this.#drawnSource(annotations, standard));
    }
    const isWhole = images.length === imageCount && categories.length === categoryCount;
    const mark =
      `the data set is not ${whole}: ${images.length} images of ${categories.length} categories; ` +
      `an official run needs its ${imageCount} images of ${categoryCount} categories`;
    return this.#dataSet(annotations, {
      name: names[isWhole ? 0 : 1],
      marks: isWhole ? [] : [mark],
    });
  }

  /**
   * Wire forms: shared/rules/cards/detection.ts. Decoding happens when a sample is loaded, untimed.
   */
  #dataSet(annotations: CocoAnnotations, source: Source): DataSet {
    const folder = this.#folder;
    const { annotationsFile } = this.#data;
    const paths = this.#pathsOf(annotations);
    const { metric } = benchmarkRules(this.#key).quality;
    return {
      ...source,
      folder,
      totalSampleCount: paths.length,
      files: [annotationsFile, ...paths],
      readPayload: async (sampleIndex, form) => {
        const name = paths[sampleIndex];
        assert(name !== undefined, `sample ${sampleIndex} of ${paths.length}`);
        const place = `${annotationsFile}, images[${sampleIndex}]`;
        return readSampleFile(join(folder, name), place, (file) =>
          payloadOf(file, form, this.#key),
        );
      },
      scoreAccuracy: (entries, turns) =>
        scoreDetections(entries, annotations, metric, this.#score.useInvMap, turns),
    };
  }

  #pathsOf({ images }: CocoAnnotations): string[] {
    return images.map(({ file_name: name }) => `${this.#data.imageFolder}/${name}`);
  }

  #drawnSource({ images }: CocoAnnotations, set: GeneratedSet) {
    const { standinName: name, title } = this.#data;
    return standinSource(this.#key, {
      name,
      set,
      value: this.#score.standinMap,
      samples: `${images.length} images drawn by longhaul, not ${title}`,
    });
  }
}

async function payloadOf(
  file: Uint8Array,
  form: string,
  benchmark: DetectionBenchmark,
): Promise<Uint8Array> {
  if (form === 'jpeg') return file;
  if (form === 'uint8') return detectionBytes(file, benchmark);
  assert.equal(form, 'fp32');
  return new Uint8Array((await detectionFloats(file, benchmark, 'nchw')).buffer);
}
