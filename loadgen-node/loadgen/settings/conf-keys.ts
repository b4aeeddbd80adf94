import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { SettingsField } from './test-settings.ts';

/** How LoadGen turns the text of a value into a field. */
export type ConfRead = 'u64' | 'double' | 'int32' | 'is-one' | 'is-not-zero' | 'mode';

/** One key that LoadGen reads from configuration files. */
export interface ConfKey {
  readonly key: string;
  /** Scenario under which it is looked up, whatever is run; `own`: the one that is run. */
  readonly under: 'own' | Scenario;
  readonly field: SettingsField['field'];
  readonly read: ConfRead;
  /** File unit to field unit: ms to ns, percent to fraction. */
  readonly multiplier: number;
  /** True if only the round's built-in file may set it, where the round has one. */
  readonly isOfRound?: boolean;
  /** Flag without which the key is not read. */
  readonly needs?: 'useTokenLatencies' | 'inferTokenLatencies';
  /** True if only LoadGens read it that know an accuracy sample count. */
  readonly needsAccuracyCount?: boolean;
}

const MS = 1e6;
const PERCENT = 0.01;

/** All keys, a flag before the keys that need it (LoadGen: TestSettings::FromConfig). */
export const CONF_KEYS: readonly ConfKey[] = [
  own('mode', 'mode', 'mode'),
  { ...own('qsl_rng_seed', 'qslRngSeed', 'u64'), isOfRound: true },
  { ...own('sample_index_rng_seed', 'sampleIndexRngSeed', 'u64'), isOfRound: true },
  { ...own('schedule_rng_seed', 'scheduleRngSeed', 'u64'), isOfRound: true },
  {
    ...own('accuracy_log_probability', 'accuracyLogProbability', 'double', PERCENT),
    isOfRound: true,
  },
  { ...own('test05', 'test05', 'is-one'), isOfRound: true },
  { ...own('test05_qsl_rng_seed', 'test05QslRngSeed', 'u64'), isOfRound: true },
  { ...own('test05_sample_index_rng_seed', 'test05SampleIndexRngSeed', 'u64'), isOfRound: true },
  { ...own('test05_schedule_rng_seed', 'test05ScheduleRngSeed', 'u64'), isOfRound: true },
  own('use_token_latencies', 'useTokenLatencies', 'is-one'),
  {
    ...of('Server', 'ttft_latency', 'serverTtftLatencyNs', 'u64', MS),
    needs: 'useTokenLatencies',
  },
  {
    ...of('Server', 'tpot_latency', 'serverTpotLatencyNs', 'u64', MS),
    needs: 'useTokenLatencies',
  },
  own('infer_token_latencies', 'inferTokenLatencies', 'is-one'),
  {
    ...own('token_latency_scaling_factor', 'tokenLatencyScalingFactor', 'u64'),
    needs: 'inferTokenLatencies',
  },
  of(
    'SingleStream',
    'target_latency_percentile',
    'singleStreamTargetLatencyPercentile',
    'double',
    PERCENT,
  ),
  of(
    'MultiStream',
    'target_latency_percentile',
    'multiStreamTargetLatencyPercentile',
    'double',
    PERCENT,
  ),
  of('MultiStream', 'samples_per_query', 'multiStreamSamplesPerQuery', 'u64'),
  of('Server', 'target_latency_percentile', 'serverTargetLatencyPercentile', 'double', PERCENT),
  of('Server', 'target_latency', 'serverTargetLatencyNs', 'u64', MS),
  of('Server', 'target_qps', 'serverTargetQps', 'double'),
  of('Server', 'coalesce_queries', 'serverCoalesceQueries', 'is-not-zero'),
  of('Server', 'max_async_queries', 'serverMaxAsyncQueries', 'int32'),
  of('Offline', 'target_qps', 'offlineExpectedQps', 'double'),
  of('SingleStream', 'target_latency', 'singleStreamExpectedLatencyNs', 'double', MS),
  of('MultiStream', 'target_latency', 'multiStreamExpectedLatencyNs', 'double', MS),
  own('min_duration', 'minDurationMs', 'u64'),
  own('max_duration', 'maxDurationMs', 'u64'),
  own('min_query_count', 'minQueryCount', 'u64'),
  own('max_query_count', 'maxQueryCount', 'u64'),
  own('performance_issue_unique', 'performanceIssueUnique', 'is-not-zero'),
  own('performance_issue_same', 'performanceIssueSame', 'is-not-zero'),
  own('performance_issue_same_index', 'performanceIssueSameIndex', 'u64'),
  own('performance_sample_count_override', 'performanceSampleCountOverride', 'u64'),
  {
    ...own('accuracy_sample_count_override', 'accuracySampleCountOverride', 'u64'),
    needsAccuracyCount: true,
  },
  own('sample_concatenate_permutation', 'sampleConcatenatePermutation', 'is-one'),
  own('print_timestamps', 'printTimestamps', 'is-not-zero'),
  own('accuracy_log_rng_seed', 'accuracyLogRngSeed', 'u64'),
  own('accuracy_log_sampling_target', 'accuracyLogSamplingTarget', 'u64'),
];

/** Keys that stand in official files and that no LoadGen reads. */
export const UNREAD_KEYS: readonly string[] = ['target_duration', 'test07_accuracy_threshold'];

function own(key: string, field: SettingsField['field'], read: ConfRead, multiplier = 1): ConfKey {
  return { key, under: 'own', field, read, multiplier };
}

function of(
  under: Scenario,
  key: string,
  field: SettingsField['field'],
  read: ConfRead,
  multiplier = 1,
): ConfKey {
  return { key, under, field, read, multiplier };
}
