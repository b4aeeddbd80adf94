import { CLASS_COUNT } from '../../../shared/benchmarks/digits/digit-sets.ts';
import { IMAGE_SIZE } from '../../../shared/rules/rows/digits.ts';
import { GraphBuilder, type TensorName } from '../../model/onnx/graph-builder.ts';
import { addRandomFeatures, featureCountOf } from '../fitting/random-features.ts';
import type { LinearClassifier } from '../fitting/ridge.ts';

// The model, from the image to the label. Only the last layer is fitted; the filters of the features never change.
//
//   image [N, 3, 48, 48]
//     -> brightness [N, 1, 48, 48]
//     -> random features (fitting/random-features.ts)               [N, 1152]
//     -> fitted linear classifier                                    logits [N, 10]
//     -> largest                                                     label [N]

/** Numbers per image that the fitted layer sees: 32 filters at 6 x 6 places. */
export const FEATURE_COUNT: number = featureCountOf(IMAGE_SIZE);

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

/** Weights of red, green and blue in brightness (ITU-R BT.601, as in JPEG). */
const BRIGHTNESS_WEIGHTS = [0.299, 0.587, 0.114] as const;

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
  const image = graph.input(INPUT_NAME, 'float', [BATCH_AXIS, ...SAMPLE_SHAPE]);
  const brightness = graph.operator(
    'Conv',
    [image, graph.constant([1, 3, 1, 1], Float32Array.from(BRIGHTNESS_WEIGHTS))],
    { kernel_shape: [1, 1] },
  );
  return addRandomFeatures(graph, brightness, FILTER_SEED, FEATURES_OUTPUT_NAME);
}
