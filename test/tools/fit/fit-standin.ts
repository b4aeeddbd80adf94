import { FILES_AT_ONCE, forEachIndex } from '../../../shared/base/async.ts';
import {
  decodeImagenetJpeg,
  IMAGENET_PREPARATIONS,
  normaliseImagenet,
} from '../../../shared/benchmarks/image/imagenet.ts';
import { makeStandinImage } from '../../../shared/benchmarks/standin/standin-image.ts';
import { STANDIN_CLASS_COUNT } from '../../../shared/benchmarks/standin/standin-sets.ts';
import {
  IMAGENET_ELEMENTS,
  IMAGENET_IMAGE_SIZE,
  STANDIN_TRAINING_SET,
} from '../../../shared/rules/cards/imagenet.ts';
import {
  addBranchFeatures,
  IMAGE_SHAPE,
  STANDIN_FEATURE_COUNT,
  STANDIN_FEATURES_NAME,
  STANDIN_FLOAT_OUTPUTS,
  STANDINS,
  type StandinBenchmark,
  standinModel,
} from '../../../sut-node/benchmarks/imagenet/standin-graph.ts';
import { GraphBuilder } from '../../../sut-node/model/onnx/graph-builder.ts';
import { loadOnnxRuntime, type OnnxRuntime } from '../../../sut-node/model/onnx/onnxruntime.ts';
import { tensorsToQuantise } from '../../../sut-node/model/onnx/quantise.ts';
import { calibrate } from './calibrate.ts';
import { fitRidge, type LabelledFeatures } from './ridge.ts';

/**
 * Weight of the penalty on large weights. Chosen on images of the training seed that are not fitted on, so the
 * evaluation set stays unseen.
 */
const RIDGE_STRENGTH = 0.3;

/** Images in one call of ONNX Runtime. */
const BATCH_SIZE = 25;

/** Images that the ranges of activations are taken from; more change nothing that can be measured. */
const CALIBRATION_COUNT = 24;

/** Fitted numbers of a stand-in, in the order of its file (sut-node: `fittedFile`). Half a minute on two cores. */
export async function fitStandin(benchmark: StandinBenchmark): Promise<Float32Array> {
  const runtime = await loadOnnxRuntime();
  const { weights, biases } = fitRidge(await computeFeatures(runtime, benchmark), RIDGE_STRENGTH);
  const model = standinModel(benchmark, 1, { weights, biases });
  const tensors = tensorsToQuantise(model, STANDIN_FLOAT_OUTPUTS);
  const { inputName } = STANDINS[benchmark];
  const calibration = { model, tensors, inputName, inputShape: inputShape(1) };
  const ranges = await calibrate(runtime, calibration, calibrationInputs(benchmark));
  const bounds = [...tensors].flatMap((name) => {
    const range = ranges.get(name);
    return range === undefined ? [] : [range.low, range.high];
  });
  return Float32Array.of(...weights, ...biases, ...bounds);
}

/** Runs the training images through the part of the branch that is not fitted, pre-processed as when it serves. */
async function computeFeatures(
  { InferenceSession, Tensor }: OnnxRuntime,
  benchmark: StandinBenchmark,
): Promise<LabelledFeatures> {
  const { sampleCount } = STANDIN_TRAINING_SET;
  const featureCount = STANDIN_FEATURE_COUNT;
  const features = new Float32Array(sampleCount * featureCount);
  const labels = new Uint8Array(sampleCount);
  const session = await InferenceSession.create(buildStandinFeatures(benchmark));
  for (let first = 0; first < sampleCount; first += BATCH_SIZE) {
    const count = Math.min(BATCH_SIZE, sampleCount - first);
    const input = await drawBatch(benchmark, first, labels.subarray(first, first + count));
    const feed = new Tensor('float32', input, inputShape(count));
    const outputs = await session.run({ [STANDINS[benchmark].inputName]: feed });
    features.set(outputs[STANDIN_FEATURES_NAME]?.data as Float32Array, first * featureCount);
  }
  await session.release();
  return { features, featureCount, labels, classCount: STANDIN_CLASS_COUNT };
}

/** The part of the branch that is not fitted, as a model of its own for the fit. */
function buildStandinFeatures(benchmark: StandinBenchmark): Uint8Array {
  const graph = new GraphBuilder('standin-features');
  addBranchFeatures(graph, graph.input(STANDINS[benchmark].inputName, 'float', IMAGE_SHAPE));
  graph.output(STANDIN_FEATURES_NAME, 'float', [IMAGE_SHAPE[0], STANDIN_FEATURE_COUNT]);
  return graph.build('Features of a stand-in of longhaul.');
}

/** The model's input for the images from index `first` on, one for each element of `labels`, which it fills. */
async function drawBatch(
  benchmark: StandinBenchmark,
  first: number,
  labels: Uint8Array,
): Promise<Float32Array> {
  const { interpolation, normalisation } = IMAGENET_PREPARATIONS[benchmark];
  const input = new Float32Array(labels.length * IMAGENET_ELEMENTS);
  await forEachIndex(labels.length, FILES_AT_ONCE, async (i) => {
    const { label, jpeg } = await makeStandinImage(STANDIN_TRAINING_SET, first + i);
    labels[i] = label;
    const rgb = await decodeImagenetJpeg(jpeg, interpolation);
    const target = input.subarray(i * IMAGENET_ELEMENTS, (i + 1) * IMAGENET_ELEMENTS);
    normaliseImagenet(rgb, target, normalisation, 'nchw');
  });
  return input;
}

async function* calibrationInputs(benchmark: StandinBenchmark): AsyncGenerator<Float32Array> {
  for (let index = 0; index < CALIBRATION_COUNT; index += 1) {
    yield drawBatch(benchmark, index, new Uint8Array(1));
  }
}

function inputShape(count: number): number[] {
  return [count, 3, IMAGENET_IMAGE_SIZE, IMAGENET_IMAGE_SIZE];
}
