import { CLASS_COUNT, IMAGE_SIZE } from '../../../shared/digits/digit-sets.ts';
import { SeededRandom } from '../../../shared/digits/seeded-random.ts';
import { GraphBuilder, type TensorName } from '../../onnx/graph-builder.ts';
import type { LinearClassifier } from './ridge.ts';

// The model, from the image to the label. Only the last layer is fitted; the convolutions have random
// weights that never change, which is enough for ten digits and makes the fit one system of equations.
//
//   image [N, 3, 48, 48]
//     -> brightness [N, 1, 48, 48], brought to mean 0 and deviation 1 per image
//     -> 32 random 5x5 filters, absolute value, largest of 2x2      [N, 32, 24, 24]
//     -> 32 random 5x5 filters, negative cut off, mean of 4x4       [N, 32, 6, 6] = 1152 features
//     -> fitted linear classifier                                    logits [N, 10]
//     -> largest                                                     label [N]

/** Numbers per image that the fitted layer sees: 32 filters at 6 x 6 places. */
export const FEATURE_COUNT = 1152;

/** Name of the model's input: float32, {@link SAMPLE_SHAPE} per sample, -1 to 1. */
export const INPUT_NAME = 'image';

/** Name of the model's output that the response is made of: int64, the class. */
export const LABEL_OUTPUT_NAME = 'label';

/** Name of the features, the only output of {@link buildFeatureModel}. */
export const FEATURES_OUTPUT_NAME = 'features';

/** Name of the model's other output: the ten scores, for people who look closer. */
const LOGITS_OUTPUT_NAME = 'logits';

/** Shape of one sample: channels, height, width. */
export const SAMPLE_SHAPE: readonly number[] = [3, IMAGE_SIZE, IMAGE_SIZE];

/** Name of the model in the file, in logs and on the wire: nobody shall take it for a model of MLPerf. */
export const MODEL_NAME = 'longhaul-digits-example';

const DESCRIPTION =
  'Example model of longhaul: reads the ten digits that longhaul draws itself. ' +
  'Fitted by longhaul on generated images. Not a model of MLPerf.';

/** Axis whose length is free. */
const BATCH_AXIS = 'N';

/** Seed of the random filters. Any would do; this one gives the accuracy that the tests expect. */
const FILTER_SEED = 3;

const FILTER_SIZE = 5;
const FILTER_COUNT = 32;
/** Shifts of the filters' results, small beside the results themselves: they make the filters differ more. */
const FILTER_BIAS_DEVIATION = 0.1;

/** Weights of red, green and blue in brightness (ITU-R BT.601, as in JPEG). */
const BRIGHTNESS_WEIGHTS = [0.299, 0.587, 0.114] as const;

/** Keeps an image of one single colour from being divided by zero. */
const VARIANCE_MIN = 1e-4;

/** The part that turns images into features, as a model of its own for the fit; its output is `features`. */
export function buildFeatureModel(): Uint8Array {
  const graph = new GraphBuilder(`${MODEL_NAME}-features`);
  addFeatures(graph);
  graph.output(FEATURES_OUTPUT_NAME, 'float', [BATCH_AXIS, FEATURE_COUNT]);
  return graph.build(DESCRIPTION);
}

/** The whole model with its fitted classifier. */
export function buildDigitsModel({ weights, biases }: LinearClassifier): Uint8Array {
  const graph = new GraphBuilder(MODEL_NAME);
  const features = addFeatures(graph);
  const logits = graph.operator(
    'Gemm',
    [
      features,
      graph.constant([FEATURE_COUNT, CLASS_COUNT], weights),
      graph.constant([CLASS_COUNT], biases),
    ],
    {},
    LOGITS_OUTPUT_NAME,
  );
  graph.operator('ArgMax', [logits], { axis: 1, keepdims: 0 }, LABEL_OUTPUT_NAME);
  graph.output(LOGITS_OUTPUT_NAME, 'float', [BATCH_AXIS, CLASS_COUNT]);
  graph.output(LABEL_OUTPUT_NAME, 'int64', [BATCH_AXIS]);
  return graph.build(DESCRIPTION, { longhaul_benchmark: 'digits', longhaul_role: 'example' });
}

function addFeatures(graph: GraphBuilder): TensorName {
  const random = new SeededRandom(FILTER_SEED, 0);
  const image = graph.input(INPUT_NAME, 'float', [BATCH_AXIS, ...SAMPLE_SHAPE]);
  const brightness = graph.operator(
    'Conv',
    [image, graph.constant([1, 3, 1, 1], Float32Array.from(BRIGHTNESS_WEIGHTS))],
    { kernel_shape: [1, 1] },
  );
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
  return graph.operator('Flatten', [means], { axis: 1 }, FEATURES_OUTPUT_NAME);
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
