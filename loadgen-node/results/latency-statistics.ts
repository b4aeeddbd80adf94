import { type LatencyStatistics, LOGGED_PERCENTILES } from './performance-summary.ts';

/** Value at a percentile by LoadGen's rule: index = length * percentile, truncated; 0 for no values. */
export function percentileOf(sortedNs: Float64Array, percentile: number): number {
  return sortedNs[Math.trunc(sortedNs.length * percentile)] ?? sortedNs.at(-1) ?? 0;
}

/** Smallest, largest, mean and the logged percentiles of sorted values. */
export function latencyStatistics(sortedNs: Float64Array): LatencyStatistics {
  return {
    minNs: sortedNs[0] ?? 0,
    maxNs: sortedNs.at(-1) ?? 0,
    meanNs: truncatedMean(sortedNs),
    percentiles: LOGGED_PERCENTILES.map((percentile) => ({
      percentile,
      valueNs: percentileOf(sortedNs, percentile),
    })),
  };
}

/** Largest partial sum that stays exact: one more value below 2^52 cannot pass 2^53. */
const EXACT_SUM_MAX = 2 ** 52;

/** Mean truncated towards zero, of an exact sum: days of latencies pass 2^53 ns. */
function truncatedMean(valuesNs: Float64Array): number {
  if (valuesNs.length === 0) return 0;
  let total = 0n;
  let part = 0;
  for (const value of valuesNs) {
    part += value;
    if (part > EXACT_SUM_MAX) {
      total += BigInt(part);
      part = 0;
    }
  }
  return Number((total + BigInt(part)) / BigInt(valuesNs.length));
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
