import type { Scenario, TestMode } from '../../../shared/domain/scenario.ts';

/** How LoadGen holds a field. `seed`: 64 bits that JSON tells as text. */
export type FieldType = 'u64' | 'seed' | 'int' | 'double' | 'bool' | 'mode';

/** A field of LoadGen's TestSettings. */
interface Row<T> {
  readonly type: FieldType;
  /** LoadGen's built-in value; a round's settings replace most. */
  readonly fallback: T;
  /** What it is, in a sentence. */
  readonly help: string;
  readonly unit?: string;
  /** Flag of `longhaul run` that sets it. */
  readonly flag?: string;
  /** LoadGen's own name, where it is not the key in snake case. */
  readonly name?: string;
  /** True if no configuration file of LoadGen can set it. */
  readonly isNotInFiles?: boolean;
}

type More = Pick<Row<unknown>, 'unit' | 'flag' | 'name' | 'isNotInFiles'>;

function row<T>(type: FieldType, fallback: T, help: string, more: More = {}): Row<T> {
  return { type, fallback, help, ...more };
}

const u64 = (value: number, help: string, more?: More) => row('u64', value, help, more);
const int = (value: number, help: string, more?: More) => row('int', value, help, more);
const double = (value: number, help: string, more?: More) => row('double', value, help, more);
const bool = (value: boolean, help: string, more?: More) => row('bool', value, help, more);
const seed = (help: string) => row('seed', 0n, help);

