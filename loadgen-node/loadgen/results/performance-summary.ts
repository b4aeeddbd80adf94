import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { ArrivalSummary } from './arrival-summary.ts';
import type { EarlyStopping } from './early-stopping.ts';
import type { LatencyStatistics, PercentileValue } from './latency-statistics.ts';
import type { TokenSummary } from './token-summary.ts';
import type { ValidityItem } from './validity-item.ts';

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
