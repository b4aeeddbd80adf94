import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import {
  STANDIN_TABLE_ROWS,
  TEACHER_BIAS,
  teacherDense,
  teacherTable,
} from '../../../shared/benchmarks/dlrm-v2/standin-teacher.ts';
import { DENSE_COUNT, MULTI_HOT_SIZES } from '../../../shared/rules/cards/dlrm-v2.ts';
import { GraphBuilder, type ModelProto, type TensorName } from '../../model/onnx/graph-builder.ts';

// The stand-in has the graph of DLRM-DCNv2, layer by layer:
//
//   dense ──► 13-512-256-128 ─────────────────────────┐
//   26 x sparse ──► rows of a table, 128 wide, summed ─┴► 3456 ──► 3 cross layers, rank 512 ──► 1024-1024-512-256-1 ──► sigmoid
//
// Its tables have 2,000 rows at most (an index counts modulo the rows), and its weights are random, small in effect, but for a few
// units of each layer, which carry the teacher's logit to the end: column 0 of a table holds the teacher's weight of each row. So
// no layer can be left out or damaged without a loss of AUC.

/** Width of an embedding, and of the dense features behind their layers. */
const EMBEDDING_WIDTH = 128;
/** Layers of the real model at cost 1. Source: README of MLCommons inference, recommendation/dlrm_v2/pytorch. */
const DENSE_WIDTHS: readonly number[] = [512, 256];
const CROSS_RANK = 512;
const CROSS_LAYERS = 3;
const OVER_WIDTHS: readonly number[] = [1024, 1024, 512, 256];

/** A layer without these could not carry a number and its negative through ReLU. */
const WIDTH_MIN = 4;

const WEIGHT_SEED = 51;

/** Sizes of what the random weights make, and of what they add to the logit at the end. */
const EMBEDDING_DEVIATION = 0.05;
const CROSS_GAIN = 0.3;
const NOISE_GAIN = 0.05;

const X_WIDTH: number = (MULTI_HOT_SIZES.length + 1) * EMBEDDING_WIDTH;

/** Columns of x that have the teacher's sums: those of the tables. Columns 0 and 1 have the dense part and its negative. */
const TABLE_COLUMNS: readonly number[] = MULTI_HOT_SIZES.map((_, i) => (i + 1) * EMBEDDING_WIDTH);
const CARRIED: ReadonlySet<number> = new Set([0, 1, ...TABLE_COLUMNS]);

/** Widths of a stand-in's layers. */
interface Widths {
  readonly dense: readonly number[];
  readonly rank: number;
  readonly over: readonly number[];
}

function widthsAt(factor: number): Widths {
  const scaled = (width: number): number => Math.max(WIDTH_MIN, Math.round(width * factor));
  return {
    dense: DENSE_WIDTHS.map(scaled),
    rank: scaled(CROSS_RANK),
    over: OVER_WIDTHS.map(scaled),
  };
}

/** Multiplications and additions per pair. */
function workOf({ dense, rank, over }: Widths): number {
  const chain = (widths: readonly number[]): number =>
    widths.slice(1).reduce((sum, width, i) => sum + width * (widths[i] as number), 0);
  const cross = CROSS_LAYERS * 2 * X_WIDTH * rank;
  return chain([DENSE_COUNT, ...dense, EMBEDDING_WIDTH]) + cross + chain([X_WIDTH, ...over, 1]);
}

/** Widths whose work is so large a share of the real model's. The tables keep their width: they cost memory, not work. */
function widthsFor(cost: number): Widths {
  let [low, high] = [0, 1];
  for (let i = 0; i < 20; i += 1) {
    const middle = (low + high) / 2;
    if (workOf(widthsAt(middle)) < cost * workOf(widthsAt(1))) low = middle;
    else high = middle;
  }
  return widthsAt(high);
}

/**
 * The stand-in for DLRM-DCNv2: inputs `dense` (float [n, 13]) and `sparse_0` to `sparse_25` (int32 [n, indices]), output
 * `probability` (float [n]), n pairs.
 * @param cost Work per pair as a share of the real model's, above 0 to 1.
 */
export function standinModel(name: string, cost: number): ModelProto {
  const widths = widthsFor(cost);
  const layers = new Layers(new GraphBuilder(name));
  const { graph } = layers;
  const dense = graph.input('dense', 'float', ['pairs', DENSE_COUNT]);
  const bags = MULTI_HOT_SIZES.map((size, table) => {
    const input = graph.input(`sparse_${table}`, 'int32', ['pairs', size]);
    return layers.bag(input, table);
  });
  const x = graph.operator('Concat', [layers.denseLayers(dense, widths.dense), ...bags], {
    axis: 1,
  });
  const logit = layers.overLayers(layers.crossLayers(x, widths.rank), widths.over);
  const flat = graph.operator('Squeeze', [logit, graph.constant([1], BigInt64Array.of(1n))]);
  graph.output(graph.operator('Sigmoid', [flat], {}, 'probability'), 'float', ['pairs']);
  return graph.toModel(
    'Stand-in for DLRM-DCNv2, made by longhaul from a seed: the real graph with capped tables, no trained weights',
    { 'longhaul.stand-in': 'dlrm-v2', 'longhaul.cost': String(cost) },
  );
}

