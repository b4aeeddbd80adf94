import { formatExactNs } from '../../../shared/base/text/duration.ts';
import { percentileLabel } from '../base/number-format.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import { percentileOf } from './latency-statistics.ts';
import type { ValidityItem } from './validity-item.ts';

/** Results of queries that arrive in fixed intervals (round v0.5's MultiStream). */
export interface ArrivalSummary {
  readonly intervalNs: number;
  /** The round's metric: the largest count with which a run is valid. */
  readonly samplesPerQuery: number;
  /** Intervals in which no query could go out. */
  readonly skippedIntervals: number;
  /** Queries that kept the next one from its interval. */
  readonly skippingQueries: number;
  /** Intervals that a query took, at the target percentile; valid below 2. */
  readonly targetIntervals: number;
}

/**
 * Counts skipped intervals and judges them (v0.5: at most 1 % of the queries may cause one; LoadGen
 * v0.7's rule: at the target percentile a query takes less than 2 intervals). Pure.
 * @param intervals By query: intervals until the next one was due.
 */
export function summarizeArrivals(
  intervals: Float64Array,
  settings: EffectiveSettings,
): { readonly summary: ArrivalSummary; readonly bound: ValidityItem } {
  let skippedIntervals = 0;
  let skippingQueries = 0;
  for (const taken of intervals) {
    if (taken < 2) continue;
    skippedIntervals += taken - 1;
    skippingQueries += 1;
  }
  const targetIntervals = percentileOf(intervals.slice().sort(), settings.targetLatencyPercentile);
  const isMet = targetIntervals < 2;
  const label = percentileLabel(settings.targetLatencyPercentile, 2);
  return {
    summary: {
      intervalNs: settings.arrivalIntervalNs,
      samplesPerQuery: settings.samplesPerQuery,
      skippedIntervals,
      skippingQueries,
      targetIntervals,
    },
    bound: {
      isMet,
      needed: `less than 2 intervals of ${formatExactNs(settings.arrivalIntervalNs)} at the ${label}th percentile`,
      seen: `${targetIntervals} intervals (${skippingQueries} of ${intervals.length} queries caused a skip)`,
      recommendation: isMet ? '' : 'Reduce samples per query to improve latency.',
    },
  };
}
