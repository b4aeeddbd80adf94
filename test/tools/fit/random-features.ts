import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import type { GraphBuilder, TensorName } from '../../../sut-node/model/onnx/graph-builder.ts';

/** A linear classifier: scores = features x weights + biases; the largest score wins. */
export interface LinearClassifier {
  /** featureCount x classCount, row-major. */
  readonly weights: Float32Array;
  /** classCount. */
  readonly biases: Float32Array;
}

const FILTER_SIZE = 5;
const FILTER_COUNT = 32;
/**
 * Shifts of the filters' results, small beside the results themselves: they make the filters differ
 * more.
 */
const FILTER_BIAS_DEVIATION = 0.1;

/** Keeps an image of one single colour from being divided by zero. */
const VARIANCE_MIN = 1e-4;

/** Pixels of a side that one place of the features covers. */
const PIXELS_PER_PLACE = 8;

// Features of an image by random filters that never change, which is enough for a linear classifier
// to tell ten digits apart and makes the fit one system of equations:
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
  // Absolute value: a dark digit on light ground gives the same edges as a light one on dark
  // ground.
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
 * Filters of random weights with the mean 0 each, so that even areas give 0 whatever their
 * brightness. The deviation keeps the results of the same size as the input (He initialisation).
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
