import assert from 'node:assert';
import {
  type DecoderLayout,
  ELEMENT_TYPES,
  type ElementType,
  type InputTensor,
  type OutputTensor,
  type TensorElements,
} from '../../model/model-facts.ts';
import { floatsOf } from '../../model/onnx/half-session.ts';
import type { ModelSession } from '../../model/onnx/ort-session.ts';
import { DECODER_TENSORS } from '../../pipeline/decoder-fit.ts';

/** Scores of the next token, one per id; valid until the next call of the model. */
export type Scores = Float32Array;

/**
 * Sequences that a model goes on with side by side, one per row. Implemented by {@link CachedDecoder}; a fake in tests. One
 * call at a time.
 */
export interface SequenceModel {
  /** Takes a prompt as the last row. The other rows stay as they are, also where it throws. @throws Error of the model */
  enter(prompt: readonly number[]): Promise<Scores>;
  /** Adds a token to each row, in their order. @throws Error of the model: then the rows are as before. */
  step(tokens: readonly number[]): Promise<readonly Scores[]>;
  /** The rows from now on: numbers of those that there are, any number of times, in any order. */
  keep(rows: readonly number[]): void;
}

/** Keys and values of rows of one length, per tensor: [rows, heads, length, width of a head]. */
interface Cache {
  readonly tensors: readonly TensorElements[];
  readonly rows: number;
  readonly length: number;
}

/** A sequence: its keys and values are the last `length` of a row of a cache; what lies before them is filling. */
interface Row {
  readonly cache: Cache;
  readonly index: number;
  readonly length: number;
}

/**
 * A decoder-only model in ONNX Runtime that gets the keys and values of the tokens so far as inputs and gives them, one token
 * longer, as outputs.
 *
 * Outputs of a step are the inputs of the next one as they are. Only when a sequence has come or gone are the rows copied into
 * new tensors: as long as the longest, the others filled up on their left with zeros that the mask hides. The model itself
 * copies as much in every step.
 */
export class CachedDecoder implements SequenceModel {
  readonly #layout: DecoderLayout;
  readonly #session: ModelSession;
  readonly #caches: ReturnType<typeof DECODER_TENSORS.caches>;
  readonly #outputNames: readonly string[];
  readonly #elements: ElementType;
  #rows: Row[] = [];

  constructor(layout: DecoderLayout, session: ModelSession) {
    this.#layout = layout;
    this.#session = session;
    this.#caches = DECODER_TENSORS.caches(layout.layers);
    const presents = this.#caches.map(({ present }) => present);
    this.#outputNames = [DECODER_TENSORS.logits, ...presents];
    this.#elements = ELEMENT_TYPES.get(layout.cacheType) as ElementType; // A key of the table.
  }

  async enter(prompt: readonly number[]): Promise<Scores> {
    const { length } = prompt;
    const none = this.#newCache(1, 0);
    const { scores, cache } = await this.#run(none, prompt, [0], length);
    this.#rows.push({ cache, index: 0, length });
    return scores[0] as Scores; // One row.
  }

  async step(tokens: readonly number[]): Promise<readonly Scores[]> {
    assert.equal(tokens.length, this.#rows.length);
    const past = this.#joined();
    const lengths = this.#rows.map(({ length }) => length);
    const { scores, cache } = await this.#run(past, tokens, lengths, 1);
    this.#rows = lengths.map((length, index) => ({ cache, index, length: length + 1 }));
    return scores;
  }

  keep(rows: readonly number[]): void {
    this.#rows = rows.map((row) => this.#rows[row] as Row);
  }

  /** All rows in one cache that has nothing else. */
  #joined(): Cache {
    const rows = this.#rows;
    const length = Math.max(...rows.map((row) => row.length));
    const cache = rows[0]?.cache as Cache; // A step has a row.
    const isWhole =
      cache.rows === rows.length &&
      cache.length === length &&
      rows.every((row, i) => row.cache === cache && row.index === i);
    if (isWhole) return cache;
    const joined = this.#newCache(rows.length, length);
    const { heads, headWidth } = this.#layout;
    for (const [row, { cache: from, index, length: own }] of rows.entries()) {
      for (const [i, target] of joined.tensors.entries()) {
        const source = from.tensors[i] as Float32Array; // Both have the type of the caches.
        for (let head = 0; head < heads; head += 1) {
          const sourceEnd = (index * heads + head + 1) * from.length * headWidth;
          const targetEnd = (row * heads + head + 1) * length * headWidth;
          const content = source.subarray(sourceEnd - own * headWidth, sourceEnd);
          (target as Float32Array).set(content, targetEnd - content.length);
        }
      }
    }
    this.#rows = rows.map((row, index) => ({ cache: joined, index, length: row.length }));
    return joined;
  }

  #newCache(rows: number, length: number): Cache {
    const { heads, headWidth } = this.#layout;
    const count = rows * heads * length * headWidth;
    const tensors = this.#caches.map(() =>
      this.#elements.view(new ArrayBuffer(count * this.#elements.bytes), 0, count),
    );
    return { tensors, rows, length };
  }

  /**
   * One inference.
   * @param past Of as many rows as there are `lengths`: tokens of each row so far.
   * @param tokens Of all rows, row by row.
   * @param count Tokens of each row.
   */
  async #run(past: Cache, tokens: readonly number[], lengths: readonly number[], count: number) {
    const { rows } = past;
    const total = past.length + count;
    const mask = new BigInt64Array(rows * total).fill(1n);
    const positions = new BigInt64Array(rows * count);
    for (const [row, length] of lengths.entries()) {
      mask.fill(0n, row * total, row * total + past.length - length);
      for (let i = 0; i < count; i += 1) positions[row * count + i] = BigInt(length + i);
    }
    const inputs = [
      integers(DECODER_TENSORS.ids, BigInt64Array.from(tokens, BigInt), [rows, count]),
      integers(DECODER_TENSORS.mask, mask, [rows, total]),
    ];
    if (this.#layout.hasPositions) {
      inputs.push(integers(DECODER_TENSORS.positions, positions, [rows, count]));
    }
    const { heads, headWidth, cacheType: elementType } = this.#layout;
    const dims = [rows, heads, past.length, headWidth];
    for (const [i, { past: name }] of this.#caches.entries()) {
      inputs.push({ name, elementType, data: past.tensors[i] as TensorElements, dims });
    }
    const outputs = await this.#session.run(inputs, this.#outputNames);
    const output = (name: string): OutputTensor => outputs.get(name) as OutputTensor; // All were asked for.
    const tensors = this.#caches.map(({ present }) => {
      const { data, dims: found } = output(present);
      assert.deepEqual([...found], [rows, heads, total, headWidth], `the shape of ${present}`);
      return data;
    });
    return {
      scores: this.#lastScores(output(DECODER_TENSORS.logits), rows),
      cache: { tensors, rows, length: total },
    };
  }

  /** Scores behind the last token of each row; some models give those of all tokens, some only these. */
  #lastScores({ data, dims }: OutputTensor, rows: number): Scores[] {
    const { vocabulary, logitsType } = this.#layout;
    const [foundRows, tokens = 0] = dims;
    assert.equal(foundRows, rows, 'the rows of logits');
    return Array.from({ length: rows }, (_, row) => {
      const end = (row + 1) * tokens * vocabulary;
      const scores = data.subarray(end - vocabulary, end);
      return logitsType === 'float' ? (scores as Float32Array) : floatsOf(scores as Uint16Array);
    });
  }
}

function integers(name: string, data: BigInt64Array, dims: readonly number[]): InputTensor {
  return { name, elementType: 'int64', data, dims };
}
