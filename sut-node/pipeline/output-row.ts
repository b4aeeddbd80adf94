import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { TensorElements } from '../model/element-types.ts';
import type { BatchAxis, ModelTensor, OpenedModel, OutputTensor } from '../model/model-facts.ts';
import { listTensors } from './model-fit.ts';

/**
 * The elements of one sample in an output; a view.
 * @throws MlperfError `ERR_MODEL` when the output is missing or has no such row.
 */
export function outputRow(
  outputs: ReadonlyMap<string, OutputTensor>,
  name: string,
  row: number,
  batchAxis: BatchAxis,
): TensorElements {
  const tensor = outputs.get(name);
  if (tensor === undefined) {
    throw new MlperfError('ERR_MODEL', `the model gave no output "${name}"`);
  }
  const { data, dims } = tensor;
  const rowCount = batchAxis === 'none' ? 1 : (dims[0] ?? 0);
  if (row >= rowCount || data.length % rowCount !== 0) {
    throw new MlperfError(
      'ERR_MODEL',
      `output "${name}" of the model has the shape [${dims.join(', ')}], which has no row ${row}`,
    );
  }
  const length = data.length / rowCount;
  return data.subarray(row * length, (row + 1) * length);
}

/** @throws MlperfError `ERR_MODEL` that lists what the model has. */
export function outputNamed(model: OpenedModel, name: string): ModelTensor {
  const tensor = model.outputs.find((output) => output.name === name);
  if (tensor === undefined) {
    throw new MlperfError(
      'ERR_MODEL',
      `${model.file} has no output "${name}"; it has: ${listTensors(model.outputs)}`,
    );
  }
  return tensor;
}
