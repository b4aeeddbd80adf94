import type { GenerationLimits } from '../../../shared/rules/rows/benchmark-card.ts';
import type { Scores } from './cached-decoder.ts';

/** A row of the next step: row `from` of the sequence's rows so far, with one more token. */
export interface NextRow {
  readonly from: number;
  readonly token: number;
}

/** How the tokens of one sequence are chosen. */
export interface TokenSearch {
  /** New tokens that are settled, the end token included; further ones may still become others. */
  readonly tokens: readonly number[];
  /**
   * Chooses the next token.
   * @param scores Of the sequence's rows: of one behind the prompt, then of those that the last call gave.
   * @returns None: the sequence has ended.
   * @throws Error where scores are no numbers
   */
  advance(scores: readonly Scores[]): readonly NextRow[];
}

/** Takes the highest score each time, the lowest id of equal ones; behind the end mark the end token. */
export class GreedyTokenSearch implements TokenSearch {
  readonly tokens: number[] = [];
  readonly #limits: GenerationLimits;
  readonly #endMark: readonly number[] | undefined;
  /** As many tokens as the end mark has, the latest ones, those of the prompt too. */
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
    const token = isMarked === true ? endToken : bestToken(scores as Scores, excluded); // It has one row.
    this.tokens.push(token);
    const isEnd = token === endToken || this.tokens.length >= newTokensMax;
    if (isEnd) return [];
    this.#latest.push(token);
    this.#latest.shift();
    return [{ from: 0, token }];
  }
}

/** @throws Error where a score is NaN, or none is above negative infinity. */
function bestToken(scores: Scores, excluded: number | undefined): number {
  let best: number | undefined;
  let highest = Number.NEGATIVE_INFINITY;
  for (let id = 0; id < scores.length; id += 1) {
    const score = scores[id] as number;
    // One comparison for nearly all: NaN fails it as well.
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
