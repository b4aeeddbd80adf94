import { z } from 'zod';
import { DetailLog } from '../logs/write/detail-log.ts';
import { writeResults } from '../logs/write/result-lines.ts';
import { countsText, performanceSummaryText } from '../logs/write/summary-log.ts';
import type { Measurements } from '../results/measurements.ts';
import { summarize } from '../results/summarize.ts';
import { checkSettingValues } from '../settings/check-settings.ts';
import {
  deriveEffectiveSettings,
  type EffectiveSettings,
  type LibraryCounts,
} from '../settings/effective-settings.ts';
import type { LoadgenBehaviour } from '../settings/loadgen-behaviour.ts';
import type { TestSettings } from '../settings/test-settings.ts';

/** Name of the SUT in the golden files: part of the summary. */
const SUT_NAME = 'Network_SUT_harness';

const time = z.number('must be a number');
const ns = z.int('must be a whole number of ns');
const listOfNs = z.array(ns, 'must be a list of whole numbers');

/** Measurements of a run, by the golden files' names. Latencies in ns, times in s. */
export const measuredSchema = z.object(
  {
    queries_issued: z.int('must be a whole number').min(0, 'must be 0 or more'),
    max_latency_s: time,
    final_query_scheduled_time_s: time,
    final_query_issued_time_s: time,
    final_query_all_samples_done_time_s: time,
    /** One per completed sample. */
    sample_latencies: listOfNs,
    /** MultiStream: one per query. */
    query_latencies: listOfNs.default([]),
    /** Token models: one of each per completed sample; times are empty in Offline. */
    first_token_latencies: listOfNs.default([]),
    time_per_output_token: listOfNs.default([]),
    tokens_per_sample: z.array(z.int('must be a whole number')).default([]),
  },
  'must be an object with the measurements',
);

export type ResultsMeasured = Readonly<z.infer<typeof measuredSchema>>;

/** Input of results without a run. */
export interface ResultsInput {
  readonly settings: TestSettings;
  readonly library: LibraryCounts;
  readonly loadgen: LoadgenBehaviour;
  readonly measured: ResultsMeasured;
}

/** Texts that LoadGen would write of a run with these measurements. */
export interface ResultsTexts {
  /** Whole text of `mlperf_log_summary.txt`. */
  readonly summary: string;
  /** Result lines of the detail log, key and value only. */
  readonly detail: readonly string[];
}

/**
 * Makes results and texts of measurements, as a run does after its last response.
 * @throws MlperfError `ERR_CONFIG_INVALID` for settings that cannot be run.
 */
export function buildResults(input: ResultsInput): ResultsTexts {
  const { settings: requested, library, loadgen, measured } = input;
  checkSettingValues(requested, library);
  const settings = deriveEffectiveSettings(requested, library, loadgen).effective;
  const summary = summarize(
    measurementsOf(measured, settings),
    settings,
    loadgen.percentileLabelDecimals,
  );
  const { isValid } = summary;
  const lines: string[] = [];
  const file = { append: (line: string) => lines.push(keyAndValue(line)) };
  const detail = new DetailLog(file, () => 0, 'as-loadgen');
  writeResults(detail, summary, isValid);
  if (loadgen.logsErrorCount) detail.integer('num_errors', detail.errorCount);
  return {
    summary:
      performanceSummaryText({ sutName: SUT_NAME, settings, summary, isValid, loadgen }) +
      countsText(0, 0),
    detail: lines,
  };
}

function measurementsOf(
  measured: ResultsMeasured,
  { useTokenLatencies }: EffectiveSettings,
): Measurements {
  return {
    queryCount: measured.queries_issued,
    sampleLatenciesNs: Float64Array.from(measured.sample_latencies),
    queryLatenciesNs: Float64Array.from(measured.query_latencies),
    maxLatencyS: measured.max_latency_s,
    finalQuery: {
      scheduledS: measured.final_query_scheduled_time_s,
      issuedS: measured.final_query_issued_time_s,
      allDoneS: measured.final_query_all_samples_done_time_s,
    },
    lastDoneS: measured.final_query_all_samples_done_time_s,
    tokens: useTokenLatencies
      ? {
          tokenCount: measured.tokens_per_sample.reduce((sum, count) => sum + count, 0),
          firstTokenNs: Float64Array.from(measured.first_token_latencies),
          perOutputTokenNs: Float64Array.from(measured.time_per_output_token),
          counts: Uint32Array.from(measured.tokens_per_sample),
          gaps: null,
        }
      : null,
  };
}

/** A line of the detail log without what a moment decides. */
function keyAndValue(line: string): string {
  return line.replace(/^:::MLLOG \{(.*), "time_ms": [\s\S]*$/, '$1');
}
