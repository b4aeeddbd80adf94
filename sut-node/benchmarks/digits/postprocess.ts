import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { encodeResponse } from '../../../shared/benchmarks/digits/response.ts';
import type { OutputTensor } from '../../model/model-facts.ts';
import { LABEL_OUTPUT_NAME } from './digits-graph.ts';

/**
 * Response of one sample: its element of the output `label`, as one 32-bit integer.
 * @throws MlperfError `ERR_MODEL` when the model (a user's own) has no such output or no such class.
 */
export function postprocess(outputs: ReadonlyMap<string, OutputTensor>, row: number): Uint8Array {
  const labels = outputs.get(LABEL_OUTPUT_NAME);
  if (labels === undefined) {
    throw new MlperfError('ERR_MODEL', `the model has no output "${LABEL_OUTPUT_NAME}"`);
  }
  // One element per sample, as [N] or [N, 1]; anything longer would shift every row after the first.
  const isOnePerSample = labels.data.length === labels.dims[0];
  const label = isOnePerSample ? labels.data[row] : undefined;
  if (label === undefined) {
    throw new MlperfError(
      'ERR_MODEL',
      `output "${LABEL_OUTPUT_NAME}" of the model has the shape [${labels.dims.join(', ')}], ` +
        `which has no single label in row ${row}`,
    );
  }
  return encodeResponse(Number(label));
}
