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
import { type CachedRow, CacheSlots } from './cache-slots.ts';

/** Scores of the next token, one per id; valid until the next call of the model. */
export type Scores = Float32Array;

/**
 * Sequences that a model continues concurrently, one per row. Implemented by {@link CachedDecoder};
 * a fake in tests. One call at a time.
 */
export interface SequenceModel {
  /**
   * Adds a prompt as the last row. Other rows do not change, even if it throws. @throws Error of
   * the model
   */
  enter(prompt: readonly number[]): Promise<Scores>;
  /**
   * Adds a token to each row, in order. @throws Error of the model: the rows are then unchanged.
   */
  step(tokens: readonly number[]): Promise<readonly Scores[]>;
  /** Selects the rows from now on: indices of current rows, with repetition, in any order. */
  keep(rows: readonly number[]): void;
}

/** Tokens of several rows. */
interface Inference {
  /** Tokens of the cache, padding included. */
  readonly past: number;
  readonly caches: readonly TensorElements[];
  /** Tokens of each row so far. */
  readonly lengths: readonly number[];
  /** Tokens of all rows, row by row, the same number for each. */
  readonly tokens: readonly number[];
}

/**
 * A decoder-only model in ONNX Runtime with the keys and values of earlier tokens as inputs. Those
 * of new tokens are read from separate outputs if the model has them (cache-additions.ts), else
 * from the end of the full outputs, and stored in slots.
 */
export class CachedDecoder implements SequenceModel {
  readonly #layout: DecoderLayout;
  readonly #session: ModelSession;
  readonly #slots: CacheSlots;
  readonly #pasts: readonly string[];
  /** Outputs with the keys and values of all tokens. */
  readonly #presents: readonly string[];
  /** Outputs with keys and values of the new tokens: only these if the model has separate ones. */
  readonly #outputs: readonly string[];
  readonly #nothing: TensorElements;
  #rows: readonly CachedRow[] = [];

  constructor(layout: DecoderLayout, session: ModelSession) {
    this.#layout = layout;
    this.#session = session;
    const names = DECODER_TENSORS.caches(layout.layers);
    const { addedOutputs = [] } = session;
    const added = names.map((name) => name.added);
    this.#pasts = names.map(({ past }) => past);
    this.#presents = names.map(({ present }) => present);
    this.#outputs = added.every((name) => addedOutputs.includes(name)) ? added : this.#presents;
    const elements = ELEMENT_TYPES.get(layout.cacheType) as ElementType; // A key of the table.
    this.#nothing = elements.view(new ArrayBuffer(0), 0, 0);
    this.#slots = new CacheSlots(layout, names.length);
  }

  async enter(prompt: readonly number[]): Promise<Scores> {
    const { scores, added } = await this.#run({
      past: 0,
      caches: this.#pasts.map(() => this.#nothing),
      lengths: [0],
      tokens: prompt,
    });
    this.#rows = [...this.#rows, { at: added, length: prompt.length }];
    return scores[0] as Scores; // One row.
  }

  async step(tokens: readonly number[]): Promise<readonly Scores[]> {
    assert.equal(tokens.length, this.#rows.length);
    const rows = this.#slots.arrange(this.#rows);
    this.#rows = rows;
    const lengths = rows.map(({ length }) => length);
    const tokensOfSlots = [...tokens];
    for (const [i, { at, length }] of rows.entries()) {
      lengths[at] = length;
      tokensOfSlots[at] = tokens[i] as number;
    }
    const { capacity: past, tensors: caches } = this.#slots;
    const { scores, added } = await this.#run({ past, caches, lengths, tokens: tokensOfSlots });
    this.#slots.add(added);
    this.#rows = rows.map(({ at, length }) => ({ at, length: length + 1 }));
    return rows.map(({ at }) => scores[at] as Scores);
  }

  keep(rows: readonly number[]): void {
    this.#rows = rows.map((row) => this.#rows[row] as CachedRow);
  }

  /**
   * Scores after a prompt and after each further token, for a sequence alone and without padding:
   * its cache is the model's own. Does not change other rows. @throws Error of the model
   */
  async scoresAlone(prompt: readonly number[], next: readonly number[]): Promise<Scores[]> {
    const found: Scores[] = [];
    let past = 0;
    let caches: readonly TensorElements[] = this.#pasts.map(() => this.#nothing);
    for (const tokens of [prompt, ...next.map((token) => [token])]) {
      const inference = { past, caches, lengths: [past], tokens };
      const { scores, added } = await this.#run(inference, this.#presents);
      found.push((scores[0] as Scores).slice()); // One row.
      caches = added.map(({ data }) => data);
      past += tokens.length;
    }
    return found;
  }

  /** One inference. @param cacheOutputs Outputs with keys and values. */
  async #run({ past, caches, lengths, tokens }: Inference, cacheOutputs = this.#outputs) {
    const rows = lengths.length;
    const count = tokens.length / rows;
    const total = past + count;
    const mask = new BigInt64Array(rows * total).fill(1n);
    const positions = new BigInt64Array(rows * count);
    for (const [row, length] of lengths.entries()) {
      mask.fill(0n, row * total, row * total + past - length);
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
    const dims = [rows, heads, past, headWidth];
    for (const [i, name] of this.#pasts.entries()) {
      inputs.push({ name, elementType, data: caches[i] as TensorElements, dims });
    }
    const names = [DECODER_TENSORS.logits, ...cacheOutputs];
    const outputs = await this.#session.run(inputs, names);
    // All requested outputs are present.
    const output = (name: string): OutputTensor => outputs.get(name) as OutputTensor;
    const given = cacheOutputs === this.#presents ? total : count;
    const added = cacheOutputs.map((name) => {
      const tensor = output(name);
      assert.deepEqual([...tensor.dims], [rows, heads, given, headWidth], `the shape of ${name}`);
      return tensor;
    });
    return { scores: this.#lastScores(output(DECODER_TENSORS.logits), rows), added };
  }

  /**
   * Scores after the last token of each row; some models return those of all tokens, some only
   * these.
   */
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
