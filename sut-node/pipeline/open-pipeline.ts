import { IMAGENET_PREPARATIONS } from '../../shared/benchmarks/image/imagenet.ts';
import type {
  ModelPipeline,
  ModelUsage,
  OpenedModel,
  PipelineInput,
  Postprocessor,
  Preprocessor,
} from '../model/model-facts.ts';
import { imagenetPreprocessor } from './imagenet-preprocessor.ts';
import { pipelineInputs } from './model-fit.ts';
import { classPostprocessor, rawPostprocessor } from './postprocessors.ts';
import { ownForms, tensorPreprocessor } from './tensor-preprocessor.ts';

/**
 * Makes a pre-processor for a model's inputs; the object has no `this`.
 * @throws MlperfError `ERR_MODEL` if the pre-processor cannot fill such inputs.
 */
type PreprocessorFactory = (inputs: readonly PipelineInput[]) => Preprocessor;

const PREPROCESSORS: Readonly<Record<NonNullable<ModelUsage['preprocess']>, PreprocessorFactory>> =
  {
    tensor: (inputs) => tensorPreprocessor(inputs, ownForms(inputs)),
    'imagenet-vgg': (inputs) => imagenetPreprocessor(inputs, IMAGENET_PREPARATIONS.resnet50),
    'imagenet-mobilenet': (inputs) => imagenetPreprocessor(inputs, IMAGENET_PREPARATIONS.mobilenet),
  };

/**
 * Makes a post-processor for a model's outputs; the object has no `this`.
 * @throws MlperfError `ERR_MODEL` if the post-processor can read none of the outputs.
 */
type PostprocessorFactory = (model: OpenedModel, usage: ModelUsage) => Postprocessor;

const POSTPROCESSORS: Readonly<
  Record<NonNullable<ModelUsage['postprocess']>, PostprocessorFactory>
> = {
  raw: rawPostprocessor,
  class: classPostprocessor,
};

/**
 * Joins a loaded model with the pre- and post-processor that its usage names. Without names, it
 * takes `tensor` and `raw`, so that any model can be served.
 * @param usage A benchmark adds its own values before it calls this function.
 * @throws MlperfError `ERR_MODEL` that tells what is requested and what the model has.
 */
export function openPipeline(model: OpenedModel, usage: ModelUsage): ModelPipeline {
  const inputs = pipelineInputs(model, usage);
  return {
    inputs,
    ...PREPROCESSORS[usage.preprocess ?? 'tensor'](inputs),
    ...POSTPROCESSORS[usage.postprocess ?? 'raw'](model, usage),
  };
}
