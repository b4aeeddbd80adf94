import {
  formatFixed,
  formatGeneral,
  formatUint64,
  percentileLabel,
} from '../../base/number-format.ts';
import type { LatencyStatistics } from '../../results/latency-statistics.ts';
import type { PerformanceSummary } from '../../results/summarize.ts';
import type { EffectiveSettings } from '../../settings/effective-settings.ts';
import type { LoadgenBehaviour } from '../../settings/loadgen-behaviour.ts';

const RULE = '='.repeat(48);

/** Input of the summary of a performance run. */
export interface SummaryLogInput {
  readonly sutName: string;
  readonly settings: EffectiveSettings;
  readonly summary: PerformanceSummary;
  /** LoadGen's verdict; also INVALID if its rules are met but the run did not end by itself. */
  readonly isValid: boolean;
  readonly loadgen: LoadgenBehaviour;
}

/** Text of `mlperf_log_summary.txt` up to the counts (LoadGen: PerformanceSummary::LogSummary). */
export function performanceSummaryText(input: SummaryLogInput): string {
  const lines = [
    ...heading('MLPerf Results Summary'),
    // A SUT name comes from outside and must not start a new line.
    `SUT name : ${input.sutName.replaceAll(/[\r\n]+/g, ' ')}`,
    `Scenario : ${input.settings.scenario}`,
    `Mode     : ${input.settings.mode}`,
    resultLine(input),
    ...tokenResultLines(input),
    ...arrivalLines(input),
    ...validityLines(input),
    '',
    ...heading('Additional Stats'),
    ...additionalLines(input.summary),
    ...tokenLines(input),
    '',
    ...heading('Test Parameters Used'),
    ...parameterLines(input),
  ];
  return `${lines.join('\n')}\n`;
}

/** Last lines of every summary: numbers of warnings and errors in the detail log. */
export function countsText(warningCount: number, errorCount: number): string {
  return (
    `\n${countLine(warningCount, 'warning', 'warnings')}\n` +
    `\n${countLine(errorCount, 'ERROR', 'ERRORS')}\n`
  );
}

function countLine(count: number, one: string, many: string): string {
  if (count === 0) return `No ${many.toLowerCase()} encountered during test.`;
  return `${count} ${count === 1 ? one : many} encountered. See detailed log.`;
}

function heading(title: string): string[] {
  return [RULE, title, RULE];
}

function resultLine({ summary, loadgen }: SummaryLogInput): string {
  switch (summary.scenario) {
    case 'SingleStream':
    case 'MultiStream': {
      const label = percentileLabel(summary.target.percentile, loadgen.percentileLabelDecimals);
      return `${label}th percentile latency (ns) : ${summary.target.valueNs}`;
    }
    case 'Server':
      return `Completed samples per second    : ${formatFixed(summary.rates.completed, 2)}`;
    case 'Offline':
      return `Samples per second: ${formatGeneral(summary.rates.completed)}`;
  }
}

function validityLines({ summary, isValid }: SummaryLogInput): string[] {
  const { performance, minDuration, minQueries, earlyStopping } = summary.validity;
  const lines = [`Result is : ${isValid ? 'VALID' : 'INVALID'}`];
  if (summary.scenario === 'Server' || summary.arrivals !== null) {
    lines.push(`  Performance constraints satisfied : ${yesNo(performance.isMet)}`);
  }
  lines.push(
    `  Min duration satisfied : ${yesNo(minDuration.isMet)}`,
    `  Min queries satisfied : ${yesNo(minQueries.isMet)}`,
    `  Early stopping satisfied: ${yesNo(earlyStopping.isMet)}`,
  );
  if (!isValid) {
    lines.push('Recommendations:');
    for (const { recommendation } of [performance, minDuration, minQueries]) {
      if (recommendation === '') continue;
      // A second item of advice starts with its own mark.
      lines.push(` * ${recommendation.replaceAll(/\n(?! \*)/g, '\n   ')}`);
    }
  }
  if (earlyStopping.text !== '' || summary.tokens !== null) {
    if (summary.scenario !== 'Offline') lines.push(...earlyStoppingLines(summary));
  }
  return lines;
}

function earlyStoppingLines({ validity, tokens }: PerformanceSummary): string[] {
  if (tokens === null) return ['Early Stopping Result:', validity.earlyStopping.text];
  return [
    'TTFT Early Stopping Result:',
    tokens.firstTokenEarlyStopping.text,
    'TPOT Early Stopping Result:',
    tokens.perOutputTokenEarlyStopping.text,
  ];
}

function tokenResultLines({ summary, loadgen }: SummaryLogInput): string[] {
  const { tokens, inferredTokensPerSecond: inferred, scenario } = summary;
  const lines: string[] = [];
  if (tokens !== null && scenario === 'Server') {
    lines.push(`Completed tokens per second: ${formatFixed(tokens.completed, 2)}`);
  } else if (tokens !== null && scenario === 'Offline') {
    lines.push(`Tokens per second: ${formatGeneral(tokens.completed)}`);
  } else if (tokens !== null) {
    const label = percentileLabel(summary.target.percentile, loadgen.percentileLabelDecimals);
    lines.push(`${label}th first token percentile latency (ns) : ${tokens.targetFirstTokenNs}`);
  }
  if (inferred !== null) {
    lines.push(
      scenario === 'Server'
        ? `Completed tokens per second (inferred): ${formatFixed(inferred, 2)}`
        : `Tokens per second (inferred): ${formatGeneral(inferred)}`,
    );
  }
  return lines;
}

