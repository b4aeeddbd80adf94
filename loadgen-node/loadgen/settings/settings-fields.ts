import type { TestSettings } from './test-settings.ts';

/** How LoadGen holds a field. `seed`: 64 bits that JSON tells as text. */
export type FieldType = 'u64' | 'seed' | 'int' | 'double' | 'bool' | 'mode';

/** One field of LoadGen's TestSettings, for the tables that people and reviewers see. */
export interface SettingsField {
  readonly field: Exclude<keyof TestSettings, 'scenario'>;
  /** LoadGen's own name. */
  readonly name: string;
  readonly type: FieldType;
  readonly unit: string;
  /** What it is, in a sentence. */
  readonly help: string;
  /** Flag of `longhaul run` that sets it. */
  readonly flag?: string;
  /** True if no configuration file of LoadGen can set it. */
  readonly isNotInFiles?: boolean;
}

/** All fields but the scenario, in LoadGen's order. */
export const SETTINGS_FIELDS: readonly SettingsField[] = [
  field(
    'mode',
    'mode',
    'mode',
    '',
    'What is run: performance, accuracy, both, or a search.',
    '--mode',
  ),
  field(
    'singleStreamExpectedLatencyNs',
    'single_stream_expected_latency_ns',
    'double',
    'ns',
    'SingleStream: latency that is expected; decides only how many queries are generated.',
    '--target-qps (1 / latency)',
  ),
  field(
    'singleStreamTargetLatencyPercentile',
    'single_stream_target_latency_percentile',
    'double',
    'fraction',
    'SingleStream: percentile of the latencies that is the result.',
    '--target-latency-percentile',
  ),
  field(
    'multiStreamExpectedLatencyNs',
    'multi_stream_expected_latency_ns',
    'double',
    'ns',
    'MultiStream: latency of a query that is expected; decides only how many are generated. Round v0.5: the arrival interval.',
    '--target-qps (1 / latency)',
  ),
  field(
    'multiStreamTargetLatencyPercentile',
    'multi_stream_target_latency_percentile',
    'double',
    'fraction',
    'MultiStream: percentile of the query latencies that is the result.',
    '--target-latency-percentile',
  ),
  field(
    'multiStreamSamplesPerQuery',
    'multi_stream_samples_per_query',
    'u64',
    'samples',
    'MultiStream: samples in a query.',
    '--samples-per-query',
  ),
  field(
    'serverTargetQps',
    'server_target_qps',
    'double',
    'queries/s',
    'Server: mean rate of the Poisson arrivals.',
    '--target-qps',
  ),
  field(
    'serverTargetLatencyNs',
    'server_target_latency_ns',
    'u64',
    'ns',
    'Server: latency bound at the percentile.',
    '--target-latency',
  ),
  field(
    'serverTargetLatencyPercentile',
    'server_target_latency_percentile',
    'double',
    'fraction',
    'Server: share of the samples that has to meet the bound.',
    '--target-latency-percentile',
  ),
  field(
    'serverCoalesceQueries',
    'server_coalesce_queries',
    'bool',
    '',
    'Server: all queries that are due go out in one call.',
  ),
  field(
    'serverMaxAsyncQueries',
    'server_max_async_queries',
    'int',
    'queries',
    'Server: the run ends when more queries are outstanding; 0 = no limit.',
  ),
  field(
    'offlineExpectedQps',
    'offline_expected_qps',
    'double',
    'samples/s',
    'Offline: rate that is expected; decides the size of the query.',
    '--target-qps',
  ),
  field(
    'sampleConcatenatePermutation',
    'sample_concatenate_permutation',
    'bool',
    '',
    'Samples of the set are issued in whole shuffled rounds, each equally often.',
  ),
  field(
    'minDurationMs',
    'min_duration_ms',
    'u64',
    'ms',
    'Shortest valid performance run.',
    '--min-duration',
  ),
  field(
    'maxDurationMs',
    'max_duration_ms',
    'u64',
    'ms',
    'A performance run is ended after this time; 0 = no limit.',
    '--max-duration',
  ),
  field(
    'minQueryCount',
    'min_query_count',
    'u64',
    'queries (Offline: samples)',
    'Fewest of a valid performance run.',
    '--min-query-count',
  ),
  field(
    'maxQueryCount',
    'max_query_count',
    'u64',
    'queries',
    'A performance run is ended after so many; 0 = no limit.',
    '--max-query-count',
  ),
  field(
    'qslRngSeed',
    'qsl_rng_seed',
    'seed',
    '',
    'Seed of the performance set: which samples are loaded.',
  ),
  field('sampleIndexRngSeed', 'sample_index_rng_seed', 'seed', '', 'Seed of the sample order.'),
  field('scheduleRngSeed', 'schedule_rng_seed', 'seed', '', "Seed of Server's arrival times."),
  field(
    'accuracyLogRngSeed',
    'accuracy_log_rng_seed',
    'seed',
    '',
    'Seed of the choice of responses that a performance run logs (TEST01, TEST06).',
  ),
  field(
    'accuracyLogProbability',
    'accuracy_log_probability',
    'double',
    'fraction',
    'Share of the responses that a performance run logs.',
  ),
  field(
    'accuracyLogSamplingTarget',
    'accuracy_log_sampling_target',
    'u64',
    'responses',
    'Expected number of responses that a performance run logs; above 0 it replaces the share.',
  ),
  field(
    'test05',
    'test05',
    'bool',
    '',
    'TEST05: a performance run with the three seeds below in place of the others.',
  ),
  field(
    'test05QslRngSeed',
    'test05_qsl_rng_seed',
    'seed',
    '',
    'TEST05: seed of the performance set.',
  ),
  field(
    'test05SampleIndexRngSeed',
    'test05_sample_index_rng_seed',
    'seed',
    '',
    'TEST05: seed of the sample order.',
  ),
  field(
    'test05ScheduleRngSeed',
    'test05_schedule_rng_seed',
    'seed',
    '',
    "TEST05: seed of Server's arrival times.",
  ),
  field(
    'printTimestamps',
    'print_timestamps',
    'bool',
    '',
    'Prints times around the performance run.',
  ),
  field(
    'performanceIssueUnique',
    'performance_issue_unique',
    'bool',
    '',
    'Every sample of the set is issued once (TEST04, TEST07).',
  ),
  field(
    'performanceIssueSame',
    'performance_issue_same',
    'bool',
    '',
    'Always the same sample is issued (TEST04).',
  ),
  field(
    'performanceIssueSameIndex',
    'performance_issue_same_index',
    'u64',
    '',
    'Place in the set of the sample that is always issued.',
  ),
  field(
    'performanceSampleCountOverride',
    'performance_sample_count_override',
    'u64',
    'samples',
    'Size of the performance set; 0 = what the sample library says.',
  ),
  field(
    'accuracySampleCountOverride',
    'accuracy_sample_count_override',
    'u64',
    'samples',
    'Samples of an accuracy run; 0 = all. Rounds v6.0 and later only.',
  ),
  field(
    'useTokenLatencies',
    'use_token_latencies',
    'bool',
    '',
    'Time to first token and time per output token are measured and bounded.',
  ),
  field(
    'serverTtftLatencyNs',
    'server_ttft_latency',
    'u64',
    'ns',
    'Server: bound on the time to first token.',
  ),
  field(
    'serverTpotLatencyNs',
    'server_tpot_latency',
    'u64',
    'ns',
    'Server: bound on the time per output token.',
  ),
  field(
    'inferTokenLatencies',
    'infer_token_latencies',
    'bool',
    '',
    'Tokens per second are inferred from the samples by the factor below.',
  ),
  field(
    'tokenLatencyScalingFactor',
    'token_latency_scaling_factor',
    'u64',
    'tokens/sample',
    'Tokens that a sample stands for when they are inferred.',
  ),
  outside(
    'serverFindPeakQpsDecimalsOfPrecision',
    'server_find_peak_qps_decimals_of_precision',
    'int',
    'Server, FindPeakPerformance: decimals of the rate that is found.',
  ),
  outside(
    'serverFindPeakQpsBoundaryStepSize',
    'server_find_peak_qps_boundary_step_size',
    'double',
    'Server, FindPeakPerformance: growth of the rate while a bound is sought.',
  ),
  outside(
    'serverNumIssueQueryThreads',
    'server_num_issue_query_threads',
    'u64',
    'Server: threads that issue; 0 = the one of the test.',
  ),
];

function field(
  key: SettingsField['field'],
  name: string,
  type: FieldType,
  unit: string,
  help: string,
  flag?: string,
): SettingsField {
  return { field: key, name, type, unit, help, ...(flag === undefined ? {} : { flag }) };
}

function outside(
  key: SettingsField['field'],
  name: string,
  type: FieldType,
  help: string,
): SettingsField {
  return { field: key, name, type, unit: '', help, isNotInFiles: true };
}
