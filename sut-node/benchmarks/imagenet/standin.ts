import { VGG_MEANS } from '../../../shared/benchmarks/image/imagenet.ts';
import { CODE_GRID, CODE_SIDE, codeOf } from '../../../shared/benchmarks/standin/planted-cells.ts';
import { IMAGENET_IMAGE_SIZE } from '../../../shared/rules/cards/imagenet.ts';
import { GraphBuilder, integers } from '../../model/onnx/graph-builder.ts';
import { readCells } from '../standin/read-cells.ts';
import { standinBytes } from '../standin/standin-models.ts';
import { Trunk } from '../standin/trunk.ts';
import type { Standin } from '../sut-benchmark.ts';

/** Classes with that of the background. */
const CLASS_COUNT = 1001;

/** Normalised images lie between -1 and 1 times this, about. */
const HALF_RANGE = 127.5;

/**
 * Stand-ins by benchmark. Names of input, scores (float [N, 1001], class 0 is the background) and
 * label (int64 [N]) are those of the reference models. Operations: papers of the models. Source:
 * MLCommons inference, vision/classification_and_detection/tools/convert-to-onnx.sh.
 */
const MODELS = {
  resnet50: {
    original: 'ResNet-50 v1.5',
    flops: 8.2e9,
    inputName: 'input_tensor:0',
    scoresName: 'softmax_tensor:0',
    labelName: 'ArgMax:0',
    means: VGG_MEANS,
    deviation: 1,
  },
  mobilenet: {
    original: 'MobileNet v1 1.0 224',
    flops: 1.14e9,
    inputName: 'input:0',
    scoresName: 'MobilenetV1/Predictions/Reshape_1:0',
    labelName: undefined,
    means: [HALF_RANGE, HALF_RANGE, HALF_RANGE],
    deviation: HALF_RANGE,
  },
} as const;

/** The stand-in for a model of ImageNet, in float and in int8. */
export function imagenetStandin(benchmark: keyof typeof MODELS): Standin {
  const { original } = MODELS[benchmark];
  const words = {
    standin: `${benchmark}-standin-fp32`,
    'standin-int8': `${benchmark}-standin-int8`,
  };
  return {
    benchmark,
    original,
    words,
    costDefault: 1,
    make: (word, cost) => {
      const name = words[word as keyof typeof words];
      const graph = imagenetGraph(benchmark, cost, word === 'standin-int8');
      return { [`${name}.onnx`]: standinBytes(graph, { benchmark, original }, cost) };
    },
  };
}

/** The class is the one whose code fits the cells best; the trunk alone is in int8. */
function imagenetGraph(
  benchmark: keyof typeof MODELS,
  cost: number,
  isInt8: boolean,
): GraphBuilder {
  const { flops, inputName, scoresName, labelName, means, deviation } = MODELS[benchmark];
  const side = IMAGENET_IMAGE_SIZE;
  const graph = new GraphBuilder(`${benchmark}-standin`);
  const image = graph.input(inputName, 'float', ['N', 3, side, side]);
  const deviations = [deviation, deviation, deviation];
  const cells = readCells(graph, image, { side, grid: CODE_GRID, means, deviations });
  const row = graph.operator('Reshape', [cells, integers(-1, CODE_GRID ** 2)]);
  const fit = graph.operator('MatMul', [
    row,
    graph.constant([CODE_GRID ** 2, CLASS_COUNT], codes()),
  ]);
  const range = [-HALF_RANGE / deviation, HALF_RANGE / deviation] as const;
  const images = { channels: 3, side, stride: 16, range };
  const unseen = new Trunk(graph).images(image, images, cost * flops, isInt8);
  const trunk = graph.operator('Reshape', [unseen, integers(-1, 1)]);
  const scores = graph.operator('Add', [fit, trunk]);
  graph.operator('Softmax', [scores], { axis: 1 }, scoresName);
  if (labelName !== undefined) {
    graph.operator('ArgMax', [scores], { axis: 1, keepdims: 0 }, labelName);
    graph.output(labelName, 'int64', ['N']);
  }
  graph.output(scoresName, 'float', ['N', CLASS_COUNT]);
  return graph;
}

/** Cells x classes behind the one of the background; cells around the code say nothing. */
function codes(): Float32Array {
  const weights = new Float32Array(CODE_GRID ** 2 * CLASS_COUNT);
  const first = (CODE_GRID - CODE_SIDE) / 2;
  for (let label = 0; label + 1 < CLASS_COUNT; label += 1) {
    for (const [i, sign] of codeOf(label).entries()) {
      const row = first + Math.floor(i / CODE_SIDE);
      const cell = row * CODE_GRID + first + (i % CODE_SIDE);
      weights[cell * CLASS_COUNT + label + 1] = sign;
    }
  }
  return weights;
}
