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
import { formatScriptLine, scoreEach } from '../score-each.ts';
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

/** How the one number of a response is written; the official script is told by its option `--dtype`. */
type ResponseType = 'float32' | 'int32' | 'int64';

/** 0 is the same in float32 and int32, and neither of them is int64. */
const ZERO_IN_4_BYTES = 'float32 or int32';

/** A response that was read. */
interface ReadLabel {
  /** The class; a fraction is cut off, as the script does. */
  readonly label: number;
  readonly type: ResponseType | typeof ZERO_IN_4_BYTES;
}

/**
 * Largest whole number whose bits are no float32 of 1 or more, nor a normal one: a class as int32 can not be
 * taken for a class as float32.
 */
const INT32_CLASS_MAX = 0x7f_ffff;

/**
 * Reads the class out of a response: one little-endian number, int64 in 8 bytes, float32 or int32 in 4. The bits
 * of an int32 class are a float32 next to 0, which is no class, so the type needs no setting.
 * @returns undefined when the bytes are no such number.
 */
function readLabel(response: Uint8Array): ReadLabel | undefined {
  const view = new DataView(response.buffer, response.byteOffset, response.length);
  if (response.length === 8) {
    return { label: Number(view.getBigInt64(0, true)), type: 'int64' };
  }
  if (response.length !== 4) return undefined;
  const whole = view.getInt32(0, true);
  if (whole === 0) return { label: 0, type: ZERO_IN_4_BYTES };
  if (whole > 0 && whole <= INT32_CLASS_MAX) return { label: whole, type: 'int32' };
  const value = view.getFloat32(0, true);
  return Number.isFinite(value) ? { label: Math.trunc(value), type: 'float32' } : undefined;
}

/**
 * Top-1 accuracy, as MLCommons' accuracy-imagenet.py counts it: a class that there is not is a wrong answer.
 * @param labels Right class by sample index.
 * @throws MlperfError `ERR_DATA_SET` when a response is no number, is for no sample, or of another type than
 *   those before it: the script reads a whole log with one type.
 */
export function scoreResponses(
  entries: Iterable<AccuracyEntry>,
  labels: Uint16Array,
  metric: string,
): AccuracyReport {
  let type: ReadLabel['type'] | undefined;
  const score = scoreEach(entries, labels.length, ({ sampleIndex, response }) => {
    const read = readLabel(response);
    if (read === undefined) throw noLabel(sampleIndex, response);
    const joined = commonType(type ?? read.type, read.type);
    if (joined === undefined) {
      const what = `a response as ${read.type} after others as ${type}`;
      throw dataSetError(`sample ${sampleIndex}: ${what}`);
    }
    type = joined;
    return read.label === labels[sampleIndex];
  });
  return { metric, ...score, scriptLine: formatScriptLine(score.correctCount, score.sampleCount) };
}

/** The type that two responses can both be read with; undefined where there is none. */
function commonType(a: ReadLabel['type'], b: ReadLabel['type']): ReadLabel['type'] | undefined {
  if (a === b || (b === ZERO_IN_4_BYTES && a !== 'int64')) return a;
  return a === ZERO_IN_4_BYTES && b !== 'int64' ? b : undefined;
}

function noLabel(sampleIndex: number, response: Uint8Array): MlperfError {
  const shown = Buffer.from(response.subarray(0, 16)).toString('hex');
  return dataSetError(
    `sample ${sampleIndex}: a response is one number, float32 or int32 in 4 bytes or int64 in 8; this one has ` +
      `${response.length} bytes (hexadecimal ${shown})`,
  );
}
