import { modelError } from '../../shared/base/errors/mlperf-error.ts';
import {
  type BatchAxis,
  ELEMENT_TYPES,
  FREE,
  type ModelTensor,
  type ModelUsage,
  type OpenedModel,
  type OutputTensor,
  type Postprocessor,
  type ResponseNumber,
  type TensorElements,
} from '../model/model-facts.ts';
import { isOfType, listTensors, tensorNamed } from './model-fit.ts';

/**
 * The response is the model's output: the elements of one sample in the output that the usage
 * names, or in all outputs one after the other in the model's order; row-major, little-endian.
 * @throws MlperfError `ERR_MODEL` if an output has no elements of a fixed size, or if the usage has
 *   a key for classes.
 */
export function rawPostprocessor(model: OpenedModel, usage: ModelUsage): Postprocessor {
  const ignored = (['classOffset', 'response'] as const).find((key) => usage[key] !== undefined);
  if (ignored !== undefined) {
    throw modelError(`the description's "${ignored}" has no effect without "postprocess: class"`);
  }
  const tensors =
    usage.output === undefined ? model.outputs : [tensorNamed(model, 'output', usage.output)];
  const unread = tensors.find(({ elementType }) => !ELEMENT_TYPES.has(elementType));
  if (unread !== undefined) {
    throw modelError(
      `output "${unread.name}" of ${model.file} ${isOfType(unread.elementType)}, ` +
        'and has no fixed size; name another output in the description',
    );
  }
  const outputNames = tensors.map(({ name }) => name);
  const batchAxis = usage.batchAxis ?? 0;
  return {
    outputNames,
    postprocess: (outputs, row) => {
      const rows = outputNames.map((name) => outputRow(outputs, name, row, batchAxis));
      const response = new Uint8Array(rows.reduce((sum, { byteLength }) => sum + byteLength, 0));
      let position = 0;
      for (const { buffer, byteOffset, byteLength } of rows) {
        response.set(new Uint8Array(buffer, byteOffset, byteLength), position);
        position += byteLength;
      }
      return response;
    },
  };
}

/** Types of an output that is the label itself. */
const INTEGER_TYPE = /^u?int\d+$/;

/** Types of an output of one score per class. */
const SCORE_TYPES: readonly string[] = ['float', 'double'];

/** Default type of a response. */
const RESPONSE_DEFAULT: ResponseNumber = 'int32';

/**
 * The response is one number, little-endian: the class of the highest score (the first of equal
 * scores, as in ONNX's ArgMax) or the label that the model gives, plus the usage's offset.
 *
 * The post-processor reads the output that the usage names. Without a name it reads the model's
 * only integer output of one element per sample, or else the model's only output of scores.
 * @throws MlperfError `ERR_MODEL` where no output or more than one could be meant.
 */
export function classPostprocessor(model: OpenedModel, usage: ModelUsage): Postprocessor {
  const { name, elementType } = findOutput(model, usage);
  const batchAxis = usage.batchAxis ?? 0;
  const offset = usage.classOffset ?? 0;
  const type = usage.response ?? RESPONSE_DEFAULT;
  const classOf = INTEGER_TYPE.test(elementType) ? onlyElement : indexOfLargest;
  return {
    outputNames: [name],
    responseNumber: type,
    postprocess: (outputs, row) => {
      const elements = outputRow(outputs, name, row, batchAxis);
      return encodeResponse(classOf(elements, name) + offset, type);
    },
  };
}

