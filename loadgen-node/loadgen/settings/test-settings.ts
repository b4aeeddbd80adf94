import type { Scenario, TestMode } from '../../../shared/domain/scenario.ts';

/** C++ type of a field. `seed`: 64 bits, as text in JSON. */
export type FieldType = 'u64' | 'seed' | 'int' | 'double' | 'bool' | 'mode';

/** One field of LoadGen's TestSettings (test_settings.h), and the key that sets it (FromConfig). */
interface Row<T> {
  readonly type: FieldType;
  /** LoadGen's built-in default; a round's settings replace most. */
  readonly fallback: T;
  /** Meaning, as one sentence. */
  readonly help: string;
  /** Consequences for a run, in addition to the help. */
  readonly effect?: string;
  /** Unit. In files `ns` fields are in ms, and `fraction` fields in percent. */
  readonly unit?: string;
  /** Flag of `longhaul run` that sets it. */
  readonly flag?: string;
  /** LoadGen's own name, if it is not the field in snake case. */
  readonly name?: string;
  /**
   * Scenario and key in configuration files. `*` is the scenario that is run; a named scenario is
   * looked up in every run; null: no file sets the field. Default: `*` and the name.
   */
  readonly key?: `${Scenario | '*'}.${string}` | null;
  /** True for a bool that only 1 sets; others are set by any number except 0. */
  readonly needsOne?: boolean;
  /** True if only the round's built-in file may set it, in rounds that have one. */
  readonly isOfRound?: boolean;
  /** Flag, earlier in this table, without which the key is not read. */
  readonly needs?: 'useTokenLatencies' | 'inferTokenLatencies';
  /** True if only LoadGens with an accuracy sample count read it. */
  readonly needsAccuracyCount?: boolean;
}

type More = Omit<Row<unknown>, 'type' | 'fallback' | 'help'>;

function row<T>(type: FieldType, fallback: T, help: string, more: More = {}): Row<T> {
  return { type, fallback, help, ...more };
}

const u64 = (value: number, help: string, more?: More) => row('u64', value, help, more);
const int = (value: number, help: string, more?: More) => row('int', value, help, more);
const double = (value: number, help: string, more?: More) => row('double', value, help, more);
const bool = (value: boolean, help: string, more?: More) => row('bool', value, help, more);
const seed = (help: string, more?: More) => row('seed', 0n, help, more);

