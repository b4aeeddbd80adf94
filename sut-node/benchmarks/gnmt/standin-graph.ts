import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import { madeUpWord } from '../../../shared/benchmarks/standin/made-up-words.ts';
import {
  SOURCE_WORD_COUNT,
  translationsOf,
  translationVocabulary,
} from '../../../shared/benchmarks/standin/standin-translation.ts';
import { BPE_JOINT } from '../../../shared/rules/cards/gnmt.ts';
import { GraphBuilder, type TensorName } from '../../model/onnx/graph-builder.ts';
import { LOG_PROBS, NEXT, SOURCE_IDS, SOURCE_LENGTHS, TOKEN_IDS } from './graph-interface.ts';
import { END_ID } from './vocabulary.ts';

// encoder   ids ──► embedding ──► LSTM in both directions ──► LSTM ──► LSTM (+) ──► LSTM (+) ──► memory, keys, h_0 c_0 ... h_3 c_3
//            └────► words: the ids, and the end behind the last one
// decoder   token ──► embedding ──► LSTM with attention ──► 3 x LSTM with the attention's result ──► projection ── tanh x 1e-5 ──┐
//            └──► position ──► row of a table: the word's translations, or what follows the first part of one ───────────────(+)──► log_probs
//
// The layers are those of the reference and make the cost; no result can be had without them. The table solves the task of the
// sentences that longhaul makes up.

/** Raise with every change of the graphs: no model of the old way is found in the cache then. */
export const GNMT_GRAPH_REVISION = 1;

/** Units of the reference's layers, and their number on either side. */
const UNITS = 1024;
const LAYERS = 4;

const TRUNK_SEED = 33;
/** The layers' share of the scores: far below what tells two tokens apart. */
const TRUNK_SHARE = 1e-5;
/** Score of a token that is no translation. */
const UNLIKELY = -18;
/** Above all scores of attention, which lie between -1 and 1 times the units. */
const FAR = 1e5;

const BATCH = 'N';
const TIME = 'T';
const SEED_STREAMS = { encoder: 0, decoder: 1 } as const;

/** @param cost Share of the reference's multiplications, 0.01 to 1. */
export function standinEncoder(cost: number): Uint8Array {
  const graph = new GraphBuilder('gnmt-standin-encoder');
  const layers = new Layers(graph, cost, SEED_STREAMS.encoder);
  const { units } = layers;
  const ids = graph.input(SOURCE_IDS, 'int32', [BATCH, TIME]);
  const lengths = graph.input(SOURCE_LENGTHS, 'int32', [BATCH]);
  const words = graph.operator(
    'Pad',
    [layers.maskedIds(ids, lengths), axes(0, 0, 0, 1), layers.end],
    {},
    'words',
  );
  graph.output(words, 'int32', [BATCH, 'T1']);
  // Time first, as LSTM wants it.
  const embedded = graph.operator('Transpose', [layers.embedding(ids)], { perm: [1, 0, 2] });
  let x = layers.bidirectional(embedded, lengths);
  for (let layer = 1; layer < LAYERS; layer += 1) {
    const output = layers.lstm(x, layer === 1 ? 2 * units : units, { lengths, layer });
    x = layer === 1 ? output : graph.operator('Add', [output, x]);
  }
  const memory = graph.operator('Transpose', [x], { perm: [1, 0, 2] }, 'memory');
  graph.operator('MatMul', [memory, layers.weights([units, units])], {}, 'keys');
  for (const name of ['memory', 'keys']) graph.output(name, 'float', [BATCH, TIME, units]);
  return graph.build(DESCRIPTION, properties('encoder', cost));

  function axes(...values: number[]): TensorName {
    return graph.constant([values.length], BigInt64Array.from(values, BigInt));
  }
}

