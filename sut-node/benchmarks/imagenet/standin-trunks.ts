import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import type { GraphBuilder, TensorName } from '../../model/onnx/graph-builder.ts';

// The cost of a stand-in: the layers of the model that it stands in for, with random weights. Batch
// normalisation is folded into the convolutions, as ONNX Runtime would do it. Weights keep the size of the results
// (He initialisation) and are made of integers, products and one square root, so that every machine makes the
// same bytes.

/** Adds the layers up to the mean over the image. */
export type AddTrunk = (graph: GraphBuilder, image: TensorName, width: number) => Trunk;

/** The end of a trunk. */
export interface Trunk {
  /** [N, featureCount] */
  readonly features: TensorName;
  readonly featureCount: number;
}

/** Seed of the weights. */
const TRUNK_SEED = 21;

/** Deviation of the shifts, small beside the results themselves. */
const BIAS_DEVIATION = 0.01;

/**
 * Scales pixels of -128 to 127 to about 1, and barely changes those of -1 to 1: the sizes of the results
 * matter only as far as they must not overflow.
 */
const FIRST_GAIN = 1 / 64;

/** Sizes of a convolution. Padded so that the image keeps its size but for the stride. */
interface Convolution {
  readonly inputs: number;
  readonly outputs: number;
  readonly kernel: number;
  readonly stride: number;
  /** 1, or `inputs` for one filter per channel. */
  readonly groups?: number;
  /** Factor on the size of the results. */
  readonly gain?: number;
}

/** Layers with weights from one random sequence. */
class TrunkBuilder {
  readonly #graph: GraphBuilder;
  readonly #random = new SeededRandom(TRUNK_SEED, 0);

  constructor(graph: GraphBuilder) {
    this.#graph = graph;
  }

  convolution(input: TensorName, convolution: Convolution): TensorName {
    const { inputs, outputs, kernel, stride, groups = 1, gain = 1 } = convolution;
    const size = (inputs / groups) * kernel * kernel;
    const before = (kernel - 1) >> 1;
    return this.#graph.operator(
      'Conv',
      [
        input,
        this.#graph.constant(
          [outputs, inputs / groups, kernel, kernel],
          this.#weights(outputs * size, gain * Math.sqrt(2 / size)),
        ),
        this.#graph.constant([outputs], this.#weights(outputs, BIAS_DEVIATION)),
      ],
      {
        kernel_shape: [kernel, kernel],
        strides: [stride, stride],
        pads: [before, before, before, before],
        group: groups,
      },
    );
  }

  relu(input: TensorName): TensorName {
    return this.#graph.operator('Relu', [input]);
  }

  /** Mean over the image. */
  end(input: TensorName, featureCount: number): Trunk {
    const mean = this.#graph.operator('GlobalAveragePool', [input]);
    return { features: this.#graph.operator('Flatten', [mean], { axis: 1 }), featureCount };
  }

  #weights(count: number, deviation: number): Float32Array {
    const weights = new Float32Array(count);
    for (let i = 0; i < count; i += 1) weights[i] = this.#random.nearlyNormal() * deviation;
    return weights;
  }
}

/** Channels, blocks and first stride of ResNet-50's four stages; a block gives four times the channels. */
const RESNET50_STAGES = [
  [64, 3, 1],
  [128, 4, 2],
  [256, 6, 2],
  [512, 3, 2],
] as const;

/**
 * ResNet-50 v1.5: the stride of a stage is in the 3x3 convolution of its first block.
 * @param width Factor on all channels: 1 is the model itself, 1/16 a toy.
 */
export const addResNet50Trunk: AddTrunk = (graph, image, width) => {
  const trunk = new TrunkBuilder(graph);
  let channels = 64 * width;
  const first = { inputs: 3, outputs: channels, kernel: 7, stride: 2, gain: FIRST_GAIN };
  let x = graph.operator('MaxPool', [trunk.relu(trunk.convolution(image, first))], {
    kernel_shape: [3, 3],
    strides: [2, 2],
    pads: [1, 1, 1, 1],
  });
  for (const [stageChannels, blockCount, firstStride] of RESNET50_STAGES) {
    const inner = stageChannels * width;
    const outer = inner * 4;
    for (let block = 0; block < blockCount; block += 1) {
      const stride = block === 0 ? firstStride : 1;
      const narrow = { inputs: channels, outputs: inner, kernel: 1, stride: 1 };
      const middle = { inputs: inner, outputs: inner, kernel: 3, stride };
      // Both ways are damped so that their sum keeps the size.
      const widen = { inputs: inner, outputs: outer, kernel: 1, stride: 1, gain: 0.5 };
      const shortcut = { inputs: channels, outputs: outer, kernel: 1, stride, gain: 0.7 };
      const past = block === 0 ? trunk.convolution(x, shortcut) : x;
      let y = trunk.relu(trunk.convolution(x, narrow));
      y = trunk.relu(trunk.convolution(y, middle));
      x = trunk.relu(graph.operator('Add', [trunk.convolution(y, widen), past]));
      channels = outer;
    }
  }
  return trunk.end(x, channels);
};

/** Channels of MobileNet v1's thirteen blocks, and their strides. */
const MOBILENET_CHANNELS = [64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024];
const MOBILENET_STRIDES = [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1];

/**
 * MobileNet v1 1.0 224: a filter per channel, then a mixture of the channels, thirteen times.
 * @param width Factor on all channels: 1 is the model itself, 1/16 a toy.
 */
export const addMobileNetTrunk: AddTrunk = (graph, image, width) => {
  const trunk = new TrunkBuilder(graph);
  let channels = 32 * width;
  const first = { inputs: 3, outputs: channels, kernel: 3, stride: 2 };
  let x = trunk.relu(trunk.convolution(image, first));
  for (const [block, blockChannels] of MOBILENET_CHANNELS.entries()) {
    const outputs = blockChannels * width;
    const stride = MOBILENET_STRIDES[block] as number; // As many as there are blocks.
    const own = { inputs: channels, outputs: channels, kernel: 3, stride, groups: channels };
    const mixture = { inputs: channels, outputs, kernel: 1, stride: 1 };
    x = trunk.relu(trunk.convolution(trunk.relu(trunk.convolution(x, own)), mixture));
    channels = outputs;
  }
  return trunk.end(x, channels);
};
