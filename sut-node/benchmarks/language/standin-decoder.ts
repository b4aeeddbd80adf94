import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import { GraphBuilder, type ModelProto, type TensorName } from '../../model/onnx/graph-builder.ts';
import { DECODER_TENSORS } from '../../pipeline/decoder-fit.ts';
import { type DecoderSize, HEAD_WIDTH } from './decoder-size.ts';

/**
 * Parts of what stands for a token on its way through the layers, {@link HEAD_WIDTH} numbers each: its own code (the last
 * number is 1), its position, the codes of the tokens one and two before it, and the code of the token that comes next. What
 * follows only costs.
 */
const PARTS = { token: 0, position: 1, before: 2, beforeThat: 3, next: 4 } as const;

/** A head looks for tokens whose part `to` is as its own part `from`, or as its position turned back; it finds their code. */
interface WorkingHead {
  readonly from: number;
  readonly to: number;
  readonly back?: number;
  readonly found: number;
}

/** By layer. */
const HEADS: readonly (readonly WorkingHead[])[] = [
  [1, 2].map((back) => ({
    from: PARTS.position,
    to: PARTS.position,
    back,
    found: back === 1 ? PARTS.before : PARTS.beforeThat,
  })),
  [{ from: PARTS.before, to: PARTS.beforeThat, found: PARTS.next }],
];

const SEED = 7;

/** Attention counts products of codes so much: the wrong tokens together get less than a millionth. */
const SHARPNESS = 2;

/**
 * Taken off the score of every token that is there. The filling of a cache has a score of 0, so it drowns all others unless
 * the mask hides it.
 */
const FILLING_LEAD = 4 * HEAD_WIDTH;

/** Size of the weights that only cost: too small to change a token. */
const IDLE_WEIGHT = 1e-4;

/**
 * A decoder-only model with the operators of one, and its keys and values as inputs and outputs: it goes on as its prompt does
 * two tokens behind the earlier place of the token before the last. Layer 0 attends from each token to the two before it, by
 * position; layer 1 from the last token to the one that came two behind the token before it. So each new token needs keys and
 * values of both layers, at the right positions. Further layers only cost.
 */
export function standinDecoder(name: string, size: DecoderSize): ModelProto {
  return new DecoderGraph(name, size).build();
}

class DecoderGraph {
  readonly #graph: GraphBuilder;
  readonly #size: DecoderSize;
  readonly #name: string;
  readonly #random = new SeededRandom(SEED, 0);
  readonly #frequencies: Float32Array;

