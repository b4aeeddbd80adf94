import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { ArrivalSummary } from './arrival-summary.ts';
import type { TokenSummary } from './token-summary.ts';

/** Percentiles of one kind of value, in ns. All 0 where nothing was measured. */
export interface LatencyStatistics {
  readonly minNs: number;
  readonly maxNs: number;
  /** Truncated to whole ns, as LoadGen does. */
  readonly meanNs: number;
  /**
   * The mean as LoadGen logs it. It divides a signed sum by a count without sign, so that a negative
   * sum (times per output token of samples with 0 or 1 token) gives a huge number without meaning.
   */
  readonly loadgenMeanNs: bigint;
  /** In the order of {@link LOGGED_PERCENTILES}. */
  readonly percentiles: readonly PercentileValue[];
}

/** One percentile and its value. */
export interface PercentileValue {
  /** 0 to 1. */
  readonly percentile: number;
  readonly valueNs: number;
}

/** Percentiles that every log shows (LoadGen: results.h). */
export const LOGGED_PERCENTILES: readonly number[] = [0.5, 0.9, 0.95, 0.97, 0.99, 0.999];

/** One of LoadGen's validity rules: met or not, with what it asks for and what it saw. */
export interface ValidityItem {
  readonly isMet: boolean;
  /** For people, with the unit. */
  readonly needed: string;
  /** For people, with the unit. */
  readonly seen: string;
  /** LoadGen's advice in the summary; empty when met. */
  readonly recommendation: string;
}

/** What early stopping says of a run (LoadGen: early_stopping.cc). */
export interface EarlyStopping {
  readonly isMet: boolean;
  /** LoadGen's text, lines divided by `\n`, empty for Offline. */
  readonly text: string;
  readonly needed: string;
  readonly seen: string;
  /** Queries that are still needed if none of them is above the bound; 0 when met. */
  readonly missingQueries: number;
  /** SingleStream: estimate of the target percentile in ns; 0 where there is none. */
  readonly singleStreamEstimateNs: number;
  /** Single- and MultiStream: estimate for MultiStream in ns; 0 where there is none. */
  readonly multiStreamEstimateNs: number;
}

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
