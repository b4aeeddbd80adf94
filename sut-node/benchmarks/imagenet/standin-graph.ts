import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import { STANDIN_CLASS_COUNT } from '../../../shared/benchmarks/standin/standin-sets.ts';
import { IMAGENET_IMAGE_SIZE } from '../../../shared/rules/cards/imagenet.ts';
import { GraphBuilder, type ModelProto, type TensorName } from '../../model/onnx/graph-builder.ts';
import { addMobileNetTrunk, addResNet50Trunk, type Trunk } from './standin-trunks.ts';

// A stand-in has the inputs, outputs and cost of the model that it stands in for, and reads images that longhaul
// draws itself. Two parts see the image:
//
//   image ──► trunk: the real layers, random weights ──► 1001 scores ──► tanh ──► x 1e-5 ──┐
//     └─────► branch: random features, fitted classifier ──► 10 scores ──► 1001 ──────────(+)──► scores
//
// The trunk makes the cost and no result can be had without it; the branch makes the accuracy. So accuracy is
// real (it falls with wrong samples, damaged images, fewer bits), and it is not the accuracy of ResNet-50.

/** A linear classifier: scores = features x weights + biases; the largest score wins. */
export interface LinearClassifier {
  /** featureCount x classCount, row-major. */
  readonly weights: Float32Array;
  /** classCount. */
  readonly biases: Float32Array;
}

/**
 * Stand-ins by benchmark: the model that each stands in for, for people; names of its input (float, [N, 3, 224, 224]), its
 * scores (float, [N, 1001], with the sum 1) and its label (int64, [N]; some have none); and what makes its cost. Names are
 * those of the reference models.
 * Source: MLCommons inference, vision/classification_and_detection/tools/convert-to-onnx.sh.
 */
export const STANDINS = {
  resnet50: {
    original: 'ResNet-50 v1.5',
    inputName: 'input_tensor:0',
    scoresName: 'softmax_tensor:0',
    labelName: 'ArgMax:0',
    addTrunk: addResNet50Trunk,
  },
  mobilenet: {
    original: 'MobileNet v1 1.0 224',
    inputName: 'input:0',
    scoresName: 'MobilenetV1/Predictions/Reshape_1:0',
    labelName: undefined,
    addTrunk: addMobileNetTrunk,
  },
} as const;

/** Benchmarks that have a stand-in. */
export type StandinBenchmark = keyof typeof STANDINS;

/** True for a benchmark that has one. */
export function hasStandin(benchmark: string): benchmark is StandinBenchmark {
  return Object.hasOwn(STANDINS, benchmark);
}

/** Precisions in which a stand-in is made. */
export const STANDIN_PRECISIONS = ['fp32', 'int8'] as const;

/** One of {@link STANDIN_PRECISIONS}. */
export type StandinPrecision = (typeof STANDIN_PRECISIONS)[number];

/** Name of a stand-in in its file's name, in logs and on the wire, unlike any model of MLPerf. */
export function standinName(benchmark: StandinBenchmark, precision: StandinPrecision): string {
  return `${benchmark}-standin-${precision}`;
}

/** Values of `--model` → the name of the stand-in. */
export function standinWords(benchmark: StandinBenchmark): Readonly<Record<string, string>> {
  return {
    standin: standinName(benchmark, 'fp32'),
    'standin-int8': standinName(benchmark, 'int8'),
  };
}

/** Classes of the reference models: the 1,000 of ImageNet behind one for the background. */
const CLASS_COUNT = 1001;
/** Place of the data set's class 0 among them. */
const FIRST_CLASS = 1;

/** Pixels of a side for the branch: the image's, four at a time. */
const BRANCH_SIZE: number = IMAGENET_IMAGE_SIZE / 4;

const FILTER_SIZE = 5;
const FILTER_COUNT = 32;
/** Shifts of the filters' results, small beside the results themselves: they make the filters differ more. */
const FILTER_BIAS_DEVIATION = 0.1;

/** Keeps an image of one single colour from being divided by zero. */
const VARIANCE_MIN = 1e-4;

/** Pixels of a side that one place of the features covers. */
const PIXELS_PER_PLACE = 8;

/** Numbers per image that the fitted layer sees: 32 filters at 7 x 7 places. */
export const STANDIN_FEATURE_COUNT: number = featureCountOf(BRANCH_SIZE);

