import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { ELEMENT_TYPES } from '../model/element-types.ts';
import type {
  BatchAxis,
  ModelTensor,
  ModelUsage,
  OpenedModel,
  PipelineInput,
} from '../model/model-facts.ts';
import { listTensors } from './model-fit.ts';

/**
 * Inputs to feed, in the order of the payload: those that the usage names, else all in the model's own order.
 * Names, types and shapes are the model's; a shape of the usage fills in axes that the model leaves free.
 * @throws MlperfError `ERR_MODEL` where the two contradict each other, or where an input cannot be fed.
 */
export function pipelineInputs(model: OpenedModel, usage: ModelUsage): PipelineInput[] {
  if (model.inputs.length === 0) {
    throw new MlperfError('ERR_MODEL', `${model.file} has no input, so no payload can reach it`);
  }
  const wanted = usage.inputs ?? model.inputs.map(({ name }) => ({ name, shape: undefined }));
  const missing = model.inputs.find(({ name }) => !wanted.some((input) => input.name === name));
  if (missing !== undefined) {
    throw new MlperfError(
      'ERR_MODEL',
      `${model.file} needs its input "${missing.name}", which the description does not list; ` +
        `the model has: ${listTensors(model.inputs)}`,
    );
  }
  return wanted.map(({ name, shape }) => {
    const tensor = model.inputs.find((input) => input.name === name);
    if (tensor === undefined) {
      throw new MlperfError(
        'ERR_MODEL',
        `${model.file} has no input "${name}"; it has: ${listTensors(model.inputs)}`,
      );
    }
    return pipelineInput(model.file, tensor, shape, usage.batchAxis ?? 0);
  });
}

function pipelineInput(
  file: string,
  tensor: ModelTensor,
  wanted: readonly number[] | undefined,
  batchAxis: BatchAxis,
): PipelineInput {
  const { name, elementType, shape } = tensor;
  if (!ELEMENT_TYPES.has(elementType)) {
    throw new MlperfError(
      'ERR_MODEL',
      `input "${name}" of ${file} has elements of type ${elementType}; ` +
        `what can be fed: ${[...ELEMENT_TYPES.keys()].join(', ')}`,
    );
  }
  if (batchAxis === 0 && shape.length === 0) {
    throw new MlperfError(
      'ERR_MODEL',
      `input "${name}" of ${file} is a single number and has no batch axis; ` +
        'describe the model with "batchAxis: none"',
    );
  }
  const own = batchAxis === 0 ? shape.slice(1) : shape;
  const fits =
    wanted === undefined ||
    (wanted.length === own.length &&
      wanted.every((length, axis) => own[axis] === 0 || own[axis] === length));
  if (!fits) {
    throw new MlperfError(
      'ERR_MODEL',
      `input "${name}" of ${file} takes samples of the shape [${shapeText(own)}]` +
        `${batchAxis === 0 ? ' behind its batch axis' : ''}, ` +
        `not [${wanted.join(', ')}] as the description says`,
    );
  }
  return { name, elementType, sampleShape: wanted ?? own };
}

function shapeText(shape: readonly number[]): string {
  return shape.map((length) => (length === 0 ? 'free' : String(length))).join(', ');
}
