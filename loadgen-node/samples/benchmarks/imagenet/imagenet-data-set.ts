import assert from 'node:assert';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dataSetError, MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError, messageOf } from '../../../../shared/base/errors/to-mlperf-error.ts';
import {
  decodeImagenetJpeg,
  type ImagenetPreparation,
  normaliseImagenet,
} from '../../../../shared/benchmarks/image/imagenet.ts';
import { IMAGENET_ELEMENTS } from '../../../../shared/rules/rows/imagenet.ts';
import type {
  AccuracyEntry,
  AccuracyReport,
  DataSet,
  NamedQuality,
} from '../../data-set/data-set.ts';
import { scoreResponses } from './score-responses.ts';
import { type LabelledImage, VAL_MAP_FILE } from './val-map.ts';

/** What an {@link ImagenetDataSet} is made of. */
export interface ImagenetParts {
  readonly name: string;
  readonly folder: string;
  readonly images: readonly LabelledImage[];
  readonly metric: string;
  readonly preparation: ImagenetPreparation;
  readonly isManifestChecked: boolean;
  readonly quality: NamedQuality | undefined;
  readonly marks: readonly string[];
}

/**
 * Images on disk, in the layout of ImageNet's validation set, and their labels in memory. Decoding, resizing and
 * normalising happen when a sample is loaded, untimed.
 * Rule: inference_rules v4.1, "Sample-independent pre-processing that matches the reference model is untimed".
 */
export class ImagenetDataSet implements DataSet {
  readonly name: string;
  readonly folder: string;
  readonly totalSampleCount: number;
  readonly files: readonly string[];
  readonly isManifestChecked: boolean;
  readonly quality: NamedQuality | undefined;
  readonly marks: readonly string[];
  readonly #images: readonly LabelledImage[];
  readonly #labels: Uint16Array;
  readonly #metric: string;
  readonly #preparation: ImagenetPreparation;

  constructor(parts: ImagenetParts) {
    const { images } = parts;
    this.name = parts.name;
    this.folder = parts.folder;
    this.totalSampleCount = images.length;
    this.files = [VAL_MAP_FILE, ...images.map(({ path }) => path)];
    this.isManifestChecked = parts.isManifestChecked;
    this.quality = parts.quality;
    this.marks = parts.marks;
    this.#images = images;
    this.#labels = Uint16Array.from(images, ({ label }) => label);
    this.#metric = parts.metric;
    this.#preparation = parts.preparation;
  }

  /** @param form `jpeg`: the file; `uint8`: 224 x 224 x RGB bytes; `fp32`: 3 x 224 x 224 float32, little-endian. */
  async readPayload(sampleIndex: number, form: string): Promise<Uint8Array> {
    const file = await this.#readFile(sampleIndex);
    if (form === 'jpeg') return file;
    const rgb = await this.#decode(sampleIndex, file);
    if (form === 'uint8') return rgb;
    assert.equal(form, 'fp32');
    const tensor = new Float32Array(IMAGENET_ELEMENTS);
    normaliseImagenet(rgb, tensor, this.#preparation.normalisation, 'nchw');
    return new Uint8Array(tensor.buffer);
  }

  scoreAccuracy(entries: Iterable<AccuracyEntry>): AccuracyReport {
    return scoreResponses(entries, this.#labels, this.#metric);
  }

  async #readFile(sampleIndex: number): Promise<Uint8Array> {
    try {
      return await readFile(join(this.folder, this.#imageAt(sampleIndex).path));
    } catch (error) {
      throw this.#toDataSetError(sampleIndex, describeSystemError(error), error);
    }
  }

  async #decode(sampleIndex: number, file: Uint8Array): Promise<Uint8Array> {
    try {
      return await decodeImagenetJpeg(file, this.#preparation.interpolation);
    } catch (error) {
      // That the codec is not installed is no fault of the file.
      if (error instanceof MlperfError && error.code !== 'ERR_DATA_SET') throw error;
      throw this.#toDataSetError(sampleIndex, messageOf(error), error);
    }
  }

  #toDataSetError(sampleIndex: number, reason: string, cause: unknown): MlperfError {
    const path = join(this.folder, this.#imageAt(sampleIndex).path);
    const line = `${VAL_MAP_FILE}, line ${sampleIndex + 1}`;
    return dataSetError(`${path} (${line}): ${reason}`, cause);
  }

  #imageAt(sampleIndex: number): LabelledImage {
    const image = this.#images[sampleIndex];
    assert(image !== undefined, `sample ${sampleIndex} of ${this.totalSampleCount}`);
    return image;
  }
}
