import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { ModelUsage, OpenedModel } from '../model/model-facts.ts';
import { listTensors } from './model-fit.ts';

/** How many samples one inference takes, and where they lie. */
export interface BatchShape {
  /** False where inputs and outputs have no batch axis: one inference is one sample. */
  readonly hasAxis: boolean;
  /** Samples of every inference; undefined where the model takes any number. */
  readonly sizeFixed: number | undefined;
  /** Samples of different lengths in free axes: never in one inference, or padded to the longest with zeros. */
  readonly freeAxes: 'group' | 'pad';
}

/**
 * Reads the batch axis off a model's inputs.
 * @throws MlperfError `ERR_MODEL` where its inputs want different numbers of samples.
 */
export function batchShapeOf(model: OpenedModel, usage: ModelUsage): BatchShape {
  const freeAxes = usage.freeAxes ?? 'group';
  if (usage.batchAxis === 'none') return { hasAxis: false, sizeFixed: 1, freeAxes };
  const lengths = new Set(model.inputs.map(({ shape }) => shape[0] ?? 0));
  if (lengths.size > 1) {
    throw new MlperfError(
      'ERR_MODEL',
      `the inputs of ${model.file} have different first axes: ${listTensors(model.inputs)}; ` +
        'export it with one batch axis, or describe it with "batchAxis: none"',
    );
  }
  const [length] = lengths;
  // A free axis is 0.
  return { hasAxis: true, sizeFixed: length || undefined, freeAxes };
}

/**
 * Checks that a model takes batches of the size that somebody asked for.
 * @param asked Undefined where nobody did: then batches are as large as the model takes.
 * @throws MlperfError `ERR_MODEL` that tells what to change.
 */
export function checkBatchSize(
  model: OpenedModel,
  { hasAxis, sizeFixed }: BatchShape,
  asked: number | undefined,
): void {
  if (sizeFixed === undefined || asked === undefined || asked <= sizeFixed) return;
  const why = hasAxis
    ? `it has no free batch axis: ${listTensors(model.inputs)}`
    : 'it is described with "batchAxis: none"';
  throw new MlperfError(
    'ERR_MODEL',
    `${model.file} takes batches of ${sizeFixed}, not --batch-size-max ${asked}, for ${why}; ` +
      `leave that setting out or set it to ${sizeFixed}, or export the model with a free first axis`,
  );
}
