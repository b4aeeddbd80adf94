import { formatExactNs } from '../../../shared/base/text.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';
import { percentileLabel } from '../base/number-format.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import type { EarlyStopping } from './early-stopping.ts';
import {
  type LatencyStatistics,
  type PercentileValue,
  percentileOf,
} from './latency-statistics.ts';
import type { TokenSummary, ValidityItem } from './token-summary.ts';

/** Rates of a run, per second. A rate that its scenario does not know is 0. */
export interface RunRates {
  /** SingleStream: queries per second with the time LoadGen itself took. */
  readonly withOverhead: number;
  /** SingleStream: queries per second by the mean latency alone. */
  readonly withoutOverhead: number;
  /** Server: samples per second by the schedule. */
  readonly scheduled: number;
  /** Server: completed samples per second. Offline: samples per second. */
  readonly completed: number;
}

/**
 * The numbers of a performance run and LoadGen's verdict: a value without I/O.
 * Lost samples are in no number: they have no latency and are no throughput.
 */
export interface PerformanceSummary {
  readonly scenario: Scenario;
  readonly queryCount: number;
  readonly completedSampleCount: number;
  readonly sampleLatency: LatencyStatistics;
  /** MultiStream: of whole queries; else null. */
  readonly queryLatency: LatencyStatistics | null;
  /** Percentile of the scenario, 0 to 1, and the value at it (MultiStream: of the queries). */
  readonly target: PercentileValue;
  /** Server: samples above the latency bound; else 0. */
  readonly overlatencyCount: number;
  readonly rates: RunRates;
  /** Token models: their own results; else null. */
  readonly tokens: TokenSummary | null;
  /** Queries in fixed intervals: what became of the intervals; else null. */
  readonly arrivals: ArrivalSummary | null;
  /** Tokens per second by a fixed number of tokens per sample (Server and Offline); else null. */
  readonly inferredTokensPerSecond: number | null;
  readonly validity: {
    readonly minDuration: ValidityItem;
    readonly minQueries: ValidityItem;
    /** Server: the latency bound at its percentile, or those of the tokens. Always met elsewhere. */
    readonly performance: ValidityItem;
    readonly earlyStopping: EarlyStopping;
  };
  /** LoadGen's rules alone: all four met. */
  readonly isValid: boolean;
}

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