/** @param cost As in {@link standinEncoder}. */
export function standinDecoder(cost: number): Uint8Array {
  const graph = new GraphBuilder('gnmt-standin-decoder');
  const layers = new Layers(graph, cost, SEED_STREAMS.decoder);
  const { units, size } = layers;
  const token = graph.input(TOKEN_IDS, 'int32', [BATCH]);
  const known = addTable(graph, layers, token);
  const memory = graph.input('memory', 'float', [BATCH, TIME, units]);
  const keys = graph.input('keys', 'float', [BATCH, TIME, units]);
  const lengths = graph.input(SOURCE_LENGTHS, 'int32', [BATCH]);
  const attention = graph.input('attention', 'float', [BATCH, units]);
  const embedded = layers.embedding(token);
  const query = layers.cell(graph.operator('Concat', [embedded, attention], { axis: 1 }), 0);
  const context = layers.attend(query, { memory, keys, lengths });
  graph.output(context, 'float', [BATCH, units]);
  let x = query;
  for (let layer = 1; layer < LAYERS; layer += 1) {
    const output = layers.cell(graph.operator('Concat', [x, context], { axis: 1 }), layer);
    x = layer === 1 ? output : graph.operator('Add', [output, x]);
  }
  const projected = graph.operator('MatMul', [x, layers.weights([units, size])]);
  const share = graph.constant([], Float32Array.of(TRUNK_SHARE));
  const unseen = graph.operator('Mul', [graph.operator('Tanh', [projected]), share]);
  const scores = graph.operator('Add', [known, unseen]);
  graph.operator('LogSoftmax', [scores], { axis: -1 }, LOG_PROBS);
  graph.output(LOG_PROBS, 'float', [BATCH, size]);
  return graph.build(DESCRIPTION, properties('decoder', cost));
}

const DESCRIPTION =
  'STAND-IN for a part of GNMT, made by longhaul: its layers, but random weights, and a table that translates the made-up words of ' +
  'sentences which longhaul makes itself. Neither this model nor its accuracy is one of MLPerf.';

function properties(part: string, cost: number): Record<string, string> {
  const facts = { longhaul_benchmark: 'gnmt', longhaul_role: 'stand-in', longhaul_part: part };
  return { ...facts, longhaul_cost: String(cost) };
}

/**
 * The row of the table for each beam. A token that is no first part goes on to the next word; after a first part its own row says what follows.
 * The position counts from 1, since the first token is the one before the sentence.
 */
function addTable(graph: GraphBuilder, { size }: Layers, token: TensorName): TensorName {
  const words = graph.input('words', 'int32', [BATCH, 'T1']);
  const position = graph.input('position', 'int32', [BATCH, 1]);
  const tokens = translationVocabulary();
  const isFirstPart = Int32Array.from(tokens, (text) => (text.endsWith(BPE_JOINT) ? 1 : 0));
  const one = graph.constant([1], Int32Array.of(1));
  const first = graph.operator('Unsqueeze', [
    graph.operator('Gather', [graph.constant([size], isFirstPart), token]),
    graph.constant([1], BigInt64Array.of(1n)),
  ]);
  const moved = graph.operator(
    'Add',
    [position, graph.operator('Sub', [one, first])],
    {},
    `${NEXT}position`,
  );
  graph.output(moved, 'int32', [BATCH, 1]);
  const columns = graph.operator('Gather', [
    graph.operator('Shape', [words]),
    graph.constant([1], BigInt64Array.of(1n)),
  ]);
  const last = graph.operator('Sub', [graph.operator('Cast', [columns], { to: INT32 }), one]);
  const place = graph.operator('Min', [graph.operator('Sub', [moved, one]), last]);
  const word = graph.operator('GatherElements', [words, place], { axis: 1 });
  const isFirst = graph.operator('Cast', [first], { to: BOOL });
  const own = graph.operator('Unsqueeze', [token, graph.constant([1], BigInt64Array.of(1n))]);
  const row = graph.operator('Squeeze', [
    graph.operator('Where', [isFirst, own, word]),
    graph.constant([1], BigInt64Array.of(1n)),
  ]);
  return graph.operator('Gather', [graph.constant([size, size], tableOf(tokens)), row]);
}

/** Numbers of ONNX's types. */
const INT32 = 6;
const BOOL = 9;

