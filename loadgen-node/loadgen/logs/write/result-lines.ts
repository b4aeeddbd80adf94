import { percentileLabel } from '../../base/number-format.ts';
import type { EarlyStopping } from '../../results/early-stopping.ts';
import type { LatencyStatistics } from '../../results/latency-statistics.ts';
import type { PerformanceSummary } from '../../results/summarize.ts';
import type { TokenSummary } from '../../results/token-summary.ts';
import type { DetailLog } from './detail-log.ts';

/** Writes the `result_*` lines of a performance run (LoadGen: PerformanceSummary::LogDetail). */
export function writeResults(log: DetailLog, summary: PerformanceSummary, isValid: boolean): void {
  const { validity, scenario } = summary;
  log.text('result_validity', isValid ? 'VALID' : 'INVALID');
  if (scenario === 'Server' || summary.arrivals !== null) {
    log.boolean('result_perf_constraints_met', validity.performance.isMet);
  }
  log.boolean('result_min_duration_met', validity.minDuration.isMet);
  log.boolean('result_min_queries_met', validity.minQueries.isMet);
  log.boolean('early_stopping_met', validity.earlyStopping.isMet);
  if (!isValid) log.text('result_invalid_reason', invalidReason(summary));
  writeEarlyStopping(log, summary);
  log.integer('result_query_count', summary.queryCount);
  writeScenarioResults(log, summary);
  writeStatistics(log, summary.sampleLatency, 'latency_ns');
  if (summary.tokens !== null) writeTokens(log, summary.tokens);
  const { arrivals } = summary;
  if (arrivals !== null) {
    log.integer('longhaul_arrival_interval_ns', arrivals.intervalNs);
    log.integer('longhaul_samples_per_query', arrivals.samplesPerQuery);
    log.integer('longhaul_skipped_intervals', arrivals.skippedIntervals);
    log.integer('longhaul_skipping_queries', arrivals.skippingQueries);
  }
  if (summary.inferredTokensPerSecond !== null) {
    const completed = scenario === 'Server' ? 'completed_' : '';
    log.double(`result_inferred_${completed}tokens_per_second`, summary.inferredTokensPerSecond);
  }
}

function writeEarlyStopping(log: DetailLog, { validity, tokens }: PerformanceSummary): void {
  const write = (key: string, { text }: EarlyStopping): void =>
    log.text(key, text.replaceAll('\n', ' '));
  if (tokens === null) {
    write('early_stopping_result', validity.earlyStopping);
    return;
  }
  write('early_stopping_ttft_result', tokens.firstTokenEarlyStopping);
  write('early_stopping_tpot_result', tokens.perOutputTokenEarlyStopping);
}

/** Keys and order are LoadGen's, including "to output token" for "per output token". */
function writeTokens(log: DetailLog, tokens: TokenSummary): void {
  const { firstToken, perOutputToken } = tokens;
  if (firstToken === null || perOutputToken === null) {
    log.double('result_tokens_per_second', tokens.completed);
    return;
  }
  log.integer('result_first_token_min_latency_ns', firstToken.minNs);
  log.integer('result_first_token_max_latency_ns', firstToken.maxNs);
  log.integer('result_first_token_mean_latency_ns', firstToken.loadgenMeanNs);
  for (const { percentile, valueNs } of firstToken.percentiles) {
    const label = percentileLabel(percentile, 2);
    log.integer(`result_first_token_${label}_percentile_latency_ns`, valueNs);
  }
  log.double('result_token_throughput_with_loadgen_overhead', tokens.withOverhead);
  log.double('result_token_throughput', tokens.perLatencyNs);
  for (const { percentile, valueNs } of perOutputToken.percentiles) {
    const label = percentileLabel(percentile, 2);
    log.integer(`result_time_per_output_token_${label}_percentile_ns`, valueNs);
  }
  log.integer('result_time_to_output_token_min', perOutputToken.minNs);
  log.integer('result_time_to_output_token_max', perOutputToken.maxNs);
  log.integer('result_time_to_output_token_mean', perOutputToken.loadgenMeanNs);
  log.double('result_completed_tokens_per_second', tokens.completed);
}

/** LoadGen's advice in one line, including its trailing blanks. */
function invalidReason({ validity }: PerformanceSummary): string {
  const performance = validity.performance.recommendation.replaceAll('\n', ' ');
  const duration = validity.minDuration.recommendation;
  const [queries = ''] = validity.minQueries.recommendation.split('\n', 1);
  return (performance && `${performance} `) + (duration && `${duration} `) + queries;
}

function writeScenarioResults(log: DetailLog, summary: PerformanceSummary): void {
  const { rates } = summary;
  const { earlyStopping } = summary.validity;
  switch (summary.scenario) {
    case 'SingleStream':
      log.double('result_qps_with_loadgen_overhead', rates.withOverhead);
      log.double('result_qps_without_loadgen_overhead', rates.withoutOverhead);
      log.integer('early_stopping_latency_ss', earlyStopping.singleStreamEstimateNs);
      log.integer('early_stopping_latency_ms', earlyStopping.multiStreamEstimateNs);
      return;
    case 'MultiStream':
      if (summary.queryLatency !== null) {
        writeStatistics(log, summary.queryLatency, 'query_latency_ns');
      }
      log.integer('early_stopping_latency_ms', earlyStopping.multiStreamEstimateNs);
      return;
    case 'Server':
      log.integer('result_overlatency_query_count', summary.overlatencyCount);
      log.double('result_scheduled_samples_per_sec', rates.scheduled);
      log.double('result_completed_samples_per_sec', rates.completed);
      return;
    case 'Offline':
      log.double('result_samples_per_second', rates.completed);
      return;
  }
}

function writeStatistics(
  log: DetailLog,
  statistics: LatencyStatistics,
  what: 'latency_ns' | 'query_latency_ns',
): void {
  log.integer(`result_min_${what}`, statistics.minNs);
  log.integer(`result_max_${what}`, statistics.maxNs);
  log.integer(`result_mean_${what}`, statistics.meanNs);
  const ending =
    what === 'latency_ns' ? 'percentile_latency_ns' : 'percentile_per_query_latency_ns';
  for (const { percentile, valueNs } of statistics.percentiles) {
    log.integer(`result_${percentileLabel(percentile, 2)}_${ending}`, valueNs);
  }
}
