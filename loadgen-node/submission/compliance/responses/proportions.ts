import { normalDeviate } from '../../../search/peak/over-share.ts';

/** Number of correct answers, and of all answers. */
export interface Proportion {
  readonly correct: number;
  readonly total: number;
}

/** Share of correct answers. */
export function shareOf({ correct, total }: Proportion): number {
  return correct / total;
}

/** Responses to one sample, in two groups. */
export interface TwoGroups {
  /** Responses of both groups, and the number of correct ones. */
  readonly count: number;
  readonly rightCount: number;
  /** Size of the group that a cheating system would answer better. */
  readonly favouredCount: number;
  readonly favouredRightCount: number;
}

/** Smallest probability that a double still represents well. */
const LEAST_CHANCE = 1e-300;

/**
 * Standard deviations by which the favoured groups are correct more often than the others; 0 if
 * they are not.
 *
 * If both groups are treated alike, every order of a sample's responses is equally likely, however
 * often the sample itself is answered wrongly. So the number of correct answers in the favoured
 * group follows a hypergeometric distribution per sample, and their sum has an exact distribution.
 * Responses within a group can be correlated (a batch size decides the last bits of all of them);
 * samples then vary more than that distribution, and the deviation is divided by the square root of
 * the excess (Pearson's dispersion, if above 1).
 */
export function rightLessOften(samples: readonly TwoGroups[]): number {
  const telling = samples.filter(isTelling);
  let seen = 0;
  let squares = 0;
  let variance = 0;
  let chances: Float64Array = Float64Array.of(1);
  for (const sample of telling) {
    const own = hypergeometric(sample);
    const mean = own.reduce((sum, chance, right) => sum + chance * right, 0);
    variance += own.reduce((sum, chance, right) => sum + chance * (right - mean) ** 2, 0);
    squares += (sample.favouredRightCount - mean) ** 2;
    seen += sample.favouredRightCount;
    chances = convolved(chances, own);
  }
  const chance = chances.subarray(seen).reduce((sum, one) => sum + one, 0);
  if (telling.length === 0 || chance >= 0.5) return 0;
  const deviations = -normalDeviate(Math.max(chance, LEAST_CHANCE));
  return deviations / Math.sqrt(Math.max(1, squares / variance));
}

/**
 * False for samples whose responses are all correct or all wrong: they cannot show an effect of
 * order.
 */
function isTelling({ count, rightCount, favouredCount }: TwoGroups): boolean {
  return rightCount > 0 && rightCount < count && favouredCount > 0 && favouredCount < count;
}

/** Probability of each number of correct answers in the favoured group. */
function hypergeometric({ count, rightCount, favouredCount }: TwoGroups): number[] {
  return Array.from({ length: favouredCount + 1 }, (_, right) => {
    const wrong = favouredCount - right;
    const ways = choose(rightCount, right) * choose(count - rightCount, wrong);
    return ways / choose(count, favouredCount);
  });
}

/** Binomial coefficient n over k; 0 if k is out of range. */
function choose(n: number, k: number): number {
  let ways = 1;
  for (let i = 0; i < k; i += 1) ways *= (n - i) / (i + 1);
  return ways;
}

function convolved(a: Float64Array, b: readonly number[]): Float64Array {
  const sum = new Float64Array(a.length + b.length - 1);
  for (const [j, chance] of b.entries()) {
    for (let i = 0; i < a.length; i += 1) sum[i + j] = (sum[i + j] ?? 0) + (a[i] ?? 0) * chance;
  }
  return sum;
}
