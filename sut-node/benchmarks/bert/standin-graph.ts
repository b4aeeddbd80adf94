import { BERT_LENGTH } from '../../../shared/rules/cards/bert.ts';
import { GraphBuilder, type ModelProto, type TensorName } from '../../model/onnx/graph-builder.ts';
import { type BertSize, HEAD_WIDTH, type LayerWeights, StandinWeights } from './standin-weights.ts';

/** Added to the attention score of padding. */
const PADDING_SCORE = -10_000;

const EPSILON = 1e-12;

/** Names of the reference's inputs: token ids, mask and segment ids. */
const [IDS, MASK, SEGMENTS] = ['input_ids', 'input_mask', 'segment_ids'] as const;

/**
 * A model with BERT's operators and the reference's inputs and outputs, out of {@link StandinWeights}.
 * @param hasFreeLength True: samples may have any length up to 384; false: 384, as the reference.
 */
export function standinModel(size: BertSize, hasFreeLength: boolean): ModelProto {
  return new BertGraph(size).build(hasFreeLength ? 'tokens' : BERT_LENGTH);
}

class BertGraph {
  readonly #graph = new GraphBuilder('bert_standin');
  readonly #weights: StandinWeights;
  readonly #size: BertSize;

  constructor(size: BertSize) {
    this.#size = size;
    this.#weights = new StandinWeights(size);
  }

  build(length: number | string): ModelProto {
    const graph = this.#graph;
    const shape = ['batch', length];
    for (const name of [IDS, MASK, SEGMENTS]) graph.input(name, 'int64', shape);
    const attended = this.#op('Cast', [MASK], { to: 1 });
    const missing = this.#op('Sub', [attended, this.#number(1)]);
    const mask = this.#op('Unsqueeze', [
      this.#op('Mul', [missing, this.#number(-PADDING_SCORE)]),
      this.#integers([1, 2]),
    ]);
    let hidden = this.#embedding();
    for (let layer = 0; layer < this.#size.layers; layer += 1) {
      hidden = this.#layer(hidden, mask, this.#weights.layer(layer));
    }
    for (const which of ['start', 'end'] as const) {
      const weights = graph.constant([this.#size.width, 1], this.#weights.logits(which));
      const logits = this.#op('MatMul', [hidden, weights]);
      const name = `output_${which}_logits`;
      graph.operator('Squeeze', [logits, this.#integers([2])], {}, name);
      graph.output(name, 'float', shape);
    }
    const { layers, width } = this.#size;
    return graph.toModel(
      `Stand-in for BERT-large, made by longhaul from a seed: ${layers} layers of ${width}. Its accuracy says nothing about BERT.`,
    );
  }

  #embedding(): TensorName {
    const { width } = this.#size;
    const words = this.#weights.words();
    const positions = this.#weights.positions();
    const length = this.#op('Gather', [this.#op('Shape', [IDS]), this.#integers([1])]);
    const rows = this.#op('Slice', [
      this.#graph.constant([positions.length / width, width], positions),
      this.#integers([0]),
      length,
      this.#integers([0]),
    ]);
    const word = this.#graph.constant([words.length / width, width], words);
    const segment = this.#graph.constant([2, width], this.#weights.segments());
    const tokens = this.#op('Add', [
      this.#op('Gather', [word, IDS]),
      this.#op('Gather', [segment, SEGMENTS]),
    ]);
    return this.#norm(this.#op('Add', [tokens, rows]));
  }

  #layer(hidden: TensorName, mask: TensorName, weights: LayerWeights): TensorName {
    const { width } = this.#size;
    const query = this.#heads(this.#linear(hidden, weights.query, width), [0, 2, 1, 3]);
    const key = this.#heads(this.#linear(hidden, weights.key, width), [0, 2, 3, 1]);
    const value = this.#heads(this.#linear(hidden, weights.value, width), [0, 2, 1, 3]);
    const products = this.#op('MatMul', [query, key]);
    const scores = this.#op('Div', [products, this.#number(Math.sqrt(HEAD_WIDTH))]);
    const shares = this.#op('Softmax', [this.#op('Add', [scores, mask])], { axis: -1 });
    const seen = this.#op('MatMul', [shares, value]);
    const joined = this.#op('Reshape', [
      this.#op('Transpose', [seen], { perm: [0, 2, 1, 3] }),
      this.#integers([0, 0, width]),
    ]);
    const attention = this.#linear(joined, weights.output, width);
    const attended = this.#norm(this.#op('Add', [attention, hidden]));
    const inner = this.#gelu(this.#linear(attended, weights.inner, 4 * width));
    return this.#norm(this.#op('Add', [this.#linear(inner, weights.outer, width), attended]));
  }

  /** x · weights + 0: BERT has a shift in each. */
  #linear(input: TensorName, weights: Float32Array, columns: number): TensorName {
    const matrix = this.#graph.constant([weights.length / columns, columns], weights);
    const shift = this.#graph.constant([columns], new Float32Array(columns));
    return this.#op('Add', [this.#op('MatMul', [input, matrix]), shift]);
  }

  /** @param perm Order of batch, token, head and channel. */
  #heads(input: TensorName, perm: readonly number[]): TensorName {
    const shape = this.#integers([0, 0, this.#size.width / HEAD_WIDTH, HEAD_WIDTH]);
    return this.#op('Transpose', [this.#op('Reshape', [input, shape])], { perm });
  }

  #gelu(input: TensorName): TensorName {
    const error = this.#op('Erf', [this.#op('Div', [input, this.#number(Math.SQRT2)])]);
    const product = this.#op('Mul', [input, this.#op('Add', [error, this.#number(1)])]);
    return this.#op('Mul', [product, this.#number(0.5)]);
  }

  #norm(input: TensorName): TensorName {
    const { width } = this.#size;
    const scale = this.#graph.constant([width], new Float32Array(width).fill(1));
    const shift = this.#graph.constant([width], new Float32Array(width));
    const attributes = { axis: -1, epsilon: { float: EPSILON } };
    return this.#op('LayerNormalization', [input, scale, shift], attributes);
  }

  #op(...operator: Parameters<GraphBuilder['operator']>): TensorName {
    return this.#graph.operator(...operator);
  }

  #number(value: number): TensorName {
    return this.#graph.constant([], Float32Array.of(value));
  }

  #integers(values: readonly number[]): TensorName {
    return this.#graph.constant([values.length], BigInt64Array.from(values, BigInt));
  }
}
