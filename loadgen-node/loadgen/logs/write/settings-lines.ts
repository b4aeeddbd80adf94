import type { EffectiveSettings } from '../../settings/effective-settings.ts';
import type { ConfigEvent } from '../../settings/from-config.ts';
import type { LoadgenBehaviour } from '../../settings/loadgen-behaviour.ts';
import type { TestSettings } from '../../settings/test-settings.ts';
import type { DetailLog } from './detail-log.ts';

/** Writes the `requested_*` lines (LoadGen: LogRequestedTestSettings). */
export function writeRequestedSettings(
  log: DetailLog,
  settings: TestSettings,
  loadgen: LoadgenBehaviour,
): void {
  log.text('requested_scenario', settings.scenario);
  log.text('requested_test_mode', settings.mode);
  writeRequestedOfScenario(log, settings);
  log.integer('requested_min_duration_ms', settings.minDurationMs);
  log.integer('requested_max_duration_ms', settings.maxDurationMs);
  log.integer('requested_min_query_count', settings.minQueryCount);
  log.integer('requested_max_query_count', settings.maxQueryCount);
  log.integer('requested_qsl_rng_seed', settings.qslRngSeed);
  log.integer('requested_sample_index_rng_seed', settings.sampleIndexRngSeed);
  log.integer('requested_schedule_rng_seed', settings.scheduleRngSeed);
  log.integer('requested_accuracy_log_rng_seed', settings.accuracyLogRngSeed);
  log.double('requested_accuracy_log_probability', settings.accuracyLogProbability);
  log.integer('requested_accuracy_log_sampling_target', settings.accuracyLogSamplingTarget);
  log.boolean('requested_print_timestamps', settings.printTimestamps);
  log.boolean('requested_performance_issue_unique', settings.performanceIssueUnique);
  log.boolean('requested_performance_issue_same', settings.performanceIssueSame);
  log.integer('requested_performance_issue_same_index', settings.performanceIssueSameIndex);
  log.integer(
    'requested_performance_sample_count_override',
    settings.performanceSampleCountOverride,
  );
  if (loadgen.knowsAccuracySampleCount) {
    log.integer('requested_accuracy_sample_count_override', settings.accuracySampleCountOverride);
  }
  log.boolean('requested_sample_concatenate_permutation', settings.sampleConcatenatePermutation);
  if (settings.useTokenLatencies) writeRequestedTokens(log, settings);
}

function writeRequestedTokens(log: DetailLog, settings: TestSettings): void {
  log.boolean('requested_use_token_latencies', true);
  if (settings.scenario === 'Offline') return;
  log.integer('requested_server_ttft_latency', settings.serverTtftLatencyNs);
  log.integer('requested_server_tpot_latency', settings.serverTpotLatencyNs);
}

function writeRequestedOfScenario(log: DetailLog, settings: TestSettings): void {
  switch (settings.scenario) {
    case 'SingleStream':
      log.double(
        'requested_single_stream_expected_latency_ns',
        settings.singleStreamExpectedLatencyNs,
      );
      log.double(
        'requested_single_stream_target_latency_percentile',
        settings.singleStreamTargetLatencyPercentile,
      );
      return;
    case 'MultiStream':
      log.double(
        'requested_multi_stream_expected_latency_ns',
        settings.multiStreamExpectedLatencyNs,
      );
      log.double(
        'requested_multi_stream_target_latency_percentile',
        settings.multiStreamTargetLatencyPercentile,
      );
      log.integer('requested_multi_stream_samples_per_query', settings.multiStreamSamplesPerQuery);
      return;
    case 'Server':
      writeRequestedOfServer(log, settings);
      return;
    case 'Offline':
      log.double('requested_offline_expected_qps', settings.offlineExpectedQps);
      return;
  }
}

function writeRequestedOfServer(log: DetailLog, settings: TestSettings): void {
  log.double('requested_server_target_qps', settings.serverTargetQps);
  log.integer('requested_server_target_latency_ns', settings.serverTargetLatencyNs);
  log.double('requested_server_target_latency_percentile', settings.serverTargetLatencyPercentile);
  log.boolean('requested_server_coalesce_queries', settings.serverCoalesceQueries);
  log.integer(
    'requested_server_find_peak_qps_decimals_of_precision',
    settings.serverFindPeakQpsDecimalsOfPrecision,
  );
  log.double(
    'requested_server_find_peak_qps_boundary_step_size',
    settings.serverFindPeakQpsBoundaryStepSize,
  );
  log.integer('requested_server_max_async_queries', settings.serverMaxAsyncQueries);
  log.integer('requested_server_num_issue_query_threads', settings.serverNumIssueQueryThreads);
}

/** Writes the `effective_*` lines (LoadGen: LogEffectiveSettings). */
export function writeEffectiveSettings(
  log: DetailLog,
  settings: EffectiveSettings,
  loadgen: LoadgenBehaviour,
): void {
  log.text('effective_scenario', settings.scenario);
  log.text('effective_test_mode', settings.mode);
  log.integer('effective_samples_per_query', settings.samplesPerQuery);
  log.double('effective_target_qps', settings.targetQps);
  log.integer('effective_target_latency_ns', settings.targetLatencyNs);
  log.double('effective_target_latency_percentile', settings.targetLatencyPercentile);
  log.integer('effective_max_async_queries', settings.maxAsyncQueries);
  log.integer('effective_target_duration_ms', settings.targetDurationMs);
  log.integer('effective_min_duration_ms', settings.minDurationMs);
  log.integer('effective_max_duration_ms', settings.maxDurationMs);
  log.integer('effective_min_query_count', settings.minQueryCount);
  log.integer('effective_max_query_count', settings.maxQueryCount);
  log.integer('effective_min_sample_count', settings.minSampleCount);
  log.integer('effective_qsl_rng_seed', settings.qslRngSeed);
  log.integer('effective_sample_index_rng_seed', settings.sampleIndexRngSeed);
  log.integer('effective_schedule_rng_seed', settings.scheduleRngSeed);
  log.integer('effective_accuracy_log_rng_seed', settings.accuracyLogRngSeed);
  log.double('effective_accuracy_log_probability', settings.accuracyLogProbability);
  log.integer('effective_accuracy_log_sampling_target', settings.accuracyLogSamplingTarget);
  log.boolean('effective_print_timestamps', settings.printTimestamps);
  log.boolean('effective_performance_issue_unique', settings.performanceIssueUnique);
  log.boolean('effective_performance_issue_same', settings.performanceIssueSame);
  log.integer('effective_performance_issue_same_index', settings.performanceIssueSameIndex);
  log.integer('effective_performance_sample_count', settings.performanceSampleCount);
  if (loadgen.knowsAccuracySampleCount) {
    log.integer('effective_accuracy_sample_count', settings.accuracySampleCount);
  }
  log.boolean('effective_sample_concatenate_permutation', settings.sampleConcatenatePermutation);
}

/** Writes what reading the configuration files of one stage left to say. */
export function writeConfigEvents(
  log: DetailLog,
  events: readonly ConfigEvent[] | undefined,
  stage: ConfigEvent['stage'],
): void {
  for (const event of events ?? []) {
    if (event.stage !== stage) continue;
    if (event.kind === 'error') log.error(event.key, event.text);
    else log.warning(event.text);
  }
}