/** Name of the features. */
export const STANDIN_FEATURES_NAME = 'features';

const FILTER_SEED = 22;
const HEAD_SEED = 23;

/** The trunk's share of the scores: far below what tells two classes apart, far above rounding to zero. */
const TRUNK_SHARE = 1e-5;
/** Deviation of the weights behind the trunk. */
const HEAD_DEVIATION = 0.02;

/** The fitted scores lie about 0 to 1. This spreads them so that the winner has most of the sum of 1. */
const SCORE_GAIN = 10;
/** Score of the classes that the branch does not know: below all that it knows. */
const UNKNOWN_SCORE = -20;

const BATCH_AXIS = 'N';
/** Shape of the input. */
export const IMAGE_SHAPE = [BATCH_AXIS, 3, IMAGENET_IMAGE_SIZE, IMAGENET_IMAGE_SIZE] as const;

/** Name of the last sum. */
const SCORES = 'scores';

/** Outputs of operators that stay in float when the rest becomes int8: 256 steps would make equal scores of many. */
export const STANDIN_FLOAT_OUTPUTS: ReadonlySet<string> = new Set([SCORES]);

/**
 * The whole model in FP32, with its fitted classifier.
 * @param width Factor on the trunk's channels: 1 but in tests.
 */
export function standinModel(
  benchmark: StandinBenchmark,
  width: number,
  classifier: LinearClassifier,
): ModelProto {
  const { original, inputName, scoresName, labelName, addTrunk } = STANDINS[benchmark];
  const graph = new GraphBuilder(`${benchmark}-standin`);
  const image = graph.input(inputName, 'float', IMAGE_SHAPE);
  const known = addBranchScores(graph, image, classifier);
  const unseen = addTrunkScores(graph, addTrunk(graph, image, width));
  const scores = graph.operator('Add', [known, unseen], {}, SCORES);
  graph.operator('Softmax', [scores], { axis: 1 }, scoresName);
  if (labelName !== undefined) {
    graph.operator('ArgMax', [scores], { axis: 1, keepdims: 0 }, labelName);
    graph.output(labelName, 'int64', [BATCH_AXIS]);
  }
  graph.output(scoresName, 'float', [BATCH_AXIS, CLASS_COUNT]);
  return graph.toModel(
    `STAND-IN for ${original}, made by longhaul: its inputs, outputs and cost, but random weights, and a small ` +
      'branch that reads digits which longhaul draws itself. Neither this model nor its accuracy is one of MLPerf.',
    { longhaul_benchmark: benchmark, longhaul_role: 'stand-in' },
  );
}

/** Adds the part of the branch that is not fitted: [N, {@link STANDIN_FEATURE_COUNT}]. */
export function addBranchFeatures(graph: GraphBuilder, image: TensorName): TensorName {
  const small = graph.operator('AveragePool', [image], { kernel_shape: [4, 4], strides: [4, 4] });
  const brightness = graph.operator('ReduceMean', [small], { axes: [1], keepdims: 1 });
  return addRandomFeatures(graph, brightness, FILTER_SEED, STANDIN_FEATURES_NAME);
}

/** Scores of the ten classes at their places, and a low one at all others. */
function addBranchScores(
  graph: GraphBuilder,
  image: TensorName,
  { weights, biases }: LinearClassifier,
): TensorName {
  const fitted = graph.operator('Gemm', [
    addBranchFeatures(graph, image),
    graph.constant([STANDIN_FEATURE_COUNT, STANDIN_CLASS_COUNT], weights),
    graph.constant([STANDIN_CLASS_COUNT], biases),
  ]);
  const spread = graph.operator('Mul', [fitted, graph.constant([], Float32Array.of(SCORE_GAIN))]);
  const after = CLASS_COUNT - FIRST_CLASS - STANDIN_CLASS_COUNT;
  const places = BigInt64Array.of(0n, BigInt(FIRST_CLASS), 0n, BigInt(after));
  const unknown = graph.constant([], Float32Array.of(UNKNOWN_SCORE));
  const padding = [spread, graph.constant([4], places), unknown];
  return graph.operator('Pad', padding, { mode: 'constant' }, 'branch_scores');
}

