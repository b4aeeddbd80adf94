import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { IMAGENET_PREPARATIONS } from '../../shared/benchmarks/image/imagenet-preparation.ts';
import { imagenetPreprocessor } from './imagenet-preprocessor.ts';
import type { PipelineInput, Preprocessor } from './model-pipeline.ts';
import { ownForms, tensorPreprocessor } from './tensor-preprocessor.ts';

/**
 * Makes a pre-processor for a model's inputs.
 * @throws MlperfError `ERR_MODEL` where it cannot fill such inputs.
 */
export type PreprocessorFactory = (inputs: readonly PipelineInput[]) => Preprocessor;

/** Pre-processors by the name that a model's description gives them. The objects they make have no `this`. */
const PREPROCESSORS: Readonly<Record<string, PreprocessorFactory>> = {
  tensor: (inputs) => tensorPreprocessor(inputs, ownForms(inputs)),
  'imagenet-vgg': (inputs) => imagenetPreprocessor(inputs, IMAGENET_PREPARATIONS.resnet50),
  'imagenet-mobilenet': (inputs) => imagenetPreprocessor(inputs, IMAGENET_PREPARATIONS.mobilenet),
};

/** Names that a description may give. */
export const PREPROCESSOR_NAMES: readonly string[] = Object.keys(PREPROCESSORS);

/** @throws MlperfError `ERR_MODEL` for a name that there is not, or inputs that it cannot fill. */
export function openPreprocessor(name: string, inputs: readonly PipelineInput[]): Preprocessor {
  const factory = Object.hasOwn(PREPROCESSORS, name) ? PREPROCESSORS[name] : undefined;
  if (factory === undefined) {
    const known = PREPROCESSOR_NAMES.join(', ');
    throw new MlperfError('ERR_MODEL', `there is no pre-processor "${name}"; there is: ${known}`);
  }
  return factory(inputs);
}
