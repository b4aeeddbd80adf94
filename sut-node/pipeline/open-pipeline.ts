import type { ModelUsage } from '../model/model-usage.ts';
import type { OpenedModel } from './model-fit.ts';
import { pipelineInputs } from './model-inputs.ts';
import type { ModelPipeline } from './model-pipeline.ts';
import { openPostprocessor } from './postprocessors.ts';
import { openPreprocessor } from './preprocessors.ts';

/**
 * Joins a loaded model with the pre- and post-processor that its usage names: `tensor` and `raw` where it names
 * none, so that any model can be served.
 * @param usage A benchmark fills in what it prescribes before it calls this.
 * @throws MlperfError `ERR_MODEL` that tells what is asked for and what the model has.
 */
export function openPipeline(model: OpenedModel, usage: ModelUsage): ModelPipeline {
  const inputs = pipelineInputs(model, usage);
  return {
    inputs,
    ...openPreprocessor(usage.preprocess ?? 'tensor', inputs),
    ...openPostprocessor(usage.postprocess ?? 'raw', model, usage),
  };
}
