import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { ModelUsage } from '../model/model-usage.ts';
import { classPostprocessor } from './class-postprocessor.ts';
import type { OpenedModel } from './model-fit.ts';
import type { Postprocessor } from './model-pipeline.ts';
import { rawPostprocessor } from './raw-postprocessor.ts';

/**
 * Makes a post-processor for a model's outputs.
 * @throws MlperfError `ERR_MODEL` where it finds no output that it can read.
 */
type PostprocessorFactory = (model: OpenedModel, usage: ModelUsage) => Postprocessor;

/** Post-processors by the name that a model's description gives them. The objects they make have no `this`. */
const POSTPROCESSORS: Readonly<Record<string, PostprocessorFactory>> = {
  raw: rawPostprocessor,
  class: classPostprocessor,
};

/** Names that a description may give. */
export const POSTPROCESSOR_NAMES: readonly string[] = Object.keys(POSTPROCESSORS);

/** @throws MlperfError `ERR_MODEL` for a name that there is not, or outputs that it cannot read. */
export function openPostprocessor(
  name: string,
  model: OpenedModel,
  usage: ModelUsage,
): Postprocessor {
  const factory = Object.hasOwn(POSTPROCESSORS, name) ? POSTPROCESSORS[name] : undefined;
  if (factory === undefined) {
    const known = POSTPROCESSOR_NAMES.join(', ');
    throw new MlperfError('ERR_MODEL', `there is no post-processor "${name}"; there is: ${known}`);
  }
  return factory(model, usage);
}
