/** One percentile and its value. */
export interface PercentileValue {
  /** As a fraction, 0 to 1. */
  readonly percentile: number;
  readonly valueNs: number;
}

/** Percentiles that every log shows (LoadGen: results.h). */
const LOGGED_PERCENTILES: readonly number[] = [0.5, 0.9, 0.95, 0.97, 0.99, 0.999];

/**
 * Rank of a percentile among sorted values, from 0, by LoadGen's rule: count * percentile,
 * truncated; -1 without values.
 */
export function rankOf(count: number, percentile: number): number {
  return Math.min(Math.trunc(count * percentile), count - 1);
}

/** Value at a percentile by {@link rankOf}; 0 without values. */
export function percentileOf(sortedNs: Float64Array, percentile: number): number {
  return sortedNs[rankOf(sortedNs.length, percentile)] ?? 0;
}

/** Statistics of sorted values in ns; all 0 without values. */
export function latencyStatistics(sortedNs: Float64Array): LatencyStatistics {
  const sum = exactSum(sortedNs);
  const count = BigInt(Math.max(1, sortedNs.length));
  return {
    minNs: sortedNs[0] ?? 0,
    maxNs: sortedNs.at(-1) ?? 0,
    meanNs: Number(sum / count),
    loadgenMeanNs: BigInt.asIntN(64, BigInt.asUintN(64, sum) / count),
    percentiles: LOGGED_PERCENTILES.map(
      (percentile): PercentileValue => ({
        percentile,
        valueNs: percentileOf(sortedNs, percentile),
      }),
    ),
  };
}

export interface LatencyStatistics {
  readonly minNs: number;
  readonly maxNs: number;
  /** Truncated to whole ns, as LoadGen does. */
  readonly meanNs: number;
  /**
   * The mean as LoadGen logs it. It divides a signed sum by an unsigned count, so a negative sum
   * (times per output token of samples with 0 or 1 token) gives a huge, meaningless number.
   */
  readonly loadgenMeanNs: bigint;
  readonly percentiles: readonly PercentileValue[];
}

/** Largest partial sum that stays exact: one more value below 2^52 cannot pass 2^53. */
const EXACT_SUM_MAX = 2 ** 52;

/** Exact sum; days of latencies exceed 2^53 ns. */
function exactSum(valuesNs: Float64Array): bigint {
  let total = 0n;
  let part = 0;
  for (const value of valuesNs) {
    part += value;
    if (part > EXACT_SUM_MAX) {
      total += BigInt(part);
      part = 0;
    }
  }
  return total + BigInt(part);
}

/** Number of sorted values above `limitNs`. */
export function countAbove(sortedNs: Float64Array, limitNs: number): number {
  let low = 0;
  let high = sortedNs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sortedNs[middle] as number) > limitNs) high = middle;
    else low = middle + 1;
  }
  return sortedNs.length - low;
}
