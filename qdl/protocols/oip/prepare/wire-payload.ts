import { dataSetError, namingSample } from '../../../../shared/base/errors/mlperf-error.ts';
import { joinedContents, type NamedTensor } from '../../../../shared/domain/tensors.ts';
import type { OipContents, OipRequestPlan } from '../../../../shared/wire/oip/request-plan.ts';
import { encodeRequestFields } from './request-fields.ts';

/** Form of samples on the wire. */
interface WireForm {
  readonly plan: Pick<OipRequestPlan, 'payloadForm' | 'inputs' | 'hasBatchAxis'>;
  readonly contents: OipContents;
}

/**
 * Payload of a sample in the form of the plan.
 * @throws MlperfError `ERR_DATA_SET` if its sizes differ from the plan's
 */
export function wirePayload(
  sampleIndex: number,
  tensors: readonly NamedTensor[],
  { plan, contents }: WireForm,
): Uint8Array {
  const { payloadForm, inputs, hasBatchAxis } = plan;
  if (payloadForm === 'fields') {
    return namingSample(sampleIndex, () =>
      encodeRequestFields(tensors, { contents, hasBatchAxis }),
    );
  }
  for (const [i, { name, sampleBytes }] of inputs.entries()) {
    const seen = tensors[i]?.raw.length ?? 0;
    if (seen === sampleBytes) continue;
    throw dataSetError(
      `sample ${sampleIndex} has ${seen} bytes for input "${name}" of the model; ${sampleBytes} are needed`,
    );
  }
  return joinedContents(tensors);
}
