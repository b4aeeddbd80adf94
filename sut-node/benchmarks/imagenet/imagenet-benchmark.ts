import { modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { loadJpegCodec } from '../../../shared/benchmarks/image/jpeg.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import { IMAGENET_ELEMENTS } from '../../../shared/rules/cards/imagenet.ts';
import type { ModelPipeline, ModelUsage, OpenedModel } from '../../model/model-facts.ts';
import type { ReferenceModel } from '../../model/model-file.ts';
import { IMAGENET_SHAPES, imagenetLayoutOf } from '../../pipeline/imagenet-preprocessor.ts';
import { listTensors } from '../../pipeline/model-fit.ts';
import { openPipeline } from '../../pipeline/open-pipeline.ts';
import { standinModels } from '../standin/standin-models.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';
import { imagenetStandin } from './standin.ts';

/** Scores of a model whose class 0 is the background, before the 1,000 classes of ImageNet. */
const COUNT_WITH_BACKGROUND = 1001;

/** Scores of a model without a background class. */
const COUNT_WITHOUT = 1000;

/**
 * Name of a label output that counts the background: the reference ResNet-50's, an export of
 * TensorFlow's ArgMax.
 */
const LABEL_WITH_BACKGROUND = 'ArgMax:0';

/** Added to a class if class 0 is the background. */
const OFFSET_WITH_BACKGROUND = -1;
const OFFSET_WITHOUT = 0;

/**
 * A benchmark of ImageNet on the SUT node. Defaults follow the reference: layout and names come
 * from the model, the response is the class as a float32. If the model has 1,001 classes, the first
 * is the background and is not counted ({@link classOffsetOf}). Source: MLCommons inference,
 * vision/classification_and_detection/python: `PostProcessCommon(offset=-1)` for ResNet-50 (label),
 * `PostProcessArgMax(offset=-1)` for MobileNet (scores).
 */
export function imagenetSutBenchmark(
  key: 'resnet50' | 'mobilenet',
  preprocess: NonNullable<ModelUsage['preprocess']>,
  reference: ReferenceModel,
): SutBenchmark<ModelPipeline> {
  return {
    ...standinModels(imagenetStandin(key)),
    rules: benchmarkRules(key),
    reference,
    sampleElements: IMAGENET_ELEMENTS,
    // Workers decode images: see loadJpegCodec for why the main thread loads the codec first.
    prepareProcess: loadJpegCodec,
    openPipeline: (model, usage) =>
      openPipeline(model, { ...defaultsFor(model, usage), preprocess, ...withoutGaps(usage) }),
  };
}

function defaultsFor(
  model: OpenedModel,
  { postprocess = 'class', classOffset }: ModelUsage,
): ModelUsage {
  if (postprocess !== 'class') return imageShape(model);
  return {
    ...imageShape(model),
    postprocess,
    classOffset: classOffset ?? classOffsetOf(model),
    response: 'float32',
  };
}

/**
 * Class offset of a model, by the width of its scores, or for a label alone by the reference's
 * name. A wrong guess would silently cost nearly all accuracy.
 * @throws MlperfError `ERR_MODEL` for any other label without such scores beside it.
 */
function classOffsetOf({ file, outputs }: OpenedModel): number {
  const widths = outputs.map(({ shape }) => shape.at(-1));
  if (widths.includes(COUNT_WITH_BACKGROUND)) return OFFSET_WITH_BACKGROUND;
  const labels = outputs.filter(({ elementType }) => /^u?int/.test(elementType));
  if (labels.length === 0 || widths.includes(COUNT_WITHOUT)) return OFFSET_WITHOUT;
  if (labels.some(({ name }) => name === LABEL_WITH_BACKGROUND)) return OFFSET_WITH_BACKGROUND;
  throw modelError(
    `${file} outputs a label, and no scores of 1,000 or 1,001 classes (${listTensors(outputs)}), so it is unknown ` +
      'whether its class 0 is the background or the first of the 1,000 of ImageNet: ' +
      'write "classOffset: -1" or "classOffset: 0" in a description of the model',
  );
}

/** Fills in the model's free axes; the pre-processor refuses a model that takes no images. */
function imageShape({ inputs }: OpenedModel): Pick<ModelUsage, 'inputs'> {
  const [input, another] = inputs;
  const layout = another === undefined ? imagenetLayoutOf(input?.shape.slice(1) ?? []) : undefined;
  if (input === undefined || layout === undefined) return {};
  return { inputs: [{ name: input.name, shape: IMAGENET_SHAPES[layout] }] };
}

/** Removes keys without a value: they would hide defaults. */
function withoutGaps(usage: ModelUsage): ModelUsage {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== undefined));
}