/** All fields except the scenario, in LoadGen's order (LoadGen: test_settings.h). */
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
    {
      unit: 'ns',
      flag: '--target-qps (1 / latency)',
      key: 'SingleStream.target_latency',
      effect:
        'target_qps = 1e9 / this; queries for twice the minimum duration are generated at that rate',
    },
  ),
  singleStreamTargetLatencyPercentile: double(
    0.9,
    'SingleStream: percentile of the latencies that is the result.',
    {
      unit: 'fraction',
      flag: '--target-latency-percentile',
      key: 'SingleStream.target_latency_percentile',
    },
  ),
  multiStreamExpectedLatencyNs: double(
    8_000_000,
    'MultiStream: latency of a query that is expected; decides only how many are generated. Round v0.5: the arrival interval.',
    {
      unit: 'ns',
      flag: '--target-qps (1 / latency)',
      key: 'MultiStream.target_latency',
      effect:
        'target_qps = 1e9 / this; queries for twice the minimum duration are generated at that rate',
    },
  ),
  multiStreamTargetLatencyPercentile: double(
    0.99,
    'MultiStream: percentile of the query latencies that is the result.',
    {
      unit: 'fraction',
      flag: '--target-latency-percentile',
      key: 'MultiStream.target_latency_percentile',
    },
  ),
  multiStreamSamplesPerQuery: u64(8, 'MultiStream: samples in a query.', {
    unit: 'samples',
    flag: '--samples-per-query',
    key: 'MultiStream.samples_per_query',
  }),
  serverTargetQps: double(1, 'Server: mean rate of the Poisson arrivals.', {
    unit: 'queries/s',
    flag: '--target-qps',
    key: 'Server.target_qps',
    effect: 'below 0 it is an error that is logged, and 1 is used',
  }),
  serverTargetLatencyNs: u64(100_000_000, 'Server: latency bound at the percentile.', {
    unit: 'ns',
    flag: '--target-latency',
    key: 'Server.target_latency',
  }),
  serverTargetLatencyPercentile: double(
    0.99,
    'Server: share of the samples that has to meet the bound.',
    {
      unit: 'fraction',
      flag: '--target-latency-percentile',
      key: 'Server.target_latency_percentile',
    },
  ),
  serverCoalesceQueries: bool(false, 'Server: all queries that are due go out in one call.', {
    key: 'Server.coalesce_queries',
  }),
  serverMaxAsyncQueries: int(
    0,
    'Server: the run ends when more queries are outstanding; 0 = no limit.',
    { unit: 'queries', key: 'Server.max_async_queries' },
  ),
  offlineExpectedQps: double(1, 'Offline: rate that is expected; decides the size of the query.', {
    unit: 'samples/s',
    flag: '--target-qps',
    key: 'Offline.target_qps',
    effect:
      'samples of the query = the larger of min_query_count and 1.1 * min_duration * this rate; below 0 it is an error that is logged, and 1 is used',
  }),
  sampleConcatenatePermutation: bool(
    false,
    'Samples of the set are issued in whole shuffled rounds, each equally often.',
    { needsOne: true },
  ),
  minDurationMs: u64(10_000, 'Shortest valid performance run.', {
    unit: 'ms',
    flag: '--min-duration',
    key: '*.min_duration',
    effect:
      'Server: its schedule reaches at least so far; Offline: the query is sized for 1.1 times this time; the streams issue until it has passed',
  }),
  maxDurationMs: u64(0, 'A performance run is ended after this time; 0 = no limit.', {
    unit: 'ms',
    flag: '--max-duration',
    key: '*.max_duration',
  }),
  minQueryCount: u64(100, 'Fewest of a valid performance run.', {
    unit: 'queries (Offline: samples)',
    flag: '--min-query-count',
    effect:
      'Offline: the fewest samples of its one query; SingleStream with concatenated permutations: rounded up to whole rounds of the set',
  }),
  maxQueryCount: u64(0, 'A performance run is ended after so many; 0 = no limit.', {
    unit: 'queries',
    flag: '--max-query-count',
  }),
  qslRngSeed: seed('Seed of the performance set: which samples are loaded.', { isOfRound: true }),
  sampleIndexRngSeed: seed('Seed of the sample order.', { isOfRound: true }),
  scheduleRngSeed: seed("Seed of Server's arrival times.", { isOfRound: true }),
  accuracyLogRngSeed: seed(
    'Seed of the choice of responses that a performance run logs (TEST01, TEST06).',
  ),
  accuracyLogProbability: double(0, 'Share of the responses that a performance run logs.', {
    unit: 'fraction',
    isOfRound: true,
  }),
  accuracyLogSamplingTarget: u64(
    0,
    'Expected number of responses that a performance run logs; above 0 it replaces the share.',
    { unit: 'responses' },
  ),
  test05: bool(
    false,
    'TEST05: a performance run with the three seeds below in place of the others.',
    {
      needsOne: true,
      isOfRound: true,
      effect: 'the mode becomes performance; the three test05 seeds replace the others',
    },
  ),
  test05QslRngSeed: seed('TEST05: seed of the performance set.', { isOfRound: true }),
  test05SampleIndexRngSeed: seed('TEST05: seed of the sample order.', { isOfRound: true }),
  test05ScheduleRngSeed: seed("TEST05: seed of Server's arrival times.", { isOfRound: true }),
  printTimestamps: bool(false, 'Prints times around the performance run.'),
  performanceIssueUnique: bool(false, 'Every sample of the set is issued once (TEST04, TEST07).'),
  performanceIssueSame: bool(false, 'Always the same sample is issued (TEST04).'),
  performanceIssueSameIndex: u64(0, 'Place in the set of the sample that is always issued.', {
    effect: 'an index outside the performance set is an error that is logged',
  }),
  performanceSampleCountOverride: u64(
    0,
    'Size of the performance set; 0 = what the sample library says.',
    { unit: 'samples' },
  ),
  accuracySampleCountOverride: u64(
    0,
    'Samples of an accuracy run; 0 = all. Rounds v6.0 and later only.',
    { unit: 'samples', needsAccuracyCount: true },
  ),
  useTokenLatencies: bool(
    false,
    'Time to first token and time per output token are measured and bounded.',
    {
      needsOne: true,
      effect:
        'the bounds on first and further tokens replace target_latency; rounds up to v4.1 read those bounds only from a file that sets this flag too',
    },
  ),
  serverTtftLatencyNs: u64(100_000_000, 'Server: bound on the time to first token.', {
    unit: 'ns',
    name: 'server_ttft_latency',
    key: 'Server.ttft_latency',
    needs: 'useTokenLatencies',
  }),
  serverTpotLatencyNs: u64(100_000_000, 'Server: bound on the time per output token.', {
    unit: 'ns',
    name: 'server_tpot_latency',
    key: 'Server.tpot_latency',
    needs: 'useTokenLatencies',
  }),
  inferTokenLatencies: bool(
    false,
    'Tokens per second are inferred from the samples by the factor below.',
    { needsOne: true },
  ),
  tokenLatencyScalingFactor: u64(0, 'Tokens that a sample stands for when they are inferred.', {
    unit: 'tokens/sample',
    needs: 'inferTokenLatencies',
  }),
  serverFindPeakQpsDecimalsOfPrecision: int(
    1,
    'Server, FindPeakPerformance: decimals of the rate that is found.',
    { key: null },
  ),
  serverFindPeakQpsBoundaryStepSize: double(
    1,
    'Server, FindPeakPerformance: growth of the rate while a bound is sought.',
    { key: null },
  ),
  serverNumIssueQueryThreads: u64(0, 'Server: threads that issue; 0 = the one of the test.', {
    key: null,
  }),
};

