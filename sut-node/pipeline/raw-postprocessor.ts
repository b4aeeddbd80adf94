import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { ELEMENT_TYPES } from '../model/element-types.ts';
import type { ModelUsage, OpenedModel } from '../model/model-facts.ts';
import type { Postprocessor } from './model-pipeline.ts';
import { outputNamed, outputRow } from './output-row.ts';

/**
 * The response is what the model says: the elements of one sample in the output that the usage names, or in
 * all outputs one behind the other in the model's order; row-major, little-endian.
 * @throws MlperfError `ERR_MODEL` where an output has no elements of a fixed size, and for what the usage says of
 *   classes.
 */
export function rawPostprocessor(model: OpenedModel, usage: ModelUsage): Postprocessor {
  const ignored = (['classOffset', 'response'] as const).find((key) => usage[key] !== undefined);
  if (ignored !== undefined) {
    throw new MlperfError(
      'ERR_MODEL',
      `the description's "${ignored}" has no effect without "postprocess: class"`,
    );
  }
  const tensors = usage.output === undefined ? model.outputs : [outputNamed(model, usage.output)];
  const unread = tensors.find(({ elementType }) => !ELEMENT_TYPES.has(elementType));
  if (unread !== undefined) {
    throw new MlperfError(
      'ERR_MODEL',
      `output "${unread.name}" of ${model.file} has elements of type ${unread.elementType}, ` +
        'which have no fixed size; name another output in the description',
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