function additionalLines(summary: PerformanceSummary): string[] {
  const { rates } = summary;
  switch (summary.scenario) {
    case 'SingleStream':
      return [
        `QPS w/ loadgen overhead         : ${formatFixed(rates.withOverhead, 2)}`,
        `QPS w/o loadgen overhead        : ${formatFixed(rates.withoutOverhead, 2)}`,
        '',
        ...statisticsLines(summary.sampleLatency),
      ];
    case 'MultiStream':
      return [
        'Per-query latency:  ',
        ...statisticsLines(summary.queryLatency ?? summary.sampleLatency),
      ];
    case 'Server':
      return [
        `Scheduled samples per second : ${formatFixed(rates.scheduled, 2)}`,
        ...statisticsLines(summary.sampleLatency),
      ];
    case 'Offline':
      return statisticsLines(summary.sampleLatency);
  }
}

function arrivalLines({ summary: { arrivals } }: SummaryLogInput): string[] {
  if (arrivals === null) return [];
  const { samplesPerQuery, skippedIntervals, skippingQueries } = arrivals;
  return [
    `Samples per query : ${samplesPerQuery}`,
    `Skipped intervals : ${skippedIntervals} (caused by ${skippingQueries} queries)`,
  ];
}

function tokenLines({ summary: { tokens, scenario }, loadgen }: SummaryLogInput): string[] {
  if (tokens === null) return [];
  const lines = [''];
  if (scenario === 'SingleStream') {
    lines.push(
      `TPS w/ loadgen overhead         : ${formatFixed(tokens.withOverhead, 2)}`,
      `TPS w/o loadgen overhead        : ${formatFixed(tokens.withoutOverhead, 2)}`,
    );
  } else if (scenario === 'Server') {
    lines.push(`Completed tokens per second                 : ${formatFixed(tokens.completed, 2)}`);
  }
  const { firstToken, perOutputToken } = tokens;
  if (firstToken === null || perOutputToken === null) return lines;
  lines.push(
    ...statisticsLines(firstToken, 'First Token latency', 'first token latency'),
    '',
    ...statisticsLines(perOutputToken, loadgen.outputTokenLabel, 'time to output token'),
  );
  return lines;
}

function statisticsLines(
  { minNs, maxNs, loadgenMeanNs, percentiles }: LatencyStatistics,
  what = 'latency',
  percentileOf = what,
): string[] {
  return [
    `Min ${what} (ns)                : ${minNs}`,
    `Max ${what} (ns)                : ${maxNs}`,
    `Mean ${what} (ns)               : ${loadgenMeanNs}`,
    ...percentiles.map(
      ({ percentile, valueNs }) =>
        `${percentileLabel(percentile, 2)} percentile ${percentileOf} (ns)   : ${valueNs}`,
    ),
  ];
}

function parameterLines({ settings, loadgen }: SummaryLogInput): string[] {
  const lines = [
    `samples_per_query : ${settings.samplesPerQuery}`,
    `target_qps : ${formatGeneral(settings.targetQps)}`,
    ...(settings.useTokenLatencies
      ? [
          `ttft_latency (ns): ${settings.serverTtftLatencyNs}`,
          `tpot_latency (ns): ${settings.serverTpotLatencyNs}`,
        ]
      : [`target_latency (ns): ${settings.targetLatencyNs}`]),
    `max_async_queries : ${formatUint64(settings.maxAsyncQueries)}`,
    `min_duration (ms): ${settings.minDurationMs}`,
    `max_duration (ms): ${settings.maxDurationMs}`,
    `min_query_count : ${formatUint64(settings.minQueryCount)}`,
    `max_query_count : ${formatUint64(settings.maxQueryCount)}`,
    `qsl_rng_seed : ${settings.qslRngSeed}`,
    `sample_index_rng_seed : ${settings.sampleIndexRngSeed}`,
    `schedule_rng_seed : ${settings.scheduleRngSeed}`,
    `accuracy_log_rng_seed : ${settings.accuracyLogRngSeed}`,
    `accuracy_log_probability : ${formatGeneral(settings.accuracyLogProbability)}`,
    `accuracy_log_sampling_target : ${formatUint64(settings.accuracyLogSamplingTarget)}`,
    `print_timestamps : ${Number(settings.printTimestamps)}`,
    `performance_issue_unique : ${Number(settings.performanceIssueUnique)}`,
    `performance_issue_same : ${Number(settings.performanceIssueSame)}`,
    `performance_issue_same_index : ${formatUint64(settings.performanceIssueSameIndex)}`,
    `performance_sample_count : ${formatUint64(settings.performanceSampleCount)}`,
  ];
  if (loadgen.knowsAccuracySampleCount) {
    lines.push(`accuracy_sample_count : ${settings.accuracySampleCount}`);
  }
  if (loadgen.warnsAboutConcatenation && settings.sampleConcatenatePermutation) {
    lines.push(
      'WARNING: sample_concatenate_permutation was set to true. ',
      'Generated samples per query might be different as the one in the setting.',
      'Check the generated_samples_per_query line in the detailed log for the real',
      'samples_per_query value',
    );
  }
  return lines;
}

function yesNo(isMet: boolean): string {
  return isMet ? 'Yes' : 'NO';
}
