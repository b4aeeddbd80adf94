import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { TensorElements } from '../model/element-types.ts';
import type { ModelTensor, ModelUsage, OpenedModel, ResponseNumber } from '../model/model-facts.ts';
import { listTensors } from './model-fit.ts';
import type { Postprocessor } from './model-pipeline.ts';
import { outputNamed, outputRow } from './output-row.ts';

/** Types of an output that is the label itself. */
const INTEGER_TYPES: readonly string[] = [
  'int64',
  'int32',
  'uint8',
  'int8',
  'uint16',
  'int16',
  'uint32',
  'uint64',
];

/** Types of an output of one score per class. */
const SCORE_TYPES: readonly string[] = ['float', 'double'];

/** Type of a response where nothing is said. */
const RESPONSE_DEFAULT: ResponseNumber = 'int32';

/**
 * The response is one number, little-endian: the class of the highest score (the first of equal ones, as ONNX's
 * ArgMax has it) or the label that the model tells, plus the usage's offset.
 *
 * The output that the usage names is read, else the model's only integer output of one element per sample, else
 * its only output of scores.
 * @throws MlperfError `ERR_MODEL` where no output or more than one could be meant.
 */
export function classPostprocessor(model: OpenedModel, usage: ModelUsage): Postprocessor {
  const { name, elementType } = findOutput(model, usage);
  const batchAxis = usage.batchAxis ?? 0;
  const offset = usage.classOffset ?? 0;
  const type = usage.response ?? RESPONSE_DEFAULT;
  const classOf = INTEGER_TYPES.includes(elementType) ? onlyElement : indexOfLargest;
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
    const output = outputNamed(model, usage.output);
    if (isLabel(output, rank) || isScores(output, rank)) return output;
    throw new MlperfError(
      'ERR_MODEL',
      `output "${output.name}" of ${model.file} is no class: expected one integer per sample, or ` +
        `one float or double per class; found ${listTensors([output])}`,
    );
  }
  const labels = model.outputs.filter((output) => isLabel(output, rank));
  const scores = model.outputs.filter((output) => isScores(output, rank));
  const [candidate, another] = labels.length > 0 ? labels : scores;
  if (candidate !== undefined && another === undefined) return candidate;
  const why = candidate === undefined ? 'no output' : 'more than one output';
  throw new MlperfError(
    'ERR_MODEL',
    `${model.file} has ${why} that could be a class: one integer per sample, or one float or double ` +
      `per class; found ${listTensors(model.outputs)}${another === undefined ? '' : '; name one in the description'}`,
  );
}

/** Integers, [batch] or with axes of 1 behind it. */
function isLabel({ elementType, shape }: ModelTensor, rank: number): boolean {
  return INTEGER_TYPES.includes(elementType) && shape.slice(rank).every((length) => length === 1);
}

/** Scores, [batch, classes], with axes of 1 behind it as some exporters leave them. */
function isScores({ elementType, shape }: ModelTensor, rank: number): boolean {
  const own = shape.slice(rank);
  return (
    SCORE_TYPES.includes(elementType) &&
    own.length > 0 &&
    own.filter((length) => length !== 1).length <= 1
  );
}

function onlyElement(elements: TensorElements, name: string): number {
  if (elements.length !== 1) {
    throw new MlperfError(
      'ERR_MODEL',
      `output "${name}" of the model has ${elements.length} labels for one sample, not 1`,
    );
  }
  return Number(elements[0]);
}

function indexOfLargest(elements: TensorElements, name: string): number {
  if (elements.length === 0) {
    throw new MlperfError(
      'ERR_MODEL',
      `output "${name}" of the model has no scores for the sample`,
    );
  }
  let largest = Number.NEGATIVE_INFINITY;
  let index = 0;
  for (let i = 0; i < elements.length; i += 1) {
    const score = elements[i] as number; // A float type: see findOutput.
    // Not a number compares with nothing, so it would pass for the lowest score.
    if (Number.isNaN(score)) {
      throw new MlperfError('ERR_MODEL', `score ${i} of output "${name}" of the model is NaN`);
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
    throw new MlperfError(
      'ERR_MODEL',
      `the model tells the class ${value}, which a response of ${type} does not hold`,
    );
  }
  const bytes = new Uint8Array(type === 'int64' ? 8 : 4);
  const view = new DataView(bytes.buffer);
  if (type === 'float32') view.setFloat32(0, value, true);
  else if (type === 'int32') view.setInt32(0, value, true);
  else view.setBigInt64(0, BigInt(value), true);
  return bytes;
}
