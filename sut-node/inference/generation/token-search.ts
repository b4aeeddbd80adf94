import type { GenerationLimits } from '../../../shared/rules/rows/benchmark-card.ts';
import type { Scores } from './cached-decoder.ts';

/** A row of the next step: row `from` of the sequence's current rows, plus one token. */
export interface NextRow {
  readonly from: number;
  readonly token: number;
}

/** How the tokens of one sequence are chosen. */
export interface TokenSearch {
  /** Final new tokens, end token included; later ones may still change. */
  readonly tokens: readonly number[];
  /**
   * Chooses the next token.
   * @param scores Scores of the sequence's rows: first of one row after the prompt, then of the
   * rows returned by the last call.
   * @returns Rows of the next step; empty: the sequence has ended.
   * @throws Error if scores are NaN
   */
  advance(scores: readonly Scores[]): readonly NextRow[];
}

/** Takes the highest score, the lowest id of equal ones; after the end mark the end token. */
export class GreedyTokenSearch implements TokenSearch {
  readonly tokens: number[] = [];
  readonly #limits: GenerationLimits;
  readonly #endMark: readonly number[] | undefined;
  /** The latest tokens, prompt included, as many as the end mark has. */
  readonly #latest: number[];

  constructor(limits: GenerationLimits, prompt: readonly number[]) {
    this.#limits = limits;
    const { endMark } = limits;
    const isMarked = endMark?.promptHead.every((id, i) => prompt[i] === id);
    this.#endMark = isMarked === true ? endMark?.ids : undefined;
    this.#latest = this.#endMark === undefined ? [] : prompt.slice(-this.#endMark.length);
  }

  advance([scores]: readonly Scores[]): readonly NextRow[] {
    const { endToken, newTokensMin, newTokensMax } = this.#limits;
    const excluded = this.tokens.length < newTokensMin ? endToken : undefined;
    const isMarked = this.#endMark?.every((id, i) => this.#latest[i] === id);
    // In range: it has one row.
    const token = isMarked === true ? endToken : bestToken(scores as Scores, excluded);
    this.tokens.push(token);
    const isEnd = token === endToken || this.tokens.length >= newTokensMax;
    if (isEnd) return [];
    this.#latest.push(token);
    this.#latest.shift();
    return [{ from: 0, token }];
  }
}

/** @throws Error if a score is NaN, or none is above negative infinity. */
function bestToken(scores: Scores, excluded: number | undefined): number {
  let best: number | undefined;
  let highest = Number.NEGATIVE_INFINITY;
  for (let id = 0; id < scores.length; id += 1) {
    const score = scores[id] as number;
    // One comparison for nearly all scores: NaN fails it too.
    if (score <= highest) continue;
    if (Number.isNaN(score)) throw noNumbers();
    if (id === excluded) continue;
    highest = score;
    best = id;
  }
  if (best === undefined) throw noNumbers();
  return best;
}

/** The error of scores that are NaN, or all negative infinity. */
export function noNumbers(): Error {
  return new Error('the model gave no numbers as the scores of the next token');
}