function findOutput(model: OpenedModel, usage: ModelUsage): ModelTensor {
  const rank = (usage.batchAxis ?? 0) === 0 ? 1 : 0;
  if (usage.output !== undefined) {
    const output = tensorNamed(model, 'output', usage.output);
    if (isLabel(output, rank) || isScores(output, rank)) return output;
    throw modelError(
      `output "${output.name}" of ${model.file} is no class: expected one integer per sample, or ` +
        `one float or double per class; found ${listTensors([output])}`,
    );
  }
  const labels = model.outputs.filter((output) => isLabel(output, rank));
  const scores = model.outputs.filter((output) => isScores(output, rank));
  const [candidate, another] = labels.length > 0 ? labels : scores;
  if (candidate !== undefined && another === undefined) return candidate;
  const why = candidate === undefined ? 'no output' : 'more than one output';
  throw modelError(
    `${model.file} has ${why} that could be a class: one integer per sample, or one float or double ` +
      `per class; found ${listTensors(model.outputs)}${another === undefined ? '' : '; name one in the description'}`,
  );
}

/** Integers, [batch] or with further axes of length 1. */
function isLabel({ elementType, shape }: ModelTensor, rank: number): boolean {
  return INTEGER_TYPE.test(elementType) && shape.slice(rank).every((length) => length === 1);
}

/** Scores, [batch, classes], or with further axes of length 1, which some exporters leave. */
function isScores({ elementType, shape, isRankUnknown }: ModelTensor, rank: number): boolean {
  const own = isRankUnknown ? [FREE] : shape.slice(rank);
  return (
    SCORE_TYPES.includes(elementType) &&
    own.length > 0 &&
    own.filter((length) => length !== 1).length <= 1
  );
}

function onlyElement(elements: TensorElements, name: string): number {
  if (elements.length !== 1) {
    throw modelError(
      `output "${name}" of the model has ${elements.length} labels for one sample, not 1`,
    );
  }
  return Number(elements[0]);
}

function indexOfLargest(elements: TensorElements, name: string): number {
  if (elements.length === 0) {
    throw modelError(`output "${name}" of the model has no scores for the sample`);
  }
  let largest = Number.NEGATIVE_INFINITY;
  let index = 0;
  for (let i = 0; i < elements.length; i += 1) {
    const score = elements[i] as number; // A float type: see findOutput.
    // Comparisons with NaN are false, so NaN would pass for the lowest score.
    if (Number.isNaN(score)) {
      throw modelError(`score ${i} of output "${name}" of the model is NaN`);
    }
    if (score > largest) {
      largest = score;
      index = i;
    }
  }
  return index;
}

/** Numbers that a response of each type holds exactly lie between plus and minus this. */
const LARGEST: Readonly<Record<ResponseNumber, number>> = {
  float32: 2 ** 24,
  int32: 2 ** 31 - 1,
  int64: Number.MAX_SAFE_INTEGER,
};

/** @throws MlperfError `ERR_MODEL` where the type does not hold the number exactly. */
function encodeResponse(value: number, type: ResponseNumber): Uint8Array {
  if (Math.abs(value) > LARGEST[type]) {
    throw modelError(
      `the model returned class ${value}, which a response of type ${type} cannot hold exactly`,
    );
  }
  const bytes = new Uint8Array(type === 'int64' ? 8 : 4);
  const view = new DataView(bytes.buffer);
  if (type === 'float32') view.setFloat32(0, value, true);
  else if (type === 'int32') view.setInt32(0, value, true);
  else view.setBigInt64(0, BigInt(value), true);
  return bytes;
}

/**
 * The elements of one sample in an output; a view.
 * @throws MlperfError `ERR_MODEL` when the output is missing or has no such row.
 */
function outputRow(
  outputs: ReadonlyMap<string, OutputTensor>,
  name: string,
  row: number,
  batchAxis: BatchAxis,
): TensorElements {
  const tensor = outputs.get(name);
  if (tensor === undefined) {
    throw modelError(`the model gave no output "${name}"`);
  }
  const { data, dims } = tensor;
  const rowCount = batchAxis === 'none' ? 1 : (dims[0] ?? 0);
  if (row >= rowCount || data.length % rowCount !== 0) {
    throw modelError(
      `output "${name}" of the model has the shape [${dims.join(', ')}], which has no row ${row}`,
    );
  }
  const length = data.length / rowCount;
  return data.subarray(row * length, (row + 1) * length);
}
