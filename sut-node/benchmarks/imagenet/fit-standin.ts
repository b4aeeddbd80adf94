import { availableParallelism } from 'node:os';
import { FILES_AT_ONCE, forEachIndex } from '../../../shared/base/async/for-each-index.ts';
import type { BuildProgress } from '../../../shared/base/cache/artifact-cache.ts';
import {
  decodeImagenetJpeg,
  normaliseImagenet,
} from '../../../shared/benchmarks/image/imagenet.ts';
import { IMAGENET_PREPARATIONS } from '../../../shared/benchmarks/image/imagenet-preparation.ts';
import { makeStandinImage } from '../../../shared/benchmarks/standin/standin-image.ts';
import {
  STANDIN_CLASS_COUNT,
  type StandinSet,
} from '../../../shared/benchmarks/standin/standin-sets.ts';
import { IMAGENET_ELEMENTS, IMAGENET_IMAGE_SIZE } from '../../../shared/rules/rows/imagenet.ts';
import { calibrate } from '../../model/onnx/calibrate.ts';
import { encodeModel, type ModelProto } from '../../model/onnx/onnx-schema.ts';
import { loadOnnxRuntime, type OnnxRuntime } from '../../model/onnx/onnxruntime.ts';
import { quantiseModel, tensorsToQuantise } from '../../model/onnx/quantise.ts';
import { fitRidge, type LabelledFeatures } from '../fitting/ridge.ts';
import {
  buildStandinFeatures,
  STANDIN_FEATURE_COUNT,
  STANDIN_FEATURES_NAME,
  STANDIN_FLOAT_OUTPUTS,
  type StandinRecipe,
  standinModel,
} from './standin-graph.ts';
import { STANDINS, type StandinBenchmark, type StandinPrecision } from './standins.ts';

/** What a fit works on; plain data, since it travels to a thread. */
export interface StandinFit {
  readonly benchmark: StandinBenchmark;
  readonly images: StandinSet;
  /** Factor on the trunk's channels: 1, or 1/16 for a toy. */
  readonly width: number;
}

/** Raise with every change of the graph or of the fit: no model of the old way is found in the cache then. */
export const STANDIN_FIT_REVISION = 1;

/**
 * Weight of the penalty on large weights. Chosen on images of the training seed that are not fitted on, so the
 * evaluation set stays unseen.
 */
export const STANDIN_RIDGE_STRENGTH = 0.3;

/** Images in one call of ONNX Runtime. */
const BATCH_SIZE = 25;

/** Images that the ranges of activations are taken from; more change nothing that can be measured. */
const CALIBRATION_COUNT = 24;

/** Threads beyond four do not shorten a batch of small images. */
const THREAD_COUNT_MAX = 4;

/** Shares of the time: features, the system of equations, the rest is the model in int8. */
const FEATURES_SHARE = 0.8;
const EQUATIONS_SHARE = 0.9;

/**
 * Fits a stand-in and returns the bytes of its files. Takes half a minute on two cores, seconds of them in one
 * piece: not for a thread that has anything else to do.
 * @throws MlperfError `ERR_NOT_INSTALLED` when there is no ONNX Runtime or no JPEG codec.
 */
export async function fitStandin(
  fit: StandinFit,
  onProgress: BuildProgress,
): Promise<Readonly<Record<StandinPrecision, Uint8Array>>> {
  const recipe: StandinRecipe = { ...STANDINS[fit.benchmark], width: fit.width };
  const runtime = await loadOnnxRuntime();
  const examples = await computeFeatures(runtime, recipe, fit, (fraction) =>
    onProgress(fraction * FEATURES_SHARE, `drawing ${fit.images.imageCount} images to learn from`),
  );
  onProgress(FEATURES_SHARE, `fitting the stand-in to ${fit.images.imageCount} images`);
  const classifier = fitRidge(examples, STANDIN_RIDGE_STRENGTH);
  onProgress(EQUATIONS_SHARE, 'making the stand-in in int8');
  const model = standinModel(recipe, classifier);
  const int8 = await toInt8(runtime, model, fit);
  return { fp32: encodeModel(model), int8: encodeModel(int8) };
}

/** Runs the training images through the part of the branch that is not fitted, pre-processed as when it serves. */
async function computeFeatures(
  { InferenceSession, Tensor }: OnnxRuntime,
  recipe: StandinRecipe,
  fit: StandinFit,
  onProgress: (fraction: number) => void,
): Promise<LabelledFeatures> {
  const { imageCount } = fit.images;
  const features = new Float32Array(imageCount * STANDIN_FEATURE_COUNT);
  const labels = new Uint8Array(imageCount);
  const session = await InferenceSession.create(buildStandinFeatures(recipe), {
    intraOpNumThreads: threadCount(),
  });
  for (let first = 0; first < imageCount; first += BATCH_SIZE) {
    onProgress(first / imageCount);
    const count = Math.min(BATCH_SIZE, imageCount - first);
    const input = await drawBatch(fit, first, labels.subarray(first, first + count));
    const feed = new Tensor('float32', input, inputShape(count));
    const outputs = await session.run({ [recipe.surface.inputName]: feed });
    features.set(
      outputs[STANDIN_FEATURES_NAME]?.data as Float32Array,
      first * STANDIN_FEATURE_COUNT,
    );
  }
  await session.release();
  return {
    features,
    featureCount: STANDIN_FEATURE_COUNT,
    labels,
    classCount: STANDIN_CLASS_COUNT,
  };
}

/** The model's input for the images from index `first` on, one for each element of `labels`, which it fills. */
async function drawBatch(
  { benchmark, images }: StandinFit,
  first: number,
  labels: Uint8Array,
): Promise<Float32Array> {
  const { interpolation, normalisation } = IMAGENET_PREPARATIONS[benchmark];
  const input = new Float32Array(labels.length * IMAGENET_ELEMENTS);
  await forEachIndex(labels.length, FILES_AT_ONCE, async (i) => {
    const { label, jpeg } = await makeStandinImage(images, first + i);
    labels[i] = label;
    const rgb = await decodeImagenetJpeg(jpeg, interpolation);
    const target = input.subarray(i * IMAGENET_ELEMENTS, (i + 1) * IMAGENET_ELEMENTS);
    normaliseImagenet(rgb, target, normalisation, 'nchw');
  });
  return input;
}

async function toInt8(
  runtime: OnnxRuntime,
  model: ModelProto,
  fit: StandinFit,
): Promise<ModelProto> {
  const ranges = await calibrate(
    runtime,
    {
      model,
      tensors: tensorsToQuantise(model, STANDIN_FLOAT_OUTPUTS),
      inputName: STANDINS[fit.benchmark].surface.inputName,
      inputShape: inputShape(1),
      threads: threadCount(),
    },
    calibrationInputs(fit),
  );
  return quantiseModel(model, ranges, STANDIN_FLOAT_OUTPUTS);
}

async function* calibrationInputs(fit: StandinFit): AsyncGenerator<Float32Array> {
  const count = Math.min(CALIBRATION_COUNT, fit.images.imageCount);
  for (let index = 0; index < count; index += 1) yield drawBatch(fit, index, new Uint8Array(1));
}

function inputShape(count: number): number[] {
  return [count, 3, IMAGENET_IMAGE_SIZE, IMAGENET_IMAGE_SIZE];
}

function threadCount(): number {
  return Math.min(availableParallelism(), THREAD_COUNT_MAX);
}
