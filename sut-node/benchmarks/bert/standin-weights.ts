import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import { SQUAD_STANDIN_VOCABULARY as VOCABULARY } from '../../../shared/benchmarks/standin/standin-squad.ts';
import { BERT_LENGTH } from '../../../shared/rules/cards/bert.ts';

/** Layers and width of a model like BERT. */
export interface BertSize {
  readonly layers: number;
  readonly width: number;
}

const BERT_LARGE: BertSize = { layers: 24, width: 1024 };

/** Width of an attention head, and step of the model's width. */
export const HEAD_WIDTH = 64;

/** Least that the way to an answer needs (see {@link StandinWeights}). */
const SMALLEST: BertSize = { layers: 2, width: 128 };

/** Rows of BERT's table of positions. */
const POSITION_COUNT = 512;

/** Channels of the model's width, and what each holds. */
const PAIR_COUNT = 24;
const CODE_BITS = 16;
/** Position as cosine and sine of so many frequencies. */
const POSITION = 0;
/** Code of a key word. */
const CODE = POSITION + 2 * PAIR_COUNT;
const IS_KEY = CODE + CODE_BITS;
/** 1 in the question, -1 in the context. */
const SEGMENT = IS_KEY + 1;
const IS_CLS = SEGMENT + 1;
const ONE = IS_CLS + 1;
/** Code of the token before, and of the one behind. */
const BEFORE = ONE + 1;
const BEHIND = BEFORE + CODE_BITS;
/** How well those fit the key word of the question. */
const START = BEHIND + CODE_BITS;
const END = START + 1;
/** Random numbers from here on. */
const FREE = END + 1;

/**
 * Of those channels, beside random ones of deviation 1: so small that they hardly change how a token is normalised, and the
 * model answers alike in any width.
 */
const SCALE = 0.25;

/** Noise on the code in each position, of which the errors come: by trial so that F1 is about that of BERT-large. */
const CODE_NOISE = 0.67;

/** Sum of the squares that position and segment add to a token, before the scale: pairs, noise, and two ones. */
const OTHER_SQUARES: number = PAIR_COUNT + CODE_BITS * CODE_NOISE ** 2 + 2;

/** Factors on scores of attention, which are products of two channels. */
const NEIGHBOUR_GAIN: number = 24 / SCALE ** 2;
const MATCH_GAIN: number = 3 / SCALE ** 2;
const SEGMENT_GAIN: number = 100 / SCALE ** 2;
/** Two codes are one where their bits agree so much: 1 is all, 0 half of them. */
const MATCH_MIN = 0.5;
const RESULT_GAIN: number = 2 / SCALE;
const LOGIT_GAIN = 8;
/** Noise that each layer adds to all channels. */
const LAYER_NOISE = 0.003;

/** Seed of all weights, and its sequences. */
const SEED = 31;
const STREAMS = { frequencies: 0, codes: 1, positions: 2, words: 3, inner: 4, outer: 5 } as const;

/** Multiplications and additions of a sample: those of the matrices. */
export function bertFlops({ layers, width }: BertSize): number {
  return layers * (24 * BERT_LENGTH * width ** 2 + 4 * BERT_LENGTH ** 2 * width);
}

/** The size whose compute is nearest to a share of BERT-large's, of about its proportions. @param cost 0.01 to 1. */
export function bertSizeOf(cost: number): BertSize {
  const wanted = cost * bertFlops(BERT_LARGE);
  let best = BERT_LARGE;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (let layers = SMALLEST.layers; layers <= BERT_LARGE.layers; layers += 1) {
    for (let width = SMALLEST.width; width <= BERT_LARGE.width; width += HEAD_WIDTH) {
      const slimness = width / layers / (BERT_LARGE.width / BERT_LARGE.layers);
      const away = Math.abs(Math.log(bertFlops({ layers, width }) / wanted));
      const distance = away + Math.abs(Math.log(slimness)) / 10;
      if (distance >= bestDistance) continue;
      best = { layers, width };
      bestDistance = distance;
    }
  }
  return best;
}

/** The matrices of a layer; rows are inputs, columns outputs. */
export interface LayerWeights {
  readonly query: Float32Array;
  readonly key: Float32Array;
  readonly value: Float32Array;
  readonly output: Float32Array;
  readonly inner: Float32Array;
  readonly outer: Float32Array;
}

/**
 * Weights of a model in BERT's form that answers the generated questions without having been trained. All are random,
 * but for these:
 *
 *   embedding   a key word has a code of 16 bits, and each position adds noise to it
 *   layer 0     one head looks at the token before, one at the token behind, and copies its code
 *   layer 1     two heads look for that code in the question; where it is not there they look at [CLS]
 *   head        start and end logit are how much those found
 *
 * All later layers pass this on, each with a little noise of its own.
 */
