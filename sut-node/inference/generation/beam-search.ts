import type { GenerationLimits } from '../../../shared/rules/rows/benchmark-card.ts';
import { BestOf } from '../../pipeline/best-of.ts';
import type { Scores } from './cached-decoder.ts';
import { type NextRow, noNumbers, type TokenSearch } from './token-search.ts';

/** New tokens of a beam, last one first. */
interface Link {
  readonly token: number;
  readonly before: Link | undefined;
}

/** A row of an unfinished beam. */
interface Beam {
  readonly end: Link | undefined;
  /** Sum of its tokens' log probabilities. */
  readonly logProbability: number;
}

/** A beam extended by one token. */
interface Candidate {
  /** Its {@link Beam.logProbability}. */
  readonly score: number;
  readonly from: number;
  readonly token: number;
}

/**
 * Beam search equal to Hugging Face transformers' with `early_stopping=True` and a length penalty
 * of 1. Twice as many candidates as beams are considered: the best ones that do not end continue;
 * those that end, and rank among the best `beams`, are finished. The search ends at `beams`
 * finished ones, or at the token limit, where all continuing beams count as finished. The answer is
 * the finished beam with the highest mean over its tokens, end token included.
 */
export class BeamTokenSearch implements TokenSearch {
  tokens: readonly number[] = [];
  readonly #limits: GenerationLimits & { readonly beams: number };
  #beams: readonly Beam[] = [{ end: undefined, logProbability: 0 }];
  #length = 0;
  #finishedCount = 0;
  #best: { readonly end: Link; readonly mean: number } | undefined;

  constructor(limits: GenerationLimits & { readonly beams: number }) {
    this.#limits = limits;
  }

  advance(scores: readonly Scores[]): readonly NextRow[] {
    const { beams: width, endToken, newTokensMax } = this.#limits;
    const candidates = this.#candidates(scores);
    this.#length += 1;
    const next: Candidate[] = [];
    for (const [rank, candidate] of candidates.entries()) {
      if (candidate.token !== endToken) next.push(candidate);
      else if (rank < width) this.#finish(this.#beamOf(candidate));
      if (next.length === width) break;
    }
    const beams = next.map((candidate) => this.#beamOf(candidate));
    this.#beams = beams;
    const isFull = this.#finishedCount >= width;
    const isLast = this.#length >= newTokensMax || next.length === 0;
    if (!isFull && !isLast) return next;
    if (!isFull) for (const beam of beams) this.#finish(beam);
    this.#beams = [];
    this.tokens = tokensOf(this.#best?.end);
    return [];
  }

  /** @throws Error if a score is NaN, or no token has a probability. */
  #candidates(scores: readonly Scores[]): readonly Candidate[] {
    const { beams: width, endToken, newTokensMin } = this.#limits;
    const excluded = this.#length < newTokensMin ? endToken : undefined;
    const best = new BestOf<Candidate>(2 * width);
    for (const [from, own] of scores.entries()) {
      const tokens = bestTokens(own, 2 * width, excluded);
      const { logProbability: before } = this.#beams[from] as Beam; // As many as rows.
      const shift = before - logSumOfExponentials(own);
      for (const { score, token } of tokens) best.add({ score: shift + score, from, token });
    }
    return best.candidates;
  }

  #beamOf({ score, from, token }: Candidate): Beam & { readonly end: Link } {
    const { end: before } = this.#beams[from] as Beam; // A row of the last step.
    return { end: { token, before }, logProbability: score };
  }

  #finish({ end, logProbability }: Beam & { readonly end: Link }): void {
    this.#finishedCount += 1;
    const mean = logProbability / this.#length;
    if (this.#best === undefined || mean > this.#best.mean) this.#best = { end, mean };
  }
}

function tokensOf(end: Link | undefined): readonly number[] {
  const tokens: number[] = [];
  for (let link = end; link !== undefined; link = link.before) tokens.push(link.token);
  return tokens.reverse();
}

/** Best first; of equal ones the lowest id. */
function bestTokens(scores: Scores, count: number, excluded: number | undefined) {
  const best = new BestOf<{ readonly score: number; readonly token: number }>(count);
  let { worst } = best;
  for (let token = 0; token < scores.length; token += 1) {
    const score = scores[token] as number;
    // Early exit: most tokens score too low.
    if (!(score > worst) || token === excluded) continue;
    best.add({ score, token });
    worst = best.worst;
  }
  return best.candidates;
}

/** Terms this far below the largest change the sum less than float32 rounding does. */
const NEGLIGIBLE = -32;

/** @throws Error if a score is NaN, or none is above negative infinity. */
function logSumOfExponentials(scores: Scores): number {
  let highest = Number.NEGATIVE_INFINITY;
  for (let id = 0; id < scores.length; id += 1) {
    const score = scores[id] as number;
    if (score > highest) highest = score;
  }
  let sum = 0;
  for (let id = 0; id < scores.length; id += 1) {
    const below = (scores[id] as number) - highest;
    // Also true for NaN, which must reach the sum.
    if (!(below < NEGLIGIBLE)) sum += Math.exp(below);
  }
  if (!Number.isFinite(sum)) throw noNumbers();
  return highest + Math.log(sum);
}
