import { percentileLabel } from '../results/percentile-label.ts';
import type { LatencyStatistics, PerformanceSummary } from '../results/performance-summary.ts';
import type { DetailLog } from './detail-log.ts';

/** Writes the `result_*` lines of a performance run (LoadGen: PerformanceSummary::LogDetail). */
export function writeResults(log: DetailLog, summary: PerformanceSummary, isValid: boolean): void {
  const { validity, scenario } = summary;
  log.text('result_validity', isValid ? 'VALID' : 'INVALID');
  if (scenario === 'Server') {
    log.boolean('result_perf_constraints_met', validity.performance.isMet);
  }
  log.boolean('result_min_duration_met', validity.minDuration.isMet);
  log.boolean('result_min_queries_met', validity.minQueries.isMet);
  log.boolean('early_stopping_met', validity.earlyStopping.isMet);
  if (!isValid) log.text('result_invalid_reason', invalidReason(summary));
  log.text('early_stopping_result', validity.earlyStopping.text.replaceAll('\n', ' '));
  log.integer('result_query_count', summary.queryCount);
  writeScenarioResults(log, summary);
  writeStatistics(log, summary.sampleLatency, 'latency_ns');
}

/** LoadGen's advice in one line; it keeps the blanks that LoadGen leaves behind. */
function invalidReason({ validity }: PerformanceSummary): string {
  const performance = validity.performance.recommendation;
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