export class StandinWeights {
  readonly size: BertSize;
  readonly #frequencies: Float64Array;
  /** Of matrices into attention scores and into the inner layer, and of those back to the model's width. */
  readonly #inner: RandomPool;
  readonly #outer: RandomPool;

  constructor(size: BertSize) {
    const { width } = size;
    this.size = size;
    const random = new SeededRandom(SEED, STREAMS.frequencies);
    this.#frequencies = Float64Array.from({ length: PAIR_COUNT }, () => random.uniform(0, Math.PI));
    const count = 4 * width ** 2;
    this.#inner = new RandomPool(STREAMS.inner, count, 1 / Math.sqrt(width));
    this.#outer = new RandomPool(STREAMS.outer, count, LAYER_NOISE / Math.sqrt(width));
  }

  /** Vocabulary x width. */
  words(): Float32Array {
    const { size, firstKey, keyCount, clsId } = VOCABULARY;
    const { width } = this.size;
    const pool = new RandomPool(STREAMS.words, width, 1);
    const codes = new SeededRandom(SEED, STREAMS.codes);
    return this.#table(size, (row, id) => {
      if (id === clsId) row[IS_CLS] = 1;
      if (id >= firstKey && id < firstKey + keyCount) {
        row[IS_KEY] = 1;
        row.set(drawCode(codes), CODE);
      }
      const free = row.subarray(FREE);
      free.set(pool.take(free.length));
      // With the other tables the mean square is 1 in every token: the first normalisation changes no scale.
      const squares = OTHER_SQUARES + squaresOf(row.subarray(0, FREE));
      normaliseTo(free, width - squares * SCALE ** 2);
    });
  }

  /** 512 x width. */
  positions(): Float32Array {
    const random = new SeededRandom(SEED, STREAMS.positions);
    return this.#table(POSITION_COUNT, (row, position) => {
      for (const [pair, frequency] of this.#frequencies.entries()) {
        row[POSITION + 2 * pair] = Math.cos(frequency * position);
        row[POSITION + 2 * pair + 1] = Math.sin(frequency * position);
      }
      const noise = row.subarray(CODE, CODE + CODE_BITS);
      for (let bit = 0; bit < CODE_BITS; bit += 1) noise[bit] = random.nearlyNormal();
      normaliseTo(noise, CODE_BITS * CODE_NOISE ** 2);
      row[ONE] = 1;
    });
  }

  /** 2 x width. */
  segments(): Float32Array {
    return this.#table(2, (row, segment) => {
      row[SEGMENT] = segment === 0 ? 1 : -1;
    });
  }

  /** Rows whose mean is 0: then the first normalisation moves no channel. */
  #table(count: number, fill: (row: Float32Array, index: number) => void): Float32Array {
    const { width } = this.size;
    const table = new Float32Array(count * width);
    for (let index = 0; index < count; index += 1) {
      const row = table.subarray(index * width, (index + 1) * width);
      fill(row, index);
      for (let channel = 0; channel < FREE; channel += 1)
        row[channel] = (row[channel] as number) * SCALE;
      const shift = row.reduce((sum, value) => sum + value, 0) / (width - FREE);
      for (let channel = FREE; channel < width; channel += 1) {
        row[channel] = (row[channel] as number) - shift;
      }
    }
    return table;
  }

  /** Matrices of a layer; random ones are views of the same numbers. */
  layer(index: number): LayerWeights {
    const { width } = this.size;
    const square = width ** 2;
    const weights = {
      query: this.#inner.take(square),
      key: this.#inner.take(square),
      value: this.#inner.take(square),
      output: this.#outer.take(square),
      inner: this.#inner.take(4 * square),
      outer: this.#outer.take(4 * square),
    };
    if (index > 1) return weights;
    const { query, key, value, output } = weights;
    const own = {
      query: query.slice(),
      key: key.slice(),
      value: value.slice(),
      output: output.slice(),
    };
    const [first, second] = [new HeadWeights(own, width, 0), new HeadWeights(own, width, 1)];
    if (index === 0) {
      this.#plantNeighbour(first, -1, BEFORE);
      this.#plantNeighbour(second, 1, BEHIND);
    } else {
      plantMatch(first, BEFORE, START);
      plantMatch(second, BEHIND, END);
    }
    return { ...weights, ...own };
  }

  /** Width x 1: logits of the start, or of the end. */
  logits(which: 'start' | 'end'): Float32Array {
    const weights = new Float32Array(this.size.width);
    weights[which === 'start' ? START : END] = LOGIT_GAIN;
    return weights;
  }

  /** A head that looks at the token `step` away and copies its code to other channels. */
  #plantNeighbour(head: HeadWeights, step: number, target: number): void {
    for (const [pair, frequency] of this.#frequencies.entries()) {
      const [cos, sin] = [2 * pair, 2 * pair + 1];
      // The query is the position turned by a step; the key is the position.
      const [turnCos, turnSin] = [Math.cos(frequency * step), Math.sin(frequency * step)];
      head.set('query', POSITION + cos, cos, NEIGHBOUR_GAIN * turnCos);
      head.set('query', POSITION + sin, cos, -NEIGHBOUR_GAIN * turnSin);
      head.set('query', POSITION + cos, sin, NEIGHBOUR_GAIN * turnSin);
      head.set('query', POSITION + sin, sin, NEIGHBOUR_GAIN * turnCos);
      head.set('key', POSITION + cos, cos, 1);
      head.set('key', POSITION + sin, sin, 1);
    }
    for (let bit = 0; bit < CODE_BITS; bit += 1) {
      head.set('value', CODE + bit, bit, 1);
      head.set('output', target + bit, bit, 1);
    }
  }
}

