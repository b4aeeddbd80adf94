import type { SequenceModel } from '../../../sut-node/inference/generation/cached-decoder.ts';

/** How scores follow from a hash; as in test/golden/beam-search. */
export interface HashScores {
  readonly seed: number;
  readonly vocabulary: number;
  readonly spread: number;
  /** Added to the score of the end token. */
  readonly endBonus: number;
}

/** Id of the end token. */
export const HASH_END = 2;

/** Scores behind the new tokens of a sequence: each other history gives others. */
export function hashScores(options: HashScores, history: readonly number[]): Float32Array {
  const { seed, vocabulary, spread, endBonus } = options;
  const past = history.reduce((hash, token) => (Math.imul(hash, 31) + token + 1) >>> 0, 0);
  return Float32Array.from({ length: vocabulary }, (_, token) => {
    const begin =
      Math.imul(seed, 0x9e3779b1) +
      Math.imul(history.length, 0x85ebca6b) +
      Math.imul(past, 0xc2b2ae35) +
      Math.imul(token, 0x27d4eb2f);
    return (mixed(begin) / 2 ** 32) * spread + (token === HASH_END ? endBonus : 0);
  });
}

function mixed(value: number): number {
  let hash = value >>> 0;
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x7feb352d);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x846ca68b);
  hash ^= hash >>> 16;
  return hash >>> 0;
}

interface Row {
  readonly seed: number;
  readonly history: readonly number[];
}

/**
 * Rows that know their history. A prompt is the seed of its scores, perhaps with more behind it
 * that does not count.
 */
export class HashModel implements SequenceModel {
  /** Most rows that there ever were. */
  rowsMax = 0;
  /** Called before each step. */
  onStep: () => void = () => {};
  readonly #options: Omit<HashScores, 'seed'>;
  #rows: Row[] = [];

  constructor(options: Omit<HashScores, 'seed'>) {
    this.#options = options;
  }

  async enter([seed = 0]: readonly number[]): Promise<Float32Array> {
    this.#rows.push({ seed, history: [] });
    return hashScores({ ...this.#options, seed }, []);
  }

  async step(tokens: readonly number[]): Promise<Float32Array[]> {
    this.onStep();
    this.#rows = this.#rows.map(({ seed, history }, row) => ({
      seed,
      history: [...history, tokens[row] as number],
    }));
    return this.#rows.map(({ seed, history }) => hashScores({ ...this.#options, seed }, history));
  }

  keep(rows: readonly number[]): void {
    this.#rows = rows.map((row) => this.#rows[row] as Row);
    this.rowsMax = Math.max(this.rowsMax, rows.length);
  }
}
