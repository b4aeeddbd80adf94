import { percentileOf } from '../../loadgen/results/latency-statistics.ts';
import type { LatencyFigure } from '../../present/curve/load-point.ts';
import { overShareOf, shareInterval, Z_95 } from './over-share.ts';

/** Percentiles of every point of a curve. */
const SHOWN = [0.5, 0.9, 0.99];
/** Fewest queries slower than p99.9; with fewer it would be the maximum. */
const BEYOND_MIN = 10;

/** With fewer clusters of slower queries, the interval has no upper end. */
const CLUSTERS_MIN = 4;

/**
 * Percentiles with distribution-free intervals (Woodruff 1952): the share of queries above the
 * percentile has an interval for the effective number of queries after clustering; the values at
 * its ends are the percentile's interval.
 * @param latenciesNs In query order.
 * @param percentile The bound's percentile, in addition to the standard ones.
 * @param batchMin As in {@link overShareOf}
 */
export function percentileIntervals(
  latenciesNs: Float64Array,
  percentile: number,
  batchMin?: number,
): LatencyFigure[] {
  const count = latenciesNs.length;
  if (count === 0) return [];
  const sorted = latenciesNs.slice().sort();
  const extreme = count * 0.001 >= BEYOND_MIN ? [0.999] : [];
  const percentiles = [...new Set([...SHOWN, ...extreme, percentile])].sort((a, b) => a - b);
  return percentiles.map((share) => {
    const valueNs = percentileOf(sorted, share);
    const above = overShareOf(latenciesNs, valueNs, batchMin);
    const { low, high } = shareInterval(above, Z_95);
    const isOpen = count * low < 1 || above.over / above.varianceFactor < CLUSTERS_MIN;
    const at = (rank: number): number => sorted[Math.min(count - 1, Math.max(0, rank))] as number;
    return {
      percentile: share,
      valueNs,
      lowNs: Math.min(valueNs, at(Math.floor(count * (1 - high)))),
      highNs: isOpen ? null : Math.max(valueNs, at(Math.ceil(count * (1 - low)))),
    };
  });
}
