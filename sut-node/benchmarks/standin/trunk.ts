import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import { type GraphBuilder, integers, type TensorName } from '../../model/onnx/graph-builder.ts';

// A stand-in has the inputs, outputs and cost of the model that it stands in for. Two parts see the
// sample:
//
//   sample ──► trunk: layers of random weights ──► mean ──► tanh ──► x 1e-30 ─┐
//     └─────► reader: the answer that is planted in the sample ──────────────(+)──► outputs
//
// The trunk makes the cost: no result can be had without it, and its number is too small to change
// one. The reader makes the accuracy, which is real: it falls with wrong samples and with damaged
// ones. It says nothing about the model.

/** Seed of all weights, and how many are drawn: a prime, so that no two layers begin alike. */
const SEED = 21;
const POOL_SIZE = 131_071;

/**
 * The trunk's share of a result: far below the last bit of an answer, far above rounding to zero.
 */
const SHARE = 1e-30;

/** Layers 3 x 3 behind the first one. */
const CONVOLUTIONS = 12;

/**
 * Layers of a trunk of rows, and the width inside a layer as a multiple of the width between
 * layers.
 */
const ROW_LAYERS = 4;
const INNER_FACTOR = 4;

/** Least width of a trunk. */
const WIDTH_MIN = 4;

/**
 * Largest weight in deviations, and the largest of an activation behind a layer that is counted in
 * int8.
 */
const WEIGHT_MAX = 3.5;
const ACTIVATION_MAX = 6;

/**
 * Zero point of uint8: products of uint8 and int8 would saturate on processors without VNNI.
 */
const WEIGHT_ZERO = 128;

/** Images for a trunk: [N, channels, side, side]. */
export interface TrunkImages {
  readonly channels: number;
  readonly side: number;
  /** Pixels of a place of the layers. */
  readonly stride: number;
  /** Least and largest value. */
  readonly range: readonly [low: number, high: number];
}

/** Layers of random weights, which make the cost of a stand-in. */
export class Trunk {
  readonly #graph: GraphBuilder;
  readonly #pool: Float32Array;
  #place = 0;

  constructor(graph: GraphBuilder) {
    this.#graph = graph;
    const random = new SeededRandom(SEED, 0);
    this.#pool = Float32Array.from({ length: POOL_SIZE }, () => random.nearlyNormal());
  }

  /**
   * Convolutions on images.
   * @param flops Multiplications and additions per image.
   * @param isInt8 Static quantisation in ONNX's QDQ form, which ONNX Runtime fuses into operators
   *   of int8.
   * @returns One small number per image: [N, 1, 1, 1].
   */
  images(
    image: TensorName,
    { channels, side, stride, range: [low, high] }: TrunkImages,
    flops: number,
    isInt8 = false,
  ): TensorName {
    const cells = Math.floor(side / stride) ** 2;
    const [square, line] = [9 * CONVOLUTIONS, channels * stride ** 2];
    const root = Math.sqrt(line ** 2 + (2 * square * flops) / cells);
    const width = Math.max(WIDTH_MIN, Math.round((root - line) / (2 * square)));
    const first = { inputs: channels, kernel: stride, stride, low, high };
    let x = this.#convolution(image, { ...first, outputs: width, gain: 4 / (high - low), isInt8 });
    const next = { inputs: width, outputs: width, kernel: 3, stride: 1, gain: 1, isInt8 };
    for (let layer = 0; layer < CONVOLUTIONS; layer += 1) {
      x = this.#convolution(x, { ...next, low: 0, high: ACTIVATION_MAX });
    }
    return this.#end(this.#graph.operator('ReduceMean', [x], { axes: [1, 2, 3] }));
  }

  /**
   * Matrices on rows, such as tokens.
   * @param numbers Some of each row: [..., count]. @param flops Multiplications and additions per
   *   row.
   * @returns One small number per row: [..., 1].
   */
  rows(numbers: TensorName, count: number, flops: number): TensorName {
    const weights = 2 * INNER_FACTOR * ROW_LAYERS;
    const width = Math.max(WIDTH_MIN, Math.round(Math.sqrt(flops / 2 / weights)));
    let x = this.begin(numbers, count, width);
    for (let layer = 0; layer < ROW_LAYERS; layer += 1) x = this.layer(x, width, INNER_FACTOR);
    return this.endRows(x);
  }

