import { upperMedian } from '../../../shared/base/figures/median.ts';

/**
 * Intervals from 50 blocks are too narrow by a little: t of 49 degrees of freedom over the normal quantile, and the lost degree
 * itself.
 */
const FEW_BLOCKS = (2.0096 / 1.96) * Math.sqrt(50 / 49);

/** Above it nothing can be told: the run is one long swing. */
const CORRELATION_MAX = 0.8;

/**
 * By how much drawn values are to be spread, since neighbouring blocks hang together too: the variance of a mean of a series of
 * first order with their correlation r is (1 + r) / (1 - r) of that of independent ones. The estimate of r is too low by (1 + 3 r) / n
 * (Kendall 1954), which is added; one below 0 narrows nothing.
 * @param blockMeans In order.
 */
export function spreadFactor(blockMeans: readonly number[]): number {
  const known = blockMeans.filter((mean) => Number.isFinite(mean));
  const average = known.reduce((sum, mean) => sum + mean, 0) / known.length;
  let variance = 0;
  let covariance = 0;
  known.forEach((mean, i) => {
    const next = known[i + 1];
    variance += (mean - average) ** 2;
    if (next !== undefined) covariance += (mean - average) * (next - average);
  });
  const seen = variance === 0 ? 0 : covariance / variance;
  const correlation = Math.min(Math.max(seen + (1 + 3 * seen) / known.length, 0), CORRELATION_MAX);
  return FEW_BLOCKS * Math.sqrt((1 + correlation) / (1 - correlation));
}

/** Values further away from their median by a factor; no figure of a run is below 0. */
export function spread(values: Float64Array, factor: number): Float64Array {
  const middle = upperMedian(values) as number;
  return values.map((value) => Math.max(middle + (value - middle) * factor, 0));
}
