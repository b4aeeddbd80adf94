import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import { STANDIN_INTENSITIES } from '../../../shared/benchmarks/volume/standin-volume.ts';
import { WINDOW_SIDE } from '../../../shared/benchmarks/volume/volume.ts';
import { GraphBuilder, type TensorName } from '../../model/onnx/graph-builder.ts';

// A stand-in has the inputs and outputs of the model that it stands in for, and its layers, of fewer channels:
//
//   window ──► trunk: 3D U-Net, random weights ──► 3 scores ──► tanh ──► x 1e-5 ──┐
//     └─────► branch: mean of 5 x 5 x 5, distance to each class's intensity ─────(+)──► scores
//
// The trunk makes the cost and no result can be had without it; the branch solves the task of the volumes that longhaul
// draws.

/** Raise with every change of the graph: no model of the old way is found in the cache then. */
export const VOLUME_GRAPH_REVISION = 1;

/** Names of the reference model's input and output. */
export const WINDOW_INPUT = 'input';
export const SCORES_OUTPUT = 'output';

/** Scores per voxel: everything else, kidney, tumour. */
export const VOXEL_CLASSES = 3;

/** Channels of the reference by level, the last one at the bottom. Source: 3d-unet-kits19, its UNet3D. */
const CHANNELS = [32, 64, 128, 256, 320, 320];

const TRUNK_SEED = 32;
/** The trunk's share of the scores: far below what tells two classes apart. */
const TRUNK_SHARE = 1e-5;
/** Voxels of a side that the branch takes the mean of. */
const SMOOTHING = 5;

const BATCH_AXIS = 'N';
const SIDES = [WINDOW_SIDE, WINDOW_SIDE, WINDOW_SIDE];

/** @param cost Share of the reference's multiplications, 0.01 to 1. */
export function standinUnet(cost: number): Uint8Array {
  const graph = new GraphBuilder('3d-unet-standin');
  const window = graph.input(WINDOW_INPUT, 'float', [BATCH_AXIS, 1, ...SIDES]);
  const known = addBands(graph, window);
  const unseen = new Trunk(graph, Math.sqrt(cost)).scores(window);
  graph.operator('Add', [known, unseen], {}, SCORES_OUTPUT);
  graph.output(SCORES_OUTPUT, 'float', [BATCH_AXIS, VOXEL_CLASSES, ...SIDES]);
  return graph.build(
    'STAND-IN for the 3D U-Net of KiTS19, made by longhaul: its inputs, outputs and layers, but random weights, and a small ' +
      'branch that segments volumes which longhaul draws itself. Neither this model nor its accuracy is one of MLPerf.',
    { longhaul_benchmark: '3d-unet', longhaul_role: 'stand-in', longhaul_cost: String(cost) },
  );
}

/** Scores that are largest for the class whose intensity is nearest: of x and m, 2 x m - m², which is x² - (x - m)². */
function addBands(graph: GraphBuilder, window: TensorName): TensorName {
  let mean = window;
  for (let axis = 0; axis < SIDES.length; axis += 1) {
    const kernel = SIDES.map((_, i) => (i === axis ? SMOOTHING : 1));
    const padding = kernel.map((length) => (length - 1) / 2);
    const weights = new Float32Array(SMOOTHING).fill(1 / SMOOTHING);
    mean = graph.operator('Conv', [mean, graph.constant([1, 1, ...kernel], weights)], {
      kernel_shape: kernel,
      pads: [...padding, ...padding],
    });
  }
  const weights = Float32Array.from(STANDIN_INTENSITIES, (intensity) => 2 * intensity);
  const biases = Float32Array.from(STANDIN_INTENSITIES, (intensity) => -(intensity ** 2));
  return graph.operator(
    'Conv',
    [
      mean,
      graph.constant([VOXEL_CLASSES, 1, 1, 1, 1], weights),
      graph.constant([VOXEL_CLASSES], biases),
    ],
    { kernel_shape: [1, 1, 1] },
  );
}

/** A tensor and its channels. */
interface Features {
  readonly name: TensorName;
  readonly channels: number;
}

/** The layers of the reference, with weights from one random sequence (He initialisation). */
class Trunk {
  readonly #graph: GraphBuilder;
  readonly #channels: readonly number[];
  readonly #random = new SeededRandom(TRUNK_SEED, 0);

  /** @param width Factor on the channels of every level. */
  constructor(graph: GraphBuilder, width: number) {
    this.#graph = graph;
    this.#channels = CHANNELS.map((channels) => Math.max(1, Math.round(channels * width)));
  }

  scores(window: TensorName): TensorName {
    let x: Features = { name: window, channels: 1 };
    const levels = this.#channels.map((channels, level) => {
      x = this.#block(x, channels, level === 0 ? 1 : 2);
      return x;
    });
    for (const skipped of levels.slice(0, -1).reverse()) {
      const { channels } = skipped;
      const wider = this.#convolution('ConvTranspose', x, channels, 2, 2);
      const joined = this.#graph.operator('Concat', [wider.name, skipped.name], { axis: 1 });
      x = this.#block({ name: joined, channels: 2 * channels }, channels, 1);
    }
    const { name } = this.#convolution('Conv', x, VOXEL_CLASSES, 1, 1);
    const share = this.#graph.constant([], Float32Array.of(TRUNK_SHARE));
    return this.#graph.operator('Mul', [this.#graph.operator('Tanh', [name]), share]);
  }

  /** Two convolutions of 3 x 3 x 3, each normalised per channel and cut off at zero. */
  #block(input: Features, channels: number, stride: number): Features {
    const first = this.#normalised(this.#convolution('Conv', input, channels, 3, stride));
    return this.#normalised(this.#convolution('Conv', first, channels, 3, 1));
  }

  #normalised({ name, channels }: Features): Features {
    const even = this.#graph.operator('InstanceNormalization', [
      name,
      this.#graph.constant([channels], new Float32Array(channels).fill(1)),
      this.#graph.constant([channels], new Float32Array(channels)),
    ]);
    return { name: this.#graph.operator('Relu', [even]), channels };
  }

  #convolution(
    operator: 'Conv' | 'ConvTranspose',
    input: Features,
    channels: number,
    kernel: number,
    stride: number,
  ): Features {
    const size = input.channels * kernel ** 3;
    const deviation = Math.sqrt(2 / size);
    const weights = new Float32Array(size * channels);
    for (let i = 0; i < weights.length; i += 1) {
      weights[i] = this.#random.nearlyNormal() * deviation;
    }
    const ends = operator === 'Conv' ? [channels, input.channels] : [input.channels, channels];
    const three = (value: number): number[] => [value, value, value];
    // Of 3 voxels one on each side: lengths stay, or halve.
    const padding = kernel === 3 ? 1 : 0;
    const name = this.#graph.operator(
      operator,
      [input.name, this.#graph.constant([...ends, ...three(kernel)], weights)],
      {
        kernel_shape: three(kernel),
        strides: three(stride),
        pads: [...three(padding), ...three(padding)],
      },
    );
    return { name, channels };
  }
}