/** Logarithms of probability by row: of a source word's first tokens, of what follows a first part; any other row ends the sentence. */
function tableOf(tokens: readonly string[]): Float32Array {
  const ids = new Map(tokens.map((text, id) => [text, id]));
  const idOf = (text: string): number => ids.get(text) as number; // It has all of them.
  const size = tokens.length;
  const chances = new Map<number, Map<number, number>>();
  const add = (row: number, id: number, probability: number): void => {
    const own = chances.get(row) ?? new Map<number, number>();
    chances.set(row, own.set(id, (own.get(id) ?? 0) + probability));
  };
  for (let n = 0; n < SOURCE_WORD_COUNT; n += 1) {
    for (const { tokens: translation, probability } of translationsOf(n)) {
      const [first, second] = translation.map(idOf) as [number, number | undefined];
      add(idOf(madeUpWord(n)), first, probability);
      if (second !== undefined) add(first, second, probability);
    }
  }
  const table = new Float32Array(size * size).fill(UNLIKELY);
  for (let row = 0; row < size; row += 1) {
    const own = chances.get(row) ?? new Map([[END_ID, 1]]);
    const total = [...own.values()].reduce((sum, chance) => sum + chance, 0);
    for (const [id, chance] of own) table[row * size + id] = Math.log(chance / total);
  }
  return table;
}

/** Layers of the reference, with weights from one random sequence. */
class Layers {
  readonly units: number;
  /** Tokens of a vocabulary. */
  readonly size: number = translationVocabulary().length;
  readonly end: TensorName;
  readonly #graph: GraphBuilder;
  readonly #random: SeededRandom;

  constructor(graph: GraphBuilder, cost: number, stream: number) {
    this.#graph = graph;
    this.#random = new SeededRandom(TRUNK_SEED, stream);
    this.units = Math.round(UNITS * Math.sqrt(cost));
    this.end = graph.constant([], Int32Array.of(END_ID));
  }

  /** @param shape The axis before the last one is summed over. */
  weights(shape: readonly number[], deviation: number = (shape.at(-2) ?? 1) ** -0.5): TensorName {
    const values = new Float32Array(shape.reduce((product, length) => product * length, 1));
    for (let i = 0; i < values.length; i += 1) values[i] = this.#random.nearlyNormal() * deviation;
    return this.#graph.constant(shape, values);
  }

  embedding(ids: TensorName): TensorName {
    return this.#graph.operator('Gather', [this.weights([this.size, this.units], 1), ids]);
  }

  /** Ids behind the end of each sentence become the end token. */
  maskedIds(ids: TensorName, lengths: TensorName): TensorName {
    return this.#graph.operator('Where', [this.#isInside(ids, lengths), ids, this.end]);
  }