/**
 * Requested settings of a test, field by field as in LoadGen. The values used by a run are in
 * {@link EffectiveSettings}; both go to the detail log.
 *
 * Counts and durations are whole numbers below 2^53. Seeds are 64-bit and never doubles.
 */
export type TestSettings = { readonly scenario: Scenario } & {
  readonly [K in keyof typeof ROWS]: (typeof ROWS)[K]['fallback'];
};

/** One field of {@link TestSettings}, for tables. */
export interface SettingsField extends Omit<Row<unknown>, 'fallback' | 'key'> {
  readonly field: keyof typeof ROWS;
  readonly name: string;
  readonly unit: string;
  /** Scenario of the key: `*` is the scenario that is run. */
  readonly under: Scenario | '*';
  /** Null: no file of LoadGen sets the field. */
  readonly key: string | null;
}

/** LoadGen's spelling of a name: `minQueryCount` is `min_query_count`. */
export function loadgenName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** All fields except the scenario, in LoadGen's order. */
export const SETTINGS_FIELDS = Object.entries<Row<unknown>>(ROWS).map(
  ([field, { fallback, key: place, ...more }]): SettingsField => {
    const name = loadgenName(field);
    const [under, key] = (place ?? `*.${name}`).split('.') as [SettingsField['under'], string];
    return {
      field: field as SettingsField['field'],
      name,
      unit: '',
      under,
      key: place === null ? null : key,
      ...more,
    };
  },
);

/** LoadGen's built-in defaults: 10 s, 100 queries, all seeds 0. A round's settings replace most. */
export function defaultTestSettings(): TestSettings {
  const entries = Object.entries(ROWS).map(([field, { fallback }]) => [field, fallback]);
  return { scenario: 'SingleStream', ...Object.fromEntries(entries) };
}
