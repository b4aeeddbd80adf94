import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { type OipTensor, tensorsText } from '../../../shared/domain/tensors.ts';
import type { OipModelFacts } from '../../../shared/wire/oip/model-facts.ts';

type BatchFacts = Pick<OipModelFacts, 'name' | 'inputs' | 'outputs' | 'batchSizeMax'>;

/**
 * Whether the first axis of every input counts samples. A server that tells how many it takes decides it; of others the axis
 * is taken for one where all inputs leave it free, as in the metadata of nearly all servers.
 */
export function hasBatchAxis({ inputs, batchSizeMax }: BatchFacts): boolean {
  return batchSizeMax !== 0 && inputs.length > 0 && inputs.every(isFreeFirst);
}

/**
 * Checks that requests may hold several samples of a query.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function requireBatch(facts: BatchFacts, samplesPerRequest: number): void {
  if (samplesPerRequest === 1) return;
  const { name, inputs, outputs, batchSizeMax } = facts;
  const asked = `--oip-batch ${samplesPerRequest}`;
  if (batchSizeMax !== undefined && batchSizeMax > 0 && samplesPerRequest > batchSizeMax) {
    throw configInvalid(
      `${asked}: model ${name} takes ${batchSizeMax} samples in a request at most`,
    );
  }
  const fixed = [...inputs, ...outputs].filter((tensor) => !isFreeFirst(tensor));
  if (batchSizeMax !== 0 && fixed.length === 0) return;
  const why =
    batchSizeMax === 0
      ? 'its server says that no axis counts samples'
      : `the first axis of ${tensorsText(fixed)} is not free`;
  throw configInvalid(`${asked}: a request to model ${name} has one sample, as ${why}`);
}

/**
 * Checks that requests may hold several samples where a sample takes up all axes of the model: a free first axis is then the
 * sample's own, and nothing of the request tells how many there are.
 * @param isThere Whether an axis before the sample's own counts samples.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function requireBatchAxis(
  { name, inputs }: BatchFacts,
  isThere: boolean,
  samplesPerRequest: number,
): void {
  if (samplesPerRequest === 1 || isThere) return;
  throw configInvalid(
    `--oip-batch ${samplesPerRequest}: a request to model ${name} has one sample, as no axis of its inputs ` +
      `(${tensorsText(inputs)}) is left to count samples`,
  );
}

function isFreeFirst({ shape }: OipTensor): boolean {
  return shape[0] === -1;
}
