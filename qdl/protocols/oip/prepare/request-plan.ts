import { configInvalid } from '../../../../shared/base/errors/mlperf-error.ts';
import { tensorsText } from '../../../../shared/domain/tensors.ts';
import type {
  OipContents,
  OipMethod,
  OipModelFacts,
  OipModelRef,
  OipRequestPlan,
} from '../../../../shared/wire/oip/request-plan.ts';
import { isFreeFirst } from '../../tensors/model-inputs.ts';
import { type RequestLayout, requestLayout } from '../../tensors/request-layout.ts';
import type { OipAsked } from '../settings/oip-settings.ts';

type BatchFacts = Pick<OipModelFacts, 'name' | 'inputs' | 'outputs' | 'batchSizeMax'>;

/**
 * {@link requestLayout} for requests of several samples too.
 * @throws MlperfError `ERR_CONFIG_INVALID` also if the model takes one sample per request
 */
export function batchLayout(
  rules: Parameters<typeof requestLayout>[0],
  facts: OipModelFacts,
  { inputShapes, samplesPerRequest }: Pick<OipAsked, 'inputShapes' | 'samplesPerRequest'>,
  encodingName: string | undefined,
  payloadBytes: number | undefined,
): RequestLayout {
  requireBatch(facts, samplesPerRequest);
  const layout = requestLayout(rules, facts, inputShapes, encodingName, payloadBytes);
  requireBatchAxis(facts, layout.hasBatchAxis, samplesPerRequest);
  return layout;
}

/**
 * Checks that requests may hold several samples of a query.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
function requireBatch(facts: BatchFacts, samplesPerRequest: number): void {
  if (samplesPerRequest === 1) return;
  const { name, inputs, outputs, batchSizeMax } = facts;
  const asked = `--oip-batch ${samplesPerRequest}`;
  if (batchSizeMax !== undefined && batchSizeMax > 0 && samplesPerRequest > batchSizeMax) {
    throw configInvalid(
      `${asked}: model ${name} takes at most ${batchSizeMax} samples per request`,
    );
  }
  const fixed = [...inputs, ...outputs].filter((tensor) => !isFreeFirst(tensor));
  if (batchSizeMax !== 0 && fixed.length === 0) return;
  const why =
    batchSizeMax === 0
      ? 'its server reports that no axis counts samples'
      : `the first axis of ${tensorsText(fixed)} is not free`;
  throw configInvalid(
    `${asked}: a request to model ${name} can hold only one sample, because ${why}`,
  );
}

/**
 * Checks that requests may hold several samples if a sample uses all axes of the model: a free
 * first axis is then the sample's own, and a request cannot state its number of samples.
 * @param isThere True if an axis before the sample's own counts samples.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
function requireBatchAxis(
  { name, inputs }: BatchFacts,
  isThere: boolean,
  samplesPerRequest: number,
): void {
  if (samplesPerRequest === 1 || isThere) return;
  throw configInvalid(
    `--oip-batch ${samplesPerRequest}: a request to model ${name} can hold only one sample, because no axis of its inputs ` +
      `(${tensorsText(inputs)}) is left to count samples`,
  );
}

/** Choices for a request besides the layout. */
interface RequestChoice {
  readonly model: OipModelRef;
  readonly method: OipMethod;
  readonly contents: OipContents;
  readonly samplesPerRequest: number;
  /** True if all samples have the shapes and sizes of the layout. */
  readonly isUniform: boolean;
}

/**
 * The request plan. Raw contents of fixed sizes are sent unchanged; the sample library encodes
 * everything else.
 * @throws MlperfError `ERR_CONFIG_INVALID` if several samples share a request but are encoded one
 * by one
 */
export function requestPlan(layout: RequestLayout, choice: RequestChoice): OipRequestPlan {
  const { model, method, contents, samplesPerRequest, isUniform } = choice;
  const { inputs } = layout;
  const isPlain =
    isUniform &&
    contents === 'raw' &&
    inputs.every(({ sampleBytes: bytes }) => bytes !== undefined);
  if (!isPlain && samplesPerRequest > 1) {
    const why =
      contents === 'typed'
        ? 'typed contents are encoded for each sample'
        : `samples differ in their lengths (${tensorsText(inputs)})`;
    throw configInvalid(`--oip-batch ${samplesPerRequest}: ${why}, so a request has one sample`);
  }
  return {
    model,
    method,
    payloadForm: isPlain ? 'tensors' : 'fields',
    inputs: isPlain
      ? inputs.map(({ name, datatype, shape, sampleBytes: bytes }) => ({
          name,
          datatype,
          sampleShape: shape,
          sampleBytes: bytes as number,
        }))
      : [],
    hasBatchAxis: layout.hasBatchAxis,
    samplesPerRequest,
    outputs: layout.outputs,
  };
}