/** Layers with weights from one random sequence. */
class Layers {
  readonly graph: GraphBuilder;
  readonly #random = new SeededRandom(WEIGHT_SEED, 0);

  constructor(graph: GraphBuilder) {
    this.graph = graph;
  }

  /** Rows of a table at the indices of each pair, summed: [n, 128]. */
  bag(indices: TensorName, table: number): TensorName {
    const { graph } = this;
    const rows = STANDIN_TABLE_ROWS[table] as number;
    const values = this.#random32(rows * EMBEDDING_WIDTH, EMBEDDING_DEVIATION);
    for (const [row, weight] of teacherTable(table).entries())
      values[row * EMBEDDING_WIDTH] = weight;
    const kept = graph.operator('Mod', [indices, graph.constant([1], Int32Array.of(rows))]);
    const embedded = graph.operator('Gather', [
      graph.constant([rows, EMBEDDING_WIDTH], values),
      kept,
    ]);
    const axis = graph.constant([1], BigInt64Array.of(1n));
    return graph.operator('ReduceSum', [embedded, axis], { keepdims: 0 });
  }

  /** Units 0 and 1 are the teacher's part of the dense features and its negative, cut at 0. */
  denseLayers(dense: TensorName, widths: readonly number[]): TensorName {
    const teacher = teacherDense();
    let [x, inputs] = [dense, DENSE_COUNT];
    for (const [layer, outputs] of [...widths, EMBEDDING_WIDTH].entries()) {
      const read = (unit: number, input: number): number => {
        const sign = unit === 0 ? 1 : -1;
        return layer === 0 ? sign * (teacher[input] as number) : Number(input === unit);
      };
      x = this.#relu(this.#gemm(x, inputs, outputs, read, 0));
      inputs = outputs;
    }
    return x;
  }

  /** x0 times a product of two matrices and x, plus x: columns that are carried stay as they are. */
  crossLayers(x0: TensorName, rank: number): TensorName {
    const { graph } = this;
    let x = x0;
    for (let layer = 0; layer < CROSS_LAYERS; layer += 1) {
      const low = this.#random32(X_WIDTH * rank, Math.sqrt(1 / X_WIDTH));
      const high = this.#random32(rank * X_WIDTH, CROSS_GAIN * Math.sqrt(1 / rank));
      const bias = this.#random32(X_WIDTH, CROSS_GAIN);
      for (const column of CARRIED) {
        bias[column] = 0;
        for (let row = 0; row < rank; row += 1) high[row * X_WIDTH + column] = 0;
      }
      const small = graph.operator('MatMul', [x, graph.constant([X_WIDTH, rank], low)]);
      const wide = graph.operator('Gemm', [
        small,
        graph.constant([rank, X_WIDTH], high),
        graph.constant([X_WIDTH], bias),
      ]);
      x = graph.operator('Add', [graph.operator('Mul', [x0, wide]), x]);
    }
    return x;
  }

  /** Units 0 and 1 of each layer are the logit and its negative, cut at 0; the last layer joins them. */
  overLayers(input: TensorName, widths: readonly number[]): TensorName {
    let [x, inputs] = [input, X_WIDTH];
    for (const [layer, outputs] of widths.entries()) {
      const read = (unit: number, column: number): number => {
        if (layer > 0) return Number(column === unit);
        if (!CARRIED.has(column)) return 0;
        const sign = unit === 0 ? 1 : -1;
        return column === 1 ? -sign : sign;
      };
      x = this.#relu(this.#gemm(x, inputs, outputs, read, layer === 0 ? TEACHER_BIAS : 0));
      inputs = outputs;
    }
    const last = this.#random32(inputs, NOISE_GAIN * Math.sqrt(1 / inputs));
    last.set([1, -1]);
    const weights = this.graph.constant([inputs, 1], last);
    return this.graph.operator('MatMul', [x, weights]);
  }

  /**
   * A layer of random weights, but for units 0 and 1.
   * @param read Weight of units 0 and 1 for an input.
   * @param shift Of unit 0; that of unit 1 is its negative.
   */
  #gemm(
    x: TensorName,
    inputs: number,
    outputs: number,
    read: (unit: number, input: number) => number,
    shift: number,
  ): TensorName {
    const weights = this.#random32(inputs * outputs, Math.sqrt(2 / inputs));
    for (let input = 0; input < inputs; input += 1) {
      for (const unit of [0, 1]) weights[input * outputs + unit] = read(unit, input);
    }
    const shifts = new Float32Array(outputs);
    shifts.set([shift, -shift]);
    const { graph } = this;
    return graph.operator('Gemm', [
      x,
      graph.constant([inputs, outputs], weights),
      graph.constant([outputs], shifts),
    ]);
  }

  #relu(x: TensorName): TensorName {
    return this.graph.operator('Relu', [x]);
  }

  #random32(count: number, deviation: number): Float32Array {
    const values = new Float32Array(count);
    for (let i = 0; i < count; i += 1) values[i] = this.#random.nearlyNormal() * deviation;
    return values;
  }
}
