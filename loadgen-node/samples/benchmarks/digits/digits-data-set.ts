import assert from 'node:assert';
import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { dataSetError, MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError, messageOf } from '../../../../shared/base/errors/to-mlperf-error.ts';
import { decodeResponse } from '../../../../shared/benchmarks/digits/response.ts';
import { decodeJpeg } from '../../../../shared/benchmarks/image/jpeg.ts';
import { IMAGE_SIZE } from '../../../../shared/rules/rows/digits.ts';
import type { AccuracyEntry, AccuracyReport, DataSet } from '../../data-set/data-set.ts';
import { formatScriptLine, scoreEach } from '../score-each.ts';
import {
  IMAGE_FOLDER,
  imagePath,
  LABEL_FILE,
  type LabelledDigit,
  parseLabelList,
} from './label-list.ts';

/** What a {@link DigitsDataSet} is made of. */
export interface DigitsParts {
  readonly folder: string;
  readonly images: readonly LabelledDigit[];
  /** Name of the accuracy that the data set reports. */
  readonly metric: string;
  readonly isManifestChecked: boolean;
  /** What a reader of a result has to know of these images. */
  readonly marks: readonly string[];
}

/** Images of digits on disk and their labels in memory. */
export class DigitsDataSet implements DataSet {
  readonly name: string;
  readonly folder: string;
  readonly totalSampleCount: number;
  readonly files: readonly string[];
  readonly isManifestChecked: boolean;
  readonly marks: readonly string[];
  readonly #images: readonly LabelledDigit[];
  readonly #metric: string;

  constructor(name: string, { folder, images, metric, isManifestChecked, marks }: DigitsParts) {
    this.name = name;
    this.folder = folder;
    this.totalSampleCount = images.length;
    this.isManifestChecked = isManifestChecked;
    this.marks = marks;
    // A list may name an image twice.
    const paths = new Set(images.map(({ fileName }) => posix.join(IMAGE_FOLDER, fileName)));
    this.files = [LABEL_FILE, ...paths];
    this.#images = images;
    this.#metric = metric;
  }

  async readPayload(sampleIndex: number, form: string): Promise<Uint8Array> {
    const file = await this.#readFile(sampleIndex);
    if (form === 'jpeg') return file;
    assert.equal(form, 'raw');
    return this.#decode(sampleIndex, file);
  }

  /**
   * Reads and decodes one image to prove that it can be used.
   * @throws MlperfError `ERR_DATA_SET` naming the file and its line in the label file.
   */
  async checkImage(sampleIndex: number): Promise<void> {
    await this.#decode(sampleIndex, await this.#readFile(sampleIndex));
  }

  /** Share of right classes. */
  scoreAccuracy(entries: Iterable<AccuracyEntry>): AccuracyReport {
    const score = scoreEach(
      entries,
      this.totalSampleCount,
      (entry) => this.#readResponse(entry) === this.#imageAt(entry.sampleIndex).label,
    );
    // Its own script there is none: it is image classification, so its line is that of ImageNet's.
    const scriptLine = formatScriptLine(score.correctCount, score.sampleCount);
    return { metric: this.#metric, ...score, scriptLine };
  }

  #readResponse({ sampleIndex, response }: AccuracyEntry): number {
    try {
      return decodeResponse(response);
    } catch (error) {
      throw dataSetError(`sample ${sampleIndex}: ${messageOf(error)}`, error);
    }
  }

  async #readFile(sampleIndex: number): Promise<Uint8Array> {
    try {
      return await readFile(imagePath(this.folder, this.#imageAt(sampleIndex)));
    } catch (error) {
      throw this.#toDataSetError(sampleIndex, describeSystemError(error), error);
    }
  }

  async #decode(sampleIndex: number, file: Uint8Array): Promise<Uint8Array> {
    try {
      return await decodeJpeg(file, { width: IMAGE_SIZE, height: IMAGE_SIZE });
    } catch (error) {
      // That the codec is not installed is no fault of the file.
      if (error instanceof MlperfError && error.code !== 'ERR_DATA_SET') throw error;
      throw this.#toDataSetError(sampleIndex, messageOf(error), error);
    }
  }

  #toDataSetError(sampleIndex: number, reason: string, cause: unknown): MlperfError {
    const path = imagePath(this.folder, this.#imageAt(sampleIndex));
    const line = `${LABEL_FILE}, line ${sampleIndex + 1}`;
    return dataSetError(`${path} (${line}): ${reason}`, cause);
  }

  #imageAt(sampleIndex: number): LabelledDigit {
    const image = this.#images[sampleIndex];
    assert(image !== undefined, `sample ${sampleIndex} of ${this.totalSampleCount}`);
    return image;
  }
}

/**
 * Reads the label file of a data set.
 * @throws MlperfError `ERR_DATA_SET` naming the file, and the line that is wrong.
 */
export async function readLabelFile(folder: string): Promise<LabelledDigit[]> {
  const path = join(folder, LABEL_FILE);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw dataSetError(`${path}: ${describeSystemError(error)}`, error);
  }
  return parseLabelList(text, path);
}
