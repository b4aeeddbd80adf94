import { modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { BestOf } from '../../pipeline/best-of.ts';

/** Length penalty: ((5 + tokens) / (5 + 1)) to the power of 1, the reference's weight. */
const PENALTY_BASE = 5;

/** Tokens of a hypothesis, last one first. */
interface Link {
  readonly token: number;
  readonly before: Link | undefined;
}

/** A beam: its tokens so far and their score. */
interface Hypothesis {
  readonly end: Link | undefined;
  readonly isFinished: boolean;
  /** Sum of the tokens' log probabilities, rounded to float32 at each step. */
  readonly logProbability: number;
  /** Number of tokens, including the end token. */
  readonly length: number;
}

/** A candidate beam for the next step. */
interface Candidate {
  readonly score: number;
  readonly beam: Hypothesis;
  /** Row of the beam in the last step; undefined if it was finished before. */
  readonly row: number | undefined;
  readonly token: number;
  readonly logProbability: number;
}

/**
 * Beam search of one sentence, equal to TensorFlow's BeamSearchDecoder (tf.contrib.seq2seq, 1.13)
 * for a sentence alone in its batch, in float32. The end token does not count in the length at the
 * step that chooses it, but in all later steps. A finished beam stays and is compared anew in each
 * step. Of equal scores the lower beam, then the lower token, comes first. The search ends when all
 * beams are finished, or after `stepsMax` steps; the first beam is the translation. TensorFlow
 * fills the first steps with beams of probability 0. They can never win and are left out here:
 * {@link tokens} holds only unfinished beams, so no row of the decoder is wasted.
 */
export class BeamSearch {
  readonly #width: number;
  readonly #endToken: number;
  #stepsLeft: number;
  /** Best first. */
  #beams: readonly Hypothesis[];
  #tokens: readonly number[];

  /** @param stepsMax Most tokens; 0: the translation is empty. */
  constructor(options: {
    readonly width: number;
    readonly startToken: number;
    readonly endToken: number;
    readonly stepsMax: number;
  }) {
    this.#width = options.width;
    this.#endToken = options.endToken;
    this.#stepsLeft = options.stepsMax;
    this.#beams = [{ end: undefined, isFinished: false, logProbability: 0, length: 0 }];
    this.#tokens = options.stepsMax > 0 ? [options.startToken] : [];
  }

  /**
   * Last token of each unfinished beam: the decoder's rows of the next step. Empty: the search has
   * ended.
   */
  get tokens(): readonly number[] {
    return this.#tokens;
  }

  /**
   * Chooses the beams of the next step.
   * @param logProbabilities Rows of the decoder's output; the first of {@link tokens} is at
   * `firstRow`.
   * @returns For each new entry of {@link tokens} the index of its parent in the old ones.
   * @throws MlperfError `ERR_MODEL` if no token has a probability.
   */
  advance(logProbabilities: Float32Array, firstRow: number, vocabularySize: number): number[] {
    const chosen = this.#choose(logProbabilities, firstRow, vocabularySize);
    if (chosen.length === 0) {
      throw modelError('the decoder gives no token a probability: its "log_probs" are not numbers');
    }
    this.#stepsLeft -= 1;
    const parents: number[] = [];
    const tokens: number[] = [];
    this.#beams = chosen.map(({ beam, row, token, logProbability }) => {
      if (row === undefined) return beam;
      const isFinished = token === this.#endToken;
      if (!isFinished) {
        parents.push(row);
        tokens.push(token);
      }
      const end = { token, before: beam.end };
      return { end, isFinished, logProbability, length: beam.length + 1 };
    });
    this.#tokens = this.#stepsLeft > 0 ? tokens : [];
    return this.#stepsLeft > 0 ? parents : [];
  }

  #choose(logProbabilities: Float32Array, firstRow: number, size: number): readonly Candidate[] {
    const best = new BestOf<Candidate>(this.#width);
    let row = 0;
    for (const beam of this.#beams) {
      if (beam.isFinished) {
        this.#addFinished(best, beam);
        continue;
      }
      const begin = (firstRow + row) * size;
      this.#addTokens(best, beam, row, logProbabilities.subarray(begin, begin + size));
      row += 1;
    }
    return best.candidates;
  }

  #addFinished(best: BestOf<Candidate>, beam: Hypothesis): void {
    const { logProbability, length } = beam;
    const score = Math.fround(logProbability / penaltyOf(length));
    if (!(score > best.worst)) return;
    best.add({ score, beam, row: undefined, token: this.#endToken, logProbability });
  }

  #addTokens(best: BestOf<Candidate>, beam: Hypothesis, row: number, own: Float32Array): void {
    const { logProbability: before, length } = beam;
    const ownPenalty = penaltyOf(length);
    const nextPenalty = penaltyOf(length + 1);
    const leastNow = (): number =>
      leastOf(best.worst, best.worst < 0 ? nextPenalty : ownPenalty, before);
    let least = leastNow();
    for (let token = 0; token < own.length; token += 1) {
      // Early exit: most tokens score too low.
      if (!((own[token] as number) > least)) continue;
      const logProbability = Math.fround(before + (own[token] as number));
      const penalty = token === this.#endToken ? ownPenalty : nextPenalty;
      const score = Math.fround(logProbability / penalty);
      if (!(score > best.worst)) continue;
      best.add({ score, beam, row, token, logProbability });
      least = leastNow();
    }
  }

  /** Tokens of the best beam, without the end token. */
  result(): number[] {
    const tokens: number[] = [];
    for (let link = this.#beams[0]?.end; link !== undefined; link = link.before) {
      tokens.push(link.token);
    }
    tokens.reverse();
    const end = tokens.indexOf(this.#endToken);
    return end < 0 ? tokens : tokens.slice(0, end);
  }
}

/** In float32, as in TensorFlow. */
function penaltyOf(length: number): number {
  return Math.fround((PENALTY_BASE + length) / (PENALTY_BASE + 1));
}

/** Bound of float32 rounding, relative to both numbers. */
const ROUNDING = 1e-6;

/**
 * Bound: a token with a log probability not above this has no score above `worst`, whatever the
 * rounding.
 * @param penalty The penalty with the looser bound: the larger one for a negative score.
 */
function leastOf(worst: number, penalty: number, before: number): number {
  if (worst === Number.NEGATIVE_INFINITY) return worst;
  const least = worst * penalty;
  return least - before - ROUNDING * (Math.abs(least) + Math.abs(before));
}
