import { posix } from 'node:path';
import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import {
  decodeImagenetJpeg,
  IMAGENET_PREPARATIONS,
  normaliseImagenet,
} from '../../../../shared/benchmarks/image/imagenet.ts';
import { IMAGENET_ELEMENTS } from '../../../../shared/rules/cards/imagenet.ts';
import type { BenchmarkRules } from '../../../../shared/rules/rows/benchmark-card.ts';
import type { AccuracyEntries, AccuracyReport, DataSet } from '../../data-set/data-set.ts';
import { scoreEach } from '../../data-set/first-of-each.ts';
import { type ImageList, type ImageSet, imageDataSet } from '../labelled-images.ts';
import { formatScriptLine } from '../score-each.ts';

/** Classes of ImageNet 2012. */
export const IMAGENET_CLASSES = 1000;

/** List of the validation set as MLCommons distributes it, in the images' folder. */
export const VAL_MAP: ImageList = {
  file: 'val_map.txt',
  hint: '; it lists the images, one line "<file> <label>" each',
  emptyHint: ': it lists no image',
  isUnique: true,
  parseLine: (line, wrong) => {
    const [name, label, ...rest] = line.trim().split(/\s+/);
    if (name === undefined || label === undefined || rest.length > 0) {
      const example = 'ILSVRC2012_val_00000001.JPEG 65';
      throw wrong(`"${line.slice(0, 100)}" is not a file and a label, such as "${example}"`);
    }
    const path = posix.normalize(name);
    if (posix.isAbsolute(path) || path.startsWith('..')) {
      throw wrong(`${name} is not below the folder of the list`);
    }
    if (!/^\d{1,4}$/.test(label) || Number(label) >= IMAGENET_CLASSES) {
      throw wrong(`the label "${label}" is not a class from 0 to ${IMAGENET_CLASSES - 1}`);
    }
    return { path, label: Number(label) };
  },
};

/**
 * Images in the layout of ImageNet's validation set. Wire forms: `jpeg`, the file; `uint8`, 224 x
 * 224 x RGB bytes; `fp32`, 3 x 224 x 224 float32, little-endian.
 * @param rules Rules of a benchmark in {@link IMAGENET_PREPARATIONS}.
 */
export function imagenetDataSet(
  { key, quality: { metric } }: BenchmarkRules,
  set: Omit<ImageSet, 'list' | 'decoders' | 'scoreAccuracy'>,
): DataSet {
  const { interpolation, normalisation } =
    IMAGENET_PREPARATIONS[key as keyof typeof IMAGENET_PREPARATIONS];
  const labels = Uint16Array.from(set.images, ({ label }) => label);
  return imageDataSet({
    ...set,
    list: VAL_MAP,
    decoders: {
      uint8: (file) => decodeImagenetJpeg(file, interpolation),
      fp32: async (file) => {
        const tensor = new Float32Array(IMAGENET_ELEMENTS);
        const rgb = await decodeImagenetJpeg(file, interpolation);
        normaliseImagenet(rgb, tensor, normalisation, 'nchw');
        return new Uint8Array(tensor.buffer);
      },
    },
    scoreAccuracy: (entries) => scoreResponses(entries, labels, metric),
  });
}

/** Number type of a response; the official script needs it as option `--dtype`. */
type ResponseType = 'float32' | 'int32' | 'int64';

/** Zero has the same bytes as float32 and as int32, and 4 bytes cannot be int64. */
const ZERO_IN_4_BYTES = 'float32 or int32';

/** A parsed response. */
interface ReadLabel {
  /** The class; fractions are truncated, as in the script. */
  readonly label: number;
  readonly type: ResponseType | typeof ZERO_IN_4_BYTES;
}

/**
 * Largest class as int32 whose bits, read as float32, are a subnormal number below 1: so int32
 * cannot be mistaken for float32.
 */
const INT32_CLASS_MAX = 0x7f_ffff;

/**
 * Reads the class in a response: one little-endian number, int64 in 8 bytes, float32 or int32 in 4.
 * The bits of an int32 class would be a float32 near 0, which is not a class, so the type needs no
 * setting.
 * @returns undefined if the bytes are not such a number.
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
 * Top-1 accuracy as in MLCommons' accuracy-imagenet.py: an unknown class is a wrong answer.
 * @param labels Correct class by sample index.
 * @throws MlperfError `ERR_DATA_SET` if a response is not a number, is for an unknown sample, or
 *   has another type than earlier ones: the script reads a whole log with one type.
 */
export async function scoreResponses(
  entries: AccuracyEntries,
  labels: Uint16Array,
  metric: string,
): Promise<AccuracyReport> {
  let type: ReadLabel['type'] | undefined;
  const score = await scoreEach(entries, labels.length, ({ sampleIndex, response }) => {
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

/** The type that fits both responses; undefined if there is none. */
function commonType(a: ReadLabel['type'], b: ReadLabel['type']): ReadLabel['type'] | undefined {
  if (a === b || (b === ZERO_IN_4_BYTES && a !== 'int64')) return a;
  return a === ZERO_IN_4_BYTES && b !== 'int64' ? b : undefined;
}

function noLabel(sampleIndex: number, response: Uint8Array) {
  const shown = Buffer.from(response.subarray(0, 16)).toString('hex');
  return dataSetError(
    `sample ${sampleIndex}: a response is one number, float32 or int32 in 4 bytes or int64 in 8; this one has ` +
      `${response.length} bytes (hexadecimal ${shown})`,
  );
}
