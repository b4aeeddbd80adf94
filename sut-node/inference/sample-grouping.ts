import type { PayloadEncoding } from '../../shared/domain/query-sample-library.ts';
import type { BatchShape } from '../pipeline/model-fit.ts';
import type { ModelPipeline } from '../pipeline/model-pipeline.ts';
import type { WaitingSample } from './batcher/waiting-sample.ts';

/** Group of samples whose length is not known before they are decompressed. */
const UNKNOWN = 0;

/**
 * Tells samples of different lengths apart, so that batches are formed of equal ones: a worker runs the model once
 * per length that it finds in a batch. Two uncompressed tensors have one length where they have as many bytes.
 * Undefined where any two samples may share an inference.
 */
export function sampleGrouping(
  pipeline: ModelPipeline,
  { freeAxes }: BatchShape,
  encodings: readonly PayloadEncoding[],
): ((sample: WaitingSample) => number) | undefined {
  if (pipeline.lengthOf === undefined || freeAxes === 'pad') return undefined;
  return ({ form, bytes, slice }) => {
    if (slice !== undefined) return slice.end - slice.begin;
    return encodings[form]?.compression === 'identity' ? bytes : UNKNOWN;
  };
}