  constructor(name: string, size: DecoderSize) {
    this.#name = name;
    this.#size = size;
    this.#graph = new GraphBuilder(name.replaceAll('-', '_'));
    this.#frequencies = Float32Array.from({ length: HEAD_WIDTH / 2 }, () =>
      this.#random.uniform(0, Math.PI),
    );
  }

  build(): ModelProto {
    const graph = this.#graph;
    const { layers, width } = this.#size;
    const heads = width / HEAD_WIDTH;
    const tokens = ['batch', 'tokens'];
    const { ids, mask, positions, logits, caches } = DECODER_TENSORS;
    graph.input(ids, 'int64', tokens);
    graph.input(mask, 'int64', ['batch', 'all_tokens']);
    graph.input(positions, 'int64', tokens);
    const codes = this.#codes();
    const table = graph.constant([this.#size.vocabulary, HEAD_WIDTH], codes);
    let hidden = this.#embedding(this.#op('Gather', [table, ids]), positions);
    const scores = this.#maskScores(ids, mask);
    const names = caches(layers);
    for (const { past, present } of names) {
      graph.input(past, 'float', ['batch', heads, 'past_tokens', HEAD_WIDTH]);
      graph.output(present, 'float', ['batch', heads, 'all_tokens', HEAD_WIDTH]);
    }
    for (let layer = 0; layer < layers; layer += 1) {
      const own = names.slice(2 * layer, 2 * layer + 2);
      hidden = this.#layer(hidden, scores, layer, own);
    }
    // Only behind the last token, as exporters for generation do it.
    const last = this.#op('Slice', [
      hidden,
      this.#integers([-1, PARTS.next * HEAD_WIDTH]),
      this.#integers([Number.MAX_SAFE_INTEGER, (PARTS.next + 1) * HEAD_WIDTH]),
      this.#integers([1, 2]),
    ]);
    graph.operator('MatMul', [last, this.#op('Transpose', [table], { perm: [1, 0] })], {}, logits);
    graph.output(logits, 'float', ['batch', 'last_token', this.#size.vocabulary]);
    return graph.toModel(
      `Stand-in, made by longhaul from a seed: ${this.#name}, ${layers} layers of ${width}. It copies from its prompt.`,
    );
  }

  /** Signs by chance for each token, and a 1 at the end. */
  #codes(): Float32Array {
    const codes = new Float32Array(this.#size.vocabulary * HEAD_WIDTH);
    for (let i = 0; i < codes.length; i += 1) {
      const isLast = i % HEAD_WIDTH === HEAD_WIDTH - 1;
      codes[i] = isLast || this.#random.nextUint32() % 2 === 0 ? 1 : -1;
    }
    return codes;
  }

  /** Code and position of each token, and zeros. */
  #embedding(codes: TensorName, positions: TensorName): TensorName {
    const numbers = this.#op('Unsqueeze', [
      this.#op('Cast', [positions], { to: 1 }),
      this.#integers([2]),
    ]);
    const angles = this.#op('Mul', [numbers, this.#floats([HEAD_WIDTH / 2], this.#frequencies)]);
    const circles = [this.#op('Cos', [angles]), this.#op('Sin', [angles])];
    const joined = this.#op('Concat', [codes, ...circles], { axis: 2 });
    const { width } = this.#size;
    const spread = new Float32Array(2 * HEAD_WIDTH * width);
    for (let i = 0; i < 2 * HEAD_WIDTH; i += 1) spread[i * width + i] = 1;
    return this.#op('MatMul', [joined, this.#floats([2 * HEAD_WIDTH, width], spread)]);
  }

  /** 0 where a token may see another one: not behind it, and not filling; else far below every score. */
  #maskScores(ids: TensorName, mask: TensorName): TensorName {
    const lengthOf = (name: TensorName): TensorName =>
      this.#op('Gather', [this.#op('Shape', [name]), this.#integer(1)]);
    const all = lengthOf(mask);
    const past = this.#op('Sub', [all, lengthOf(ids)]);
    const range = (from: TensorName, axis: number): TensorName =>
      this.#op('Unsqueeze', [
        this.#op('Range', [from, all, this.#integer(1)]),
        this.#integers([axis]),
      ]);
    const seen = this.#op('LessOrEqual', [range(this.#integer(0), 0), range(past, 1)]);
    const there = this.#op('Unsqueeze', [
      this.#op('Cast', [mask], { to: 9 }),
      this.#integers([1, 2]),
    ]);
    const [visible, hidden] = [0, -1e6].map((value) => this.#floats([], Float32Array.of(value)));
    const both = this.#op('And', [seen, there]);
    return this.#op('Where', [both, visible as TensorName, hidden as TensorName]);
  }

  #layer(
    hidden: TensorName,
    maskScores: TensorName,
    layer: number,
    caches: ReturnType<typeof DECODER_TENSORS.caches>,
  ): TensorName {
    const { width } = this.#size;
    const split = (name: TensorName): TensorName =>
      this.#op(
        'Transpose',
        [this.#op('Reshape', [name, this.#integers([0, 0, width / HEAD_WIDTH, HEAD_WIDTH])])],
        { perm: [0, 2, 1, 3] },
      );
    const { query, key, value, output } = this.#attentionWeights(layer);
    const project = (weights: Float32Array): TensorName =>
      this.#op('MatMul', [hidden, this.#floats([width, width], weights)]);
    const [keys, values] = [key, value].map((weights, i) => {
      const { past, present } = caches[i] as { past: string; present: string }; // A key and a value.
      return this.#graph.operator('Concat', [past, split(project(weights))], { axis: 2 }, present);
    }) as [TensorName, TensorName];
    const products = this.#op('MatMul', [
      split(project(query)),
      this.#op('Transpose', [keys], { perm: [0, 1, 3, 2] }),
    ]);
    const shares = this.#op('Softmax', [this.#op('Add', [products, maskScores])], { axis: -1 });
    const joined = this.#op('Reshape', [
      this.#op('Transpose', [this.#op('MatMul', [shares, values])], { perm: [0, 2, 1, 3] }),
      this.#integers([0, 0, width]),
    ]);
    const seen = this.#op('MatMul', [joined, this.#floats([width, width], output)]);
    const attended = this.#op('Add', [hidden, seen]);
    const inner = this.#op('MatMul', [attended, this.#idle(width, 4 * width)]);
    const outer = this.#op('MatMul', [this.#op('Relu', [inner]), this.#idle(4 * width, width)]);
    return this.#op('Add', [attended, outer]);
  }

  /** The heads of {@link HEADS} do the work; the others attend anywhere, and what they find is hardly added. */
  #attentionWeights(layer: number) {
    const { width } = this.#size;
    const weights = (): Float32Array => this.#idleValues(width * width);
    const [query, key, value, output] = [weights(), weights(), weights(), weights()];
    for (const [head, { from, to, back, found }] of (HEADS[layer] ?? []).entries()) {
      const begin = head * HEAD_WIDTH;
      for (const one of [query, key, value]) {
        for (let row = 0; row < width; row += 1) {
          one.fill(0, row * width + begin, row * width + begin + HEAD_WIDTH);
        }
      }
      output.fill(0, begin * width, (begin + HEAD_WIDTH) * width);
      connect(key, width, to, head, 1);
      if (back !== undefined) this.#turnBack(query, head, back);
      else {
        connect(query, width, from, head, SHARPNESS);
        // The 1 that each code has at its end.
        const column = begin + HEAD_WIDTH - 1;
        query[((from + 1) * HEAD_WIDTH - 1) * width + column] = FILLING_LEAD;
        key[((to + 1) * HEAD_WIDTH - 1) * width + column] = -1;
      }
      connect(value, width, PARTS.token, head, 1);
      connect(output, width, head, found, 1);
    }
    return { query, key, value, output };
  }

  /** From the code of a position to that of one so many tokens before it: each circle turned back by its frequency. */
  #turnBack(query: Float32Array, head: number, tokens: number): void {
    const { width } = this.#size;
    const half = HEAD_WIDTH / 2;
    const begin = PARTS.position * HEAD_WIDTH;
    for (const [i, frequency] of this.#frequencies.entries()) {
      const cosine = 2 * SHARPNESS * Math.cos(tokens * frequency);
      const sine = 2 * SHARPNESS * Math.sin(tokens * frequency);
      const row = (begin + i) * width + head * HEAD_WIDTH;
      const sineRow = row + half * width;
      query[row + i] = cosine;
      query[sineRow + i] = sine;
      query[row + half + i] = -sine;
      query[sineRow + half + i] = cosine;
    }
  }

  #idle(rows: number, columns: number): TensorName {
    return this.#floats([rows, columns], this.#idleValues(rows * columns));
  }

  #idleValues(count: number): Float32Array {
    return Float32Array.from({ length: count }, () => IDLE_WEIGHT * this.#random.triangular());
  }

  #op(...operator: Parameters<GraphBuilder['operator']>): TensorName {
    return this.#graph.operator(...operator);
  }

  #floats(shape: readonly number[], values: Float32Array): TensorName {
    return this.#graph.constant(shape, values);
  }

  #integers(values: readonly number[]): TensorName {
    return this.#graph.constant([values.length], BigInt64Array.from(values, BigInt));
  }

  #integer(value: number): TensorName {
    return this.#graph.constant([], BigInt64Array.of(BigInt(value)));
  }
}

/** Lets a part go through as it is: weights of [rows, width], from the part's rows to the columns of a part. */
function connect(
  weights: Float32Array,
  width: number,
  from: number,
  to: number,
  factor: number,
): void {
  for (let i = 0; i < HEAD_WIDTH; i += 1) {
    weights[(from * HEAD_WIDTH + i) * width + to * HEAD_WIDTH + i] = factor;
  }
}