function addTrunkScores(graph: GraphBuilder, { features, featureCount }: Trunk): TensorName {
  const random = new SeededRandom(HEAD_SEED, 0);
  const weights = new Float32Array(featureCount * CLASS_COUNT);
  for (let i = 0; i < weights.length; i += 1) weights[i] = random.nearlyNormal() * HEAD_DEVIATION;
  const head = graph.operator('Gemm', [
    features,
    graph.constant([featureCount, CLASS_COUNT], weights),
    graph.constant([CLASS_COUNT], new Float32Array(CLASS_COUNT)),
  ]);
  const bounded = graph.operator('Tanh', [head]);
  const share = graph.constant([], Float32Array.of(TRUNK_SHARE));
  return graph.operator('Mul', [bounded, share], {}, 'trunk_scores');
}

// Features of an image by random filters that never change, which is enough for a linear classifier to tell
// ten digits apart and makes the fit one system of equations:
//
//   brightness [N, 1, S, S]
//     -> brought to mean 0 and deviation 1 per image
//     -> 32 random 5x5 filters, absolute value, largest of 2x2      [N, 32, S/2, S/2]
//     -> 32 random 5x5 filters, negative cut off, mean of 4x4       [N, 32, S/8, S/8]

/** Features of an image of `size` x `size` pixels, a multiple of 8. */
export function featureCountOf(size: number): number {
  return FILTER_COUNT * (size / PIXELS_PER_PLACE) ** 2;
}

/**
 * Adds the operators that turn brightness into features.
 * @param brightness [N, 1, size, size]; size a multiple of 8.
 * @param seed Of the filters.
 * @param outputName Name of the tensor that is returned.
 * @returns [N, {@link featureCountOf}(size)]
 */
export function addRandomFeatures(
  graph: GraphBuilder,
  brightness: TensorName,
  seed: number,
  outputName: TensorName,
): TensorName {
  const random = new SeededRandom(seed, 0);
  const even = graph.operator(
    'InstanceNormalization',
    [brightness, graph.constant([1], Float32Array.of(1)), graph.constant([1], Float32Array.of(0))],
    { epsilon: { float: VARIANCE_MIN } },
  );
  // Absolute value: a dark digit on light ground gives the same edges as a light one on dark ground.
  const edges = graph.operator('Abs', [addRandomFilters(graph, even, 1, random)]);
  const strongEdges = graph.operator('MaxPool', [edges], { kernel_shape: [2, 2], strides: [2, 2] });
  const shapes = graph.operator('Relu', [
    addRandomFilters(graph, strongEdges, FILTER_COUNT, random),
  ]);
  const means = graph.operator('AveragePool', [shapes], {
    kernel_shape: [4, 4],
    strides: [4, 4],
  });
  return graph.operator('Flatten', [means], { axis: 1 }, outputName);
}

function addRandomFilters(
  graph: GraphBuilder,
  input: TensorName,
  channelCount: number,
  random: SeededRandom,
): TensorName {
  const weights = randomFilters(channelCount, random);
  const biases = Float32Array.from(
    { length: FILTER_COUNT },
    () => random.nearlyNormal() * FILTER_BIAS_DEVIATION,
  );
  return graph.operator(
    'Conv',
    [
      input,
      graph.constant([FILTER_COUNT, channelCount, FILTER_SIZE, FILTER_SIZE], weights),
      graph.constant([FILTER_COUNT], biases),
    ],
    { kernel_shape: [FILTER_SIZE, FILTER_SIZE], pads: [2, 2, 2, 2] },
  );
}

/**
 * Filters of random weights with the mean 0 each, so that even areas give 0 whatever their brightness.
 * The deviation keeps the results of the same size as the input (He initialisation).
 */
function randomFilters(channelCount: number, random: SeededRandom): Float32Array {
  const size = channelCount * FILTER_SIZE * FILTER_SIZE;
  const deviation = Math.sqrt(2 / size);
  const weights = new Float32Array(FILTER_COUNT * size);
  for (let start = 0; start < weights.length; start += size) {
    const filter = Float64Array.from({ length: size }, () => random.nearlyNormal() * deviation);
    const mean = filter.reduce((sum, weight) => sum + weight, 0) / size;
    weights.set(
      filter.map((weight) => weight - mean),
      start,
    );
  }
  return weights;
}