/** All fields but the scenario, in LoadGen's order (LoadGen: test_settings.h). */
const ROWS = {
  mode: row(
    'mode',
    'PerformanceOnly' as TestMode,
    'What is run: performance, accuracy, both, or a search.',
    { flag: '--mode' },
  ),
  singleStreamExpectedLatencyNs: double(
    1_000_000,
    'SingleStream: latency that is expected; decides only how many queries are generated.',
    { unit: 'ns', flag: '--target-qps (1 / latency)' },
  ),
  singleStreamTargetLatencyPercentile: double(
    0.9,
    'SingleStream: percentile of the latencies that is the result.',
    { unit: 'fraction', flag: '--target-latency-percentile' },
  ),
  multiStreamExpectedLatencyNs: double(
    8_000_000,
    'MultiStream: latency of a query that is expected; decides only how many are generated. Round v0.5: the arrival interval.',
    { unit: 'ns', flag: '--target-qps (1 / latency)' },
  ),
  multiStreamTargetLatencyPercentile: double(
    0.99,
    'MultiStream: percentile of the query latencies that is the result.',
    { unit: 'fraction', flag: '--target-latency-percentile' },
  ),
  multiStreamSamplesPerQuery: u64(8, 'MultiStream: samples in a query.', {
    unit: 'samples',
    flag: '--samples-per-query',
  }),
  serverTargetQps: double(1, 'Server: mean rate of the Poisson arrivals.', {
    unit: 'queries/s',
    flag: '--target-qps',
  }),
  serverTargetLatencyNs: u64(100_000_000, 'Server: latency bound at the percentile.', {
    unit: 'ns',
    flag: '--target-latency',
  }),
  serverTargetLatencyPercentile: double(
    0.99,
    'Server: share of the samples that has to meet the bound.',
    { unit: 'fraction', flag: '--target-latency-percentile' },
  ),
  serverCoalesceQueries: bool(false, 'Server: all queries that are due go out in one call.'),
  serverMaxAsyncQueries: int(
    0,
    'Server: the run ends when more queries are outstanding; 0 = no limit.',
    { unit: 'queries' },
  ),
  offlineExpectedQps: double(1, 'Offline: rate that is expected; decides the size of the query.', {
    unit: 'samples/s',
    flag: '--target-qps',
  }),
  sampleConcatenatePermutation: bool(
    false,
    'Samples of the set are issued in whole shuffled rounds, each equally often.',
  ),
  minDurationMs: u64(10_000, 'Shortest valid performance run.', {
    unit: 'ms',
    flag: '--min-duration',
  }),
  maxDurationMs: u64(0, 'A performance run is ended after this time; 0 = no limit.', {
    unit: 'ms',
    flag: '--max-duration',
  }),
  minQueryCount: u64(100, 'Fewest of a valid performance run.', {
    unit: 'queries (Offline: samples)',
    flag: '--min-query-count',
  }),
  maxQueryCount: u64(0, 'A performance run is ended after so many; 0 = no limit.', {
    unit: 'queries',
    flag: '--max-query-count',
  }),
  qslRngSeed: seed('Seed of the performance set: which samples are loaded.'),
  sampleIndexRngSeed: seed('Seed of the sample order.'),
  scheduleRngSeed: seed("Seed of Server's arrival times."),
  accuracyLogRngSeed: seed(
    'Seed of the choice of responses that a performance run logs (TEST01, TEST06).',
  ),
  accuracyLogProbability: double(0, 'Share of the responses that a performance run logs.', {
    unit: 'fraction',
  }),
  accuracyLogSamplingTarget: u64(
    0,
    'Expected number of responses that a performance run logs; above 0 it replaces the share.',
    { unit: 'responses' },
  ),
  test05: bool(
    false,
    'TEST05: a performance run with the three seeds below in place of the others.',
  ),
  test05QslRngSeed: seed('TEST05: seed of the performance set.'),
  test05SampleIndexRngSeed: seed('TEST05: seed of the sample order.'),
  test05ScheduleRngSeed: seed("TEST05: seed of Server's arrival times."),
  printTimestamps: bool(false, 'Prints times around the performance run.'),
  performanceIssueUnique: bool(false, 'Every sample of the set is issued once (TEST04, TEST07).'),
  performanceIssueSame: bool(false, 'Always the same sample is issued (TEST04).'),
  performanceIssueSameIndex: u64(0, 'Place in the set of the sample that is always issued.'),
  performanceSampleCountOverride: u64(
    0,
    'Size of the performance set; 0 = what the sample library says.',
    { unit: 'samples' },
  ),
  accuracySampleCountOverride: u64(
    0,
    'Samples of an accuracy run; 0 = all. Rounds v6.0 and later only.',
    { unit: 'samples' },
  ),
  useTokenLatencies: bool(
    false,
    'Time to first token and time per output token are measured and bounded.',
  ),
  serverTtftLatencyNs: u64(100_000_000, 'Server: bound on the time to first token.', {
    unit: 'ns',
    name: 'server_ttft_latency',
  }),
  serverTpotLatencyNs: u64(100_000_000, 'Server: bound on the time per output token.', {
    unit: 'ns',
    name: 'server_tpot_latency',
  }),
  inferTokenLatencies: bool(
    false,
    'Tokens per second are inferred from the samples by the factor below.',
  ),
  tokenLatencyScalingFactor: u64(0, 'Tokens that a sample stands for when they are inferred.', {
    unit: 'tokens/sample',
  }),
  serverFindPeakQpsDecimalsOfPrecision: int(
    1,
    'Server, FindPeakPerformance: decimals of the rate that is found.',
    { isNotInFiles: true },
  ),
  serverFindPeakQpsBoundaryStepSize: double(
    1,
    'Server, FindPeakPerformance: growth of the rate while a bound is sought.',
    { isNotInFiles: true },
  ),
  serverNumIssueQueryThreads: u64(0, 'Server: threads that issue; 0 = the one of the test.', {
    isNotInFiles: true,
  }),
};

/**
 * Requested settings of a test, field by field as in LoadGen. What a run makes of them stands in
 * {@link EffectiveSettings}; both go to the detail log.
 *
 * Counts and durations are whole numbers below 2^53. Seeds are 64-bit and never doubles.
 */
export type TestSettings = { readonly scenario: Scenario } & {
  readonly [K in keyof typeof ROWS]: (typeof ROWS)[K]['fallback'];
};

/** One field of {@link TestSettings}, for the tables that people and reviewers see. */
export interface SettingsField extends Omit<Row<unknown>, 'fallback'> {
  readonly field: keyof typeof ROWS;
  readonly name: string;
  readonly unit: string;
}

/** LoadGen's way to write a name: `minQueryCount` is `min_query_count`. */
export function loadgenName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** All fields but the scenario, in LoadGen's order. */
export const SETTINGS_FIELDS = Object.entries<Row<unknown>>(ROWS).map(
  ([field, { fallback, ...more }]): SettingsField => ({
    field: field as SettingsField['field'],
    name: loadgenName(field),
    unit: '',
    ...more,
  }),
);

/** LoadGen's built-in defaults: 10 s, 100 queries, all seeds 0. A round's settings replace most. */
export function defaultTestSettings(): TestSettings {
  const entries = Object.entries(ROWS).map(([field, { fallback }]) => [field, fallback]);
  return { scenario: 'SingleStream', ...Object.fromEntries(entries) };
}
