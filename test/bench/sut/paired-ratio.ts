/**
 * The middle of paired ratios, and where the true middle lies with a confidence of 95 % or more.
 */
export interface RatioEstimate {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

const CONFIDENCE = 0.95;

/**
 * Estimates from ratios of neighbouring measurements, whose noise has no known form: the interval
 * is made of order statistics (each ratio lies above the true median with probability 1/2). With
 * fewer than 6 ratios no pair of them reaches 95 %: then the interval is all of them.
 */
export function estimateRatio(ratios: readonly number[]): RatioEstimate {
  const sorted = ratios.toSorted((a, b) => a - b);
  const count = sorted.length;
  let skipped = 0;
  while (skipped + 1 < count / 2 && 1 - 2 * binomialBelow(count, skipped + 1) >= CONFIDENCE) {
    skipped += 1;
  }
  const middle = (count - 1) / 2;
  const lower = sorted[Math.floor(middle)] ?? Number.NaN;
  const upper = sorted[Math.ceil(middle)] ?? Number.NaN;
  return {
    median: (lower + upper) / 2,
    low: sorted[skipped] ?? Number.NaN,
    high: sorted[count - 1 - skipped] ?? Number.NaN,
  };
}

/** Probability that of `count` fair coins at most `heads` fall on their head. */
function binomialBelow(count: number, heads: number): number {
  let ways = 1;
  let sum = 1;
  for (let i = 1; i <= heads; i += 1) {
    ways = (ways * (count - i + 1)) / i;
    sum += ways;
  }
  return sum / 2 ** count;
}
