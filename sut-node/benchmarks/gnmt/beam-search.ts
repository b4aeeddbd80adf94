import { modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { BestOf } from '../../pipeline/best-of.ts';

/** Length penalty: ((5 + tokens) / (5 + 1)) to the power of 1, the weight of the reference's hyperparameters. */
const PENALTY_BASE = 5;

/** Tokens of a hypothesis, the last one first. */
interface Link {
  readonly token: number;
  readonly before: Link | undefined;
}

/** A beam: tokens so far and what they are worth. */
interface Hypothesis {
  readonly end: Link | undefined;
  readonly isFinished: boolean;
  /** Sum of the tokens' logarithms of probability, rounded to float32 at each step. */
  readonly logProbability: number;
  /** Tokens, the end token included. */
  readonly length: number;
}

/** A beam of the next step. */
interface Candidate {
  readonly score: number;
  readonly beam: Hypothesis;
  /** Row of the beam among those of the last step; undefined where it was finished before. */
  readonly row: number | undefined;
  readonly token: number;
  readonly logProbability: number;
}

/**
 * The search of one sentence, beam by beam as TensorFlow's BeamSearchDecoder (tf.contrib.seq2seq, 1.13) makes it for a sentence that is
 * alone in its batch, in float32: the end token does not count for the length with which a candidate is compared, but counts from the
 * step after on; a finished beam stays as it is, and is compared anew in each step; of equal scores the lower beam, then the lower token,
 * is first. The search ends when all beams are finished, or after `stepsMax` steps; the first beam is the translation.
 * There, beams without probability fill up the first steps. They can never win, and are left out here: {@link tokens} are only beams
 * that go on, so that no row of the decoder is wasted.
 */
export class BeamSearch {
  readonly #width: number;
  readonly #endToken: number;
  #stepsLeft: number;
  /** Best first. */
  #beams: readonly Hypothesis[];
  #tokens: readonly number[];

  /** @param stepsMax Tokens at most; 0: the translation is empty. */
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

  /** Last token of each beam that goes on: the decoder's rows of the next step. None: the search has ended. */
  get tokens(): readonly number[] {
    return this.#tokens;
  }

  /**
   * Chooses the beams of the next step.
   * @param logProbabilities Rows of the decoder's output, that of the first of {@link tokens} at `firstRow`.
   * @returns For each of the new {@link tokens} its parent, as a place in the old ones.
   * @throws MlperfError `ERR_MODEL` where no token has a probability.
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
      // Most tokens end here.
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

/** In float32, as TensorFlow counts. */
function penaltyOf(length: number): number {
  return Math.fround((PENALTY_BASE + length) / (PENALTY_BASE + 1));
}

/** Part of both numbers below which rounding to float32 stays. */
const ROUNDING = 1e-6;

/**
 * A token whose logarithm of probability is not above this has no score above `worst`, whatever rounding does.
 * @param penalty That of the beam which leaves more: the larger one for a negative score.
 */
function leastOf(worst: number, penalty: number, before: number): number {
  if (worst === Number.NEGATIVE_INFINITY) return worst;
  const least = worst * penalty;
  return least - before - ROUNDING * (Math.abs(least) + Math.abs(before));
}