  /** Numbers between -1 and 1 that depend on all of a row: [..., width]. */
  begin(numbers: TensorName, count: number, width: number): TensorName {
    const spread = this.#graph.operator('MatMul', [numbers, this.weights([count, width], 1)]);
    return this.#graph.operator('Sin', [spread]);
  }

  /** Two matrices and a way past them, so that numbers keep their size. */
  layer(x: TensorName, width: number, factor: number): TensorName {
    const wide = factor * width;
    const inner = this.#graph.operator('MatMul', [x, this.weights([width, wide], width ** -0.5)]);
    const cut = this.#graph.operator('Relu', [inner]);
    const outer = this.weights([wide, width], 0.1 * wide ** -0.5);
    return this.#graph.operator('Add', [x, this.#graph.operator('MatMul', [cut, outer])]);
  }

  /** [..., width] to [..., 1]. */
  endRows(x: TensorName): TensorName {
    return this.#end(this.#graph.operator('ReduceMean', [x], { axes: [-1] }));
  }

  weights(shape: readonly number[], deviation: number): TensorName {
    const values = new Float32Array(countOf(shape));
    for (let i = 0; i < values.length; i += 1) values[i] = this.#next() * deviation;
    return this.#graph.constant(shape, values);
  }

  /** Numbers of deviation 1, over and over: weights need not be independent to cost. */
  #next(): number {
    this.#place = (this.#place + 1) % POOL_SIZE;
    return this.#pool[this.#place] as number;
  }

  #end(mean: TensorName): TensorName {
    return this.#graph.operator('Mul', [this.#graph.operator('Tanh', [mean]), SHARE]);
  }

  #convolution(x: TensorName, one: Convolution): TensorName {
    const { inputs, outputs, kernel, stride, gain, isInt8, low, high } = one;
    const shape = [outputs, inputs, kernel, kernel];
    // The results have the size of the inputs (He initialisation).
    const deviation = gain * Math.sqrt(2 / (inputs * kernel ** 2));
    const pad = stride === 1 ? (kernel - 1) / 2 : 0;
    const attributes = {
      kernel_shape: [kernel, kernel],
      strides: [stride, stride],
      pads: [pad, pad, pad, pad],
    };
    const tensors = isInt8
      ? [this.#throughInt8(x, low, high), this.#int8Weights(shape, deviation)]
      : [x, this.weights(shape, deviation)];
    return this.#graph.operator('Relu', [this.#graph.operator('Conv', tensors, attributes)]);
  }

  #throughInt8(x: TensorName, low: number, high: number): TensorName {
    const scale = (high - low) / 255;
    const zero = this.#graph.constant([], Uint8Array.of(Math.round(-low / scale)));
    const bytes = this.#graph.operator('QuantizeLinear', [x, scale, zero]);
    return this.#graph.operator('DequantizeLinear', [bytes, scale, zero]);
  }

  #int8Weights(shape: readonly number[], deviation: number): TensorName {
    const scale = (WEIGHT_MAX * deviation) / 127;
    const bytes = new Uint8Array(countOf(shape));
    for (let i = 0; i < bytes.length; i += 1) {
      bytes[i] = WEIGHT_ZERO + Math.round((this.#next() * deviation) / scale);
    }
    const zero = this.#graph.constant([], Uint8Array.of(WEIGHT_ZERO));
    return this.#graph.operator('DequantizeLinear', [
      this.#graph.constant(shape, bytes),
      scale,
      zero,
    ]);
  }
}

function countOf(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}

/** A layer of images, and the range of its input. */
interface Convolution {
  readonly inputs: number;
  readonly outputs: number;
  readonly kernel: number;
  readonly stride: number;
  readonly gain: number;
  readonly isInt8: boolean;
  readonly low: number;
  readonly high: number;
}

/** Token ids, or other integers of [N, T], as numbers of [N, T, 1] for a trunk. */
export function tokenNumbers(graph: GraphBuilder, ids: TensorName): TensorName {
  const numbers = graph.operator('Cast', [ids], { to: 1 });
  return graph.operator('Unsqueeze', [numbers, integers(-1)]);
}