  /** [N, T]: true before the end of each sentence. @param like Its second axis is the time. */
  #isInside(like: TensorName, lengths: TensorName): TensorName {
    const graph = this.#graph;
    const scalar = (value: number): TensorName =>
      graph.constant([], BigInt64Array.of(BigInt(value)));
    const time = graph.operator('Gather', [graph.operator('Shape', [like]), scalar(1)]);
    const places = graph.operator('Range', [scalar(0), time, scalar(1)]);
    const ends = graph.operator('Unsqueeze', [
      graph.operator('Cast', [lengths], { to: INT64 }),
      graph.constant([1], BigInt64Array.of(1n)),
    ]);
    return graph.operator('Less', [places, ends]);
  }

  /** The first layer: [T, N, units] to [T, N, 2 units]; the decoder gets the state of the second direction. */
  bidirectional(x: TensorName, lengths: TensorName): TensorName {
    const graph = this.#graph;
    const { units } = this;
    const outputs = ['both', 'both_h', 'both_c'];
    graph.operatorOf(
      'LSTM',
      [x, ...this.#gates(2, units), '', lengths],
      { hidden_size: units, direction: 'bidirectional' },
      outputs,
    );
    for (const kind of ['h', 'c'] as const) {
      const second = graph.constant([], BigInt64Array.of(1n));
      graph.operator('Gather', [`both_${kind}`, second], { axis: 0 }, `${kind}_0`);
      graph.output(`${kind}_0`, 'float', [BATCH, units]);
    }
    const beside = graph.operator('Transpose', ['both'], { perm: [0, 2, 1, 3] });
    return graph.operator('Reshape', [beside, graph.constant([3], BigInt64Array.of(0n, 0n, -1n))]);
  }

  /** A layer of the encoder, whose last state becomes an output. */
  lstm(
    x: TensorName,
    width: number,
    { lengths, layer }: { readonly lengths: TensorName; readonly layer: number },
  ): TensorName {
    const outputs = ['y', 'h', 'c'].map((kind) => `layer_${layer}_${kind}`) as [
      string,
      string,
      string,
    ];
    const { units } = this;
    const inputs = [x, ...this.#gates(1, width), '', lengths];
    this.#graph.operatorOf('LSTM', inputs, { hidden_size: units }, outputs);
    for (const kind of ['h', 'c']) {
      this.#squeezed(`layer_${layer}_${kind}`, 0n, `${kind}_${layer}`);
      this.#graph.output(`${kind}_${layer}`, 'float', [BATCH, units]);
    }
    return this.#squeezed(outputs[0], 1n);
  }

  /** A layer of the decoder, one step: [N, 2 units] to [N, units], with the state as input and output. */
  cell(x: TensorName, layer: number): TensorName {
    const graph = this.#graph;
    const { units } = this;
    const first = graph.constant([1], BigInt64Array.of(0n));
    const state = ['h', 'c'].map((kind) => {
      const name = graph.input(`${kind}_${layer}`, 'float', [BATCH, units]);
      return graph.operator('Unsqueeze', [name, first]);
    });
    const step = graph.operator('Unsqueeze', [x, first]);
    const outputs = ['', ...['h', 'c'].map((kind) => `cell_${layer}_${kind}`)];
    const inputs = [step, ...this.#gates(1, 2 * units), '', '', ...state];
    graph.operatorOf('LSTM', inputs, { hidden_size: units }, outputs);
    for (const kind of ['h', 'c']) {
      this.#squeezed(`cell_${layer}_${kind}`, 0n, `${NEXT}${kind}_${layer}`);
      graph.output(`${NEXT}${kind}_${layer}`, 'float', [BATCH, units]);
    }
    return `${NEXT}h_${layer}`;
  }

  /** Bahdanau's attention: what the query finds in the memory. */
  attend(
    query: TensorName,
    { memory, keys, lengths }: Readonly<Record<'memory' | 'keys' | 'lengths', TensorName>>,
  ): TensorName {
    const graph = this.#graph;
    const { units } = this;
    const second = graph.constant([1], BigInt64Array.of(1n));
    const asked = graph.operator('MatMul', [query, this.weights([units, units])]);
    const sum = graph.operator('Add', [keys, graph.operator('Unsqueeze', [asked, second])]);
    const scores = graph.operator('MatMul', [
      graph.operator('Tanh', [sum]),
      this.weights([units, 1]),
    ]);
    const flat = graph.operator('Squeeze', [scores, graph.constant([1], BigInt64Array.of(2n))]);
    const far = graph.constant([], Float32Array.of(-FAR));
    const inside = graph.operator('Where', [this.#isInside(keys, lengths), flat, far]);
    const shares = graph.operator('Unsqueeze', [
      graph.operator('Softmax', [inside], { axis: -1 }),
      second,
    ]);
    return this.#squeezed(graph.operator('MatMul', [shares, memory]), 1n, `${NEXT}attention`);
  }

  #gates(directions: number, width: number): TensorName[] {
    const { units } = this;
    return [width, units].map((columns) =>
      this.weights([directions, 4 * units, columns], columns ** -0.5),
    );
  }

  #squeezed(name: TensorName, axis: bigint, output?: TensorName): TensorName {
    return this.#graph.operator(
      'Squeeze',
      [name, this.#graph.constant([1], BigInt64Array.of(axis))],
      {},
      output,
    );
  }
}

const INT64 = 7;
