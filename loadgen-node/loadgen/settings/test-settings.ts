import type { Scenario, TestMode } from '../../../shared/domain/scenario.ts';

/**
 * Requested settings of a test, field by field as in LoadGen (LoadGen: test_settings.h). What a run
 * makes of them stands in {@link EffectiveSettings}; both go to the detail log.
 *
 * Counts and durations are whole numbers below 2^53. Seeds are 64-bit and never doubles.
 */
export interface TestSettings {
  readonly scenario: Scenario;
  readonly mode: TestMode;

  /** SingleStream: expected latency in ns; decides only how many queries are generated. */
  readonly singleStreamExpectedLatencyNs: number;
  /** SingleStream: percentile that is the result, 0 to 1. */
  readonly singleStreamTargetLatencyPercentile: number;

  /** MultiStream: expected latency of one query in ns; decides only how many are generated. */
  readonly multiStreamExpectedLatencyNs: number;
  /** MultiStream: percentile of the query latencies that is the result, 0 to 1. */
  readonly multiStreamTargetLatencyPercentile: number;
  readonly multiStreamSamplesPerQuery: number;

  /** Server: mean of the Poisson arrivals, queries per second. */
  readonly serverTargetQps: number;
  /** Server: latency bound in ns. */
  readonly serverTargetLatencyNs: number;
  /** Server: share of the samples that has to meet the bound, 0 to 1. */
  readonly serverTargetLatencyPercentile: number;
  /** Server: all queries that are due go out in one call. */
  readonly serverCoalesceQueries: boolean;
  readonly serverFindPeakQpsDecimalsOfPrecision: number;
  readonly serverFindPeakQpsBoundaryStepSize: number;
  /** Server: the run ends when more queries than this are outstanding; 0 = no limit. */
  readonly serverMaxAsyncQueries: number;
  readonly serverNumIssueQueryThreads: number;

  /** Offline: expected samples per second; decides the size of the query. */
  readonly offlineExpectedQps: number;
  /** Samples of the set are issued in whole shuffled rounds. */
  readonly sampleConcatenatePermutation: boolean;

  /** Shortest valid run, in ms. */
  readonly minDurationMs: number;
  /** The run ends when it takes longer, in ms; 0 = no limit. */
  readonly maxDurationMs: number;
  /** Fewest queries of a valid run (Offline: samples). */
  readonly minQueryCount: number;
  /** The run ends after so many queries; 0 = no limit. */
  readonly maxQueryCount: number;

  readonly qslRngSeed: bigint;
  readonly sampleIndexRngSeed: bigint;
  readonly scheduleRngSeed: bigint;
  readonly accuracyLogRngSeed: bigint;
  /** Share of the responses of a performance run that is logged, 0 to 1. */
  readonly accuracyLogProbability: number;
  /** Expected number of logged responses of a performance run; above 0 it replaces the share. */
  readonly accuracyLogSamplingTarget: number;

  /** TEST05: the run uses the three seeds below. */
  readonly test05: boolean;
  readonly test05QslRngSeed: bigint;
  readonly test05SampleIndexRngSeed: bigint;
  readonly test05ScheduleRngSeed: bigint;

  readonly printTimestamps: boolean;
  /** TEST04: every sample of the set is issued once. */
  readonly performanceIssueUnique: boolean;
  /** TEST04: always the sample at `performanceIssueSameIndex` of the set. */
  readonly performanceIssueSame: boolean;
  readonly performanceIssueSameIndex: number;
  /** Samples of the performance set; 0 = what the sample library says. */
  readonly performanceSampleCountOverride: number;
  /** Samples of an accuracy run; 0 = all. Only LoadGen families that know it read it. */
  readonly accuracySampleCountOverride: number;

  /** Time to first token and time per output token replace the latency. */
  readonly useTokenLatencies: boolean;
  /** Server: bound on the time to first token, in ns. */
  readonly serverTtftLatencyNs: number;
  /** Server: bound on the time per output token, in ns. */
  readonly serverTpotLatencyNs: number;
  readonly inferTokenLatencies: boolean;
  readonly tokenLatencyScalingFactor: number;
}

/** LoadGen's built-in defaults: 10 s, 100 queries, all seeds 0. A round's settings replace most. */
export function defaultTestSettings(): TestSettings {
  return {
    scenario: 'SingleStream',
    mode: 'PerformanceOnly',
    singleStreamExpectedLatencyNs: 1_000_000,
    singleStreamTargetLatencyPercentile: 0.9,
    multiStreamExpectedLatencyNs: 8_000_000,
    multiStreamTargetLatencyPercentile: 0.99,
    multiStreamSamplesPerQuery: 8,
    serverTargetQps: 1,
    serverTargetLatencyNs: 100_000_000,
    serverTargetLatencyPercentile: 0.99,
    serverCoalesceQueries: false,
    serverFindPeakQpsDecimalsOfPrecision: 1,
    serverFindPeakQpsBoundaryStepSize: 1,
    serverMaxAsyncQueries: 0,
    serverNumIssueQueryThreads: 0,
    offlineExpectedQps: 1,
    sampleConcatenatePermutation: false,
    minDurationMs: 10_000,
    maxDurationMs: 0,
    minQueryCount: 100,
    maxQueryCount: 0,
    qslRngSeed: 0n,
    sampleIndexRngSeed: 0n,
    scheduleRngSeed: 0n,
    accuracyLogRngSeed: 0n,
    accuracyLogProbability: 0,
    accuracyLogSamplingTarget: 0,
    test05: false,
    test05QslRngSeed: 0n,
    test05SampleIndexRngSeed: 0n,
    test05ScheduleRngSeed: 0n,
    printTimestamps: false,
    performanceIssueUnique: false,
    performanceIssueSame: false,
    performanceIssueSameIndex: 0,
    performanceSampleCountOverride: 0,
    accuracySampleCountOverride: 0,
    useTokenLatencies: false,
    serverTtftLatencyNs: 100_000_000,
    serverTpotLatencyNs: 100_000_000,
    inferTokenLatencies: false,
    tokenLatencyScalingFactor: 0,
  };
}
