import { dataSetError, type MlperfError, modelError } from '../base/errors/mlperf-error.ts';
import {
  elementCount,
  fitsShape,
  OIP_ELEMENT_BYTES,
  type OipDataType,
  type OipTensor,
  type SampleTensor,
  tensorsText,
  tensorText,
} from '../domain/tensors.ts';
import { IMAGENET } from './cards/imagenet.ts';
import type { BenchmarkRules } from './rows/benchmark-card.ts';

/** Form in which a model's response has the class that a benchmark asks for. */
export interface ResponseClass {
  /** The output with the class; a response has no other output. */
  readonly output: OipTensor;
  /**
   * `same`: as the benchmark has it. `class`: the class as another number. `scores`: one number for
   * each class.
   */
  readonly form: 'same' | 'class' | 'scores';
  /** Added to a class: -1 where class 0 is the background, before the 1,000 of ImageNet. */
  readonly classOffset: number;
}

/** Scores of a model of ImageNet whose class 0 is the background. */
const COUNT_WITH_BACKGROUND = 1001;
/**
 * Name of a label that counts the background: that of the reference ResNet-50, an export of
 * TensorFlow's ArgMax.
 */
const LABEL_WITH_BACKGROUND = 'ArgMax:0';

/** The number of a response by the datatypes that a class may have. */
const INTEGERS: Partial<Record<OipDataType, (view: DataView) => number | bigint>> = {
  INT8: (view) => view.getInt8(0),
  INT16: (view) => view.getInt16(0, true),
  INT32: (view) => view.getInt32(0, true),
  INT64: (view) => view.getBigInt64(0, true),
  UINT8: (view) => view.getUint8(0),
  UINT16: (view) => view.getUint16(0, true),
  UINT32: (view) => view.getUint32(0, true),
  UINT64: (view) => view.getBigUint64(0, true),
};
const SCORES: readonly OipDataType[] = ['FP32', 'FP64'];

/**
 * The output that is the response, as long as a benchmark's of many numbers is; else the one that
 * tells the class: one number per sample before scores of all classes, as the SUT node of this
 * project chooses.
 * @param responseTensor What a response of the benchmark is.
 * @param hasBatchAxis True where the first axis of every output counts samples.
 * @throws MlperfError `ERR_MODEL` where no output or more than one could be meant
 */
export function responseClass(
  { key, sampleTensors }: Pick<BenchmarkRules, 'key' | 'sampleTensors'>,
  responseTensor: SampleTensor,
  outputs: readonly OipTensor[],
  hasBatchAxis: boolean,
): ResponseClass {
  const own = (tensor: OipTensor): readonly number[] =>
    hasBatchAxis ? tensor.shape.slice(1) : tensor.shape;
  if (elementCount(responseTensor.shape) > 1) {
    const output = outputs.find(
      (tensor) =>
        tensor.datatype === responseTensor.datatype && fitsShape(responseTensor.shape, own(tensor)),
    );
    if (output !== undefined) return { output, form: 'same', classOffset: 0 };
    throw modelError(
      `benchmark ${key} asks for ${tensorText(responseTensor)} in each sample, and no output is that: the model has ` +
        `${tensorsText(outputs)}; --data random measures it without a benchmark`,
    );
  }
  const isOne = (tensor: OipTensor): boolean => own(tensor).every((length) => length === 1);
  const classes = outputs.filter(
    (tensor) =>
      tensor.datatype in INTEGERS && own(tensor).every((length) => Math.abs(length) === 1),
  );
  const countsBackground =
    outputs.some((tensor) => own(tensor).includes(COUNT_WITH_BACKGROUND)) ||
    classes.some(({ name }) => name === LABEL_WITH_BACKGROUND);
  const isImagenet = sampleTensors === IMAGENET.sampleTensors;
  const classOffset = isImagenet && countsBackground ? -1 : 0;
  const same = outputs.filter(
    (tensor) => tensor.datatype === responseTensor.datatype && isOne(tensor),
  );
  const scores = outputs.filter(
    (tensor) => SCORES.includes(tensor.datatype) && own(tensor).filter((n) => n !== 1).length === 1,
  );
  for (const [form, found] of [
    ['same', classOffset === 0 ? same : []],
    ['class', classes],
    ['scores', scores],
  ] as const) {
    const [output, another] = found;
    if (output !== undefined && another === undefined) return { output, form, classOffset };
    if (another !== undefined) throw noClass(key, outputs, 'more than one output could be');
  }
  throw noClass(key, outputs, 'no output is');
}

function noClass(key: string, outputs: readonly OipTensor[], why: string): MlperfError {
  return modelError(
    `benchmark ${key} asks for a class, and ${why} one, as one whole number per sample or one score (FP32, FP64) per class: ` +
      `the model has ${tensorsText(outputs)}; --data random measures it without a benchmark`,
  );
}

/**
 * Converts a response for the benchmark's accuracy script. This is untimed work of LoadGen's side
 * after the run: the QDL must not change responses.
 * @throws MlperfError `ERR_DATA_SET` for bytes that are no such response
 */
export function classResponse(
  response: Uint8Array,
  { output, form, classOffset }: ResponseClass,
  { datatype }: SampleTensor,
): Uint8Array {
  if (form === 'same') return response;
  const bytes = OIP_ELEMENT_BYTES[output.datatype];
  const count = response.length / bytes;
  const isWhole = Number.isInteger(count) && (form === 'class' ? count === 1 : count > 1);
  if (!isWhole) {
    const needed = form === 'class' ? `${bytes} bytes` : `one ${output.datatype} per class`;
    throw dataSetError(
      `a response has ${response.length} bytes of output "${output.name}"; expected ${needed}`,
    );
  }
  const view = new DataView(response.buffer, response.byteOffset, response.length);
  const readInteger = INTEGERS[output.datatype];
  const label =
    form === 'class' && readInteger !== undefined
      ? Number(readInteger(view))
      : indexOfLargest(view, count, output.datatype);
  return encodeNumber(label + classOffset, datatype);
}

/** The class of the highest score; of equal scores the first one, as in ONNX's ArgMax. */
function indexOfLargest(view: DataView, count: number, datatype: OipDataType): number {
  let largest = Number.NEGATIVE_INFINITY;
  let index = 0;
  for (let i = 0; i < count; i += 1) {
    const score = datatype === 'FP32' ? view.getFloat32(i * 4, true) : view.getFloat64(i * 8, true);
    // Comparisons with NaN are false, so NaN would pass for the lowest score.
    if (Number.isNaN(score)) {
      throw dataSetError(`score ${i} of a response is not a number`);
    }
    if (score > largest) {
      largest = score;
      index = i;
    }
  }
  return index;
}

/** A class as the one number of the benchmark's own response. */
function encodeNumber(value: number, datatype: OipDataType): Uint8Array {
  const bytes = new Uint8Array(4);
  const view = new DataView(bytes.buffer);
  if (datatype === 'FP32') view.setFloat32(0, value, true);
  else view.setInt32(0, value, true);
  return bytes;
}