/** A head that looks for a code in the question: the key word of this code, or else [CLS]. */
function plantMatch(head: HeadWeights, source: number, target: number): void {
  for (let bit = 0; bit < CODE_BITS; bit += 1) {
    head.set('query', source + bit, bit, MATCH_GAIN);
    head.set('key', CODE + bit, bit, 1);
  }
  head.set('query', ONE, CODE_BITS, MATCH_GAIN * CODE_BITS * MATCH_MIN);
  head.set('key', IS_CLS, CODE_BITS, 1);
  head.set('query', ONE, CODE_BITS + 1, SEGMENT_GAIN);
  head.set('key', SEGMENT, CODE_BITS + 1, 1);
  head.set('value', IS_KEY, 0, 1);
  head.set('output', target, 0, RESULT_GAIN);
}

/** Half of the bits are 1, the others -1, so that a code that is added to a token leaves its mean as it is. */
function drawCode(random: SeededRandom): Float32Array {
  const code = new Float32Array(CODE_BITS).fill(-1);
  for (let count = 0; count < CODE_BITS / 2; ) {
    const bit = random.integerBelow(CODE_BITS);
    if (code[bit] === -1) count += 1;
    code[bit] = 1;
  }
  return code;
}

function squaresOf(values: Float32Array): number {
  return values.reduce((sum, value) => sum + value ** 2, 0);
}

/** Gives numbers the mean 0 and a sum of squares. */
function normaliseTo(values: Float32Array, squares: number): void {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const scale = Math.sqrt(squares / (squaresOf(values) - values.length * mean ** 2));
  for (const [i, value] of values.entries()) values[i] = (value - mean) * scale;
}

type AttentionWeights = Pick<LayerWeights, 'query' | 'key' | 'value' | 'output'>;

/** The part of a layer's matrices that belongs to one head, all zeros at first. */
class HeadWeights {
  readonly #weights: AttentionWeights;
  readonly #width: number;
  readonly #begin: number;

  constructor(weights: AttentionWeights, width: number, head: number) {
    this.#weights = weights;
    this.#width = width;
    this.#begin = head * HEAD_WIDTH;
    weights.output.fill(0, this.#begin * width, (this.#begin + HEAD_WIDTH) * width);
    for (let row = 0; row < width; row += 1) {
      const at = row * width + this.#begin;
      for (const matrix of [weights.query, weights.key, weights.value]) {
        matrix.fill(0, at, at + HEAD_WIDTH);
      }
    }
  }

  /** Sets what goes from a channel of the model to one of the head, or back for `output`. */
  set(matrix: keyof AttentionWeights, channel: number, inHead: number, value: number): void {
    const own = this.#begin + inHead;
    const at = matrix === 'output' ? own * this.#width + channel : channel * this.#width + own;
    this.#weights[matrix][at] = value;
  }
}

/** Random numbers of which matrices are views that begin at different places: no two are equal, and memory is that of one. */
class RandomPool {
  readonly #values: Float32Array;
  #offset = 0;

  constructor(stream: number, count: number, deviation: number) {
    const random = new SeededRandom(SEED, stream);
    this.#values = new Float32Array(count + POOL_SPARE);
    for (let i = 0; i < this.#values.length; i += 1) {
      this.#values[i] = random.nearlyNormal() * deviation;
    }
  }

  take(count: number): Float32Array {
    this.#offset = (this.#offset + POOL_STEP) % POOL_SPARE;
    return this.#values.subarray(this.#offset, this.#offset + count);
  }
}

/** Places where a view may begin, and the step from one view to the next: a prime, so that places repeat late. */
const POOL_SPARE = 2 ** 16;
const POOL_STEP = 4099;
