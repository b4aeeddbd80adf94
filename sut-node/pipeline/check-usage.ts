import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { PayloadEncoding } from '../../shared/domain/query-sample-library.ts';
import type { ModelUsage } from '../model/model-facts.ts';
import { listTensors } from './model-fit.ts';
import type { ModelPipeline } from './model-pipeline.ts';

/**
 * Checks that a model's pre-processor reads some form in which the benchmark's samples travel.
 * @param forms Forms that it reads.
 * @throws MlperfError `ERR_MODEL` that tells both.
 */
export function checkForms(forms: readonly string[], encodings: readonly PayloadEncoding[]): void {
  if (encodings.some(({ form }) => forms.includes(form))) return;
  const known = [...new Set(encodings.map(({ form }) => form))];
  throw new MlperfError(
    'ERR_MODEL',
    `the model's pre-processor reads ${forms.join(', ')}, but samples of this benchmark travel as ` +
      `${known.join(', ')}: another "preprocess" in its description`,
  );
}

/**
 * Checks that there is something to pad where the description says so.
 * @throws MlperfError `ERR_MODEL` that tells the shapes of a sample.
 */
export function checkFreeAxes(
  { lengthOf, inputs }: Pick<ModelPipeline, 'lengthOf' | 'inputs'>,
  { freeAxes }: ModelUsage,
): void {
  if (freeAxes !== 'pad' || lengthOf !== undefined) return;
  const shapes = inputs.map(({ sampleShape: shape, ...rest }) => ({ ...rest, shape }));
  throw new MlperfError(
    'ERR_MODEL',
    `"freeAxes: pad" has no effect: no axis of a sample is free (${listTensors(shapes)}); leave it out`,
  );
}
