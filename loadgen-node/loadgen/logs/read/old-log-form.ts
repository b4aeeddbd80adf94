import { existsSync } from 'node:fs';
import { type LogLine, readLogLines } from './log-lines.ts';

/**
 * Logs of LoadGen before v1.0 (rounds v0.5 and v0.7), translated to later keys and values. The old
 * detail log has text lines and no results: those are only in the summary. Source:
 * loadgen/logging.h, loadgen.cc and test_settings_internal.cc of branch r0.5 and tag v0.7; tag v1.0
 * has both forms side by side.
 */

/** Beginning of each record of such a detail log. */
export const OLD_MARK = '"pid": ';

/** Head of a line: everything before the record's text. */
const HEAD = /^"pid": \d+, "tid": \d+, "ts": -?\d+ns : (ERROR : |WARNING : )?/;

/** Label and value of a record; the blank before or after the colon is optional. */
const LABELLED = /^(.{1,200}?) *: ?(.*)$/s;

/** A setting's label: its name, then its unit unless the name has it. */
const SETTING = /^([a-z][a-z0-9_]*)(?: \((ns|ms)\))?$/;

const QUERIES = /^"queries" : (\d+), "samples per query" : (\d+), "duration" : (-?\d+)$/;

/** A line of the list of LoadGen's source files. */
const FILE_SHA1 = /^([0-9a-f]{40}) (\S.*)$/;

/** LoadGen has some fifty files. */
const FILES_MAX = 1000;

const SECTIONS: ReadonlyMap<string, 'effective' | 'requested'> = new Map<
  string,
  'effective' | 'requested'
>([
  ['Effective Settings', 'effective'],
  ['Requested Settings', 'requested'],
]);

/** Key of each label that is not a setting, and how to read its value. */
const RECORDS: ReadonlyMap<string, readonly [key: string, read: (text: string) => unknown]> =
  new Map([
    ['version', ['loadgen_version', String]],
    ['build_date_local', ['loadgen_build_date_local', String]],
    ['build_date_utc', ['loadgen_build_date_utc', String]],
    ['git_commit_date', ['loadgen_git_commit_date', String]],
    ['Date + time of test', ['test_datetime', String]],
    ['System Under Test (SUT) name', ['sut_name', String]],
    ['Query Sample Library (QSL) name', ['qsl_name', String]],
    ['QSL total size', ['qsl_reported_total_count', oldValue]],
    ['QSL performance size*', ['qsl_reported_performance_count', oldValue]],
    ['POWER_BEGIN', ['power_begin', powerTime]],
    ['POWER_END', ['power_end', powerTime]],
  ]);

const GENERATED_KEYS = [
  'generated_query_count',
  'generated_samples_per_query',
  'generated_query_duration',
];

const RESULT_KEYS: ReadonlyMap<string, string> = new Map<string, string>([
  ['Result is', 'result_validity'],
  ['Performance constraints satisfied', 'result_perf_constraints_met'],
  ['Min duration satisfied', 'result_min_duration_met'],
  ['Min queries satisfied', 'result_min_queries_met'],
  ['Scheduled samples per second', 'result_scheduled_samples_per_sec'],
  ['Completed samples per second', 'result_completed_samples_per_sec'],
  ['Samples per second', 'result_samples_per_second'],
  ['QPS w/ loadgen overhead', 'result_qps_with_loadgen_overhead'],
  ['QPS w/o loadgen overhead', 'result_qps_without_loadgen_overhead'],
  ['Min latency (ns)', 'result_min_latency_ns'],
  ['Max latency (ns)', 'result_max_latency_ns'],
  ['Mean latency (ns)', 'result_mean_latency_ns'],
]);

/** Texts of scenarios, modes and verdicts, each with the value of later logs. */
const VALUES: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['Single Stream', 'SingleStream'],
  ['Multi Stream', 'MultiStream'],
  ['Multi Stream Free', 'MultiStreamFree'],
  ['Submission', 'SubmissionRun'],
  ['Accuracy', 'AccuracyOnly'],
  ['Performance', 'PerformanceOnly'],
  ['Find Peak Performance', 'FindPeakPerformance'],
  ['true', true],
  ['false', false],
  ['Yes', true],
  ['NO', false],
]);

/** A record with its later key. */
export interface OldRecord {
  readonly key: string;
  readonly value: unknown;
}

/** Reads the lines of a detail log in order: the meaning of a line depends on earlier lines. */
export class OldDetailLog {
  #section: 'effective' | 'requested' | undefined;
  /** SHA-1 by path, while the list of files is read. */
  #files: Record<string, string> | undefined;

  /**
   * @returns The records of a line that begins with {@link OLD_MARK}, or the problem as text if
   *   it is not a record.
   */
  read({ text, isEnded }: LogLine): { isError: boolean; records: readonly OldRecord[] } | string {
    const head = HEAD.exec(text);
    // LoadGen ends each line with a newline: without one the value may be truncated.
    if (!isEnded) return 'the file ends inside a record';
    if (head === null)
      return `what follows the mark is no record: ${JSON.stringify(text.slice(0, 60))}`;
    this.#files = undefined;
    const message = text.slice(head[0].length);
    const level = head[1];
    if (level !== undefined) {
      const key = level.startsWith('ERROR') ? 'error_runtime' : 'warning_generic_message';
      return { isError: level.startsWith('ERROR'), records: [{ key, value: message }] };
    }
    const records = this.#recordsOf(message);
    const huge = records.find(({ value }) => typeof value === 'number' && !Number.isFinite(value));
    if (huge !== undefined) return `the value of "${huge.key}" is too large for a number`;
    return { isError: false, records };
  }

  /** Reads a line without the mark, which continues the record before it. */
  continue(text: string): void {
    const [, sha1, path] = FILE_SHA1.exec(text) ?? [];
    if (this.#files === undefined || sha1 === undefined || path === undefined) return;
    if (Object.keys(this.#files).length < FILES_MAX) this.#files[path] = sha1;
  }

  #recordsOf(message: string): readonly OldRecord[] {
    const [, label = message, text = ''] = LABELLED.exec(message) ?? [];
    if (message === '' || SECTIONS.has(label)) {
      this.#section = SECTIONS.get(label);
      return [];
    }
    if (this.#section !== undefined) {
      const key = settingKey(this.#section, label);
      if (key !== undefined) return [{ key, value: oldValue(text) }];
    }
    const [known, read] = RECORDS.get(label) ?? [];
    if (known !== undefined && read !== undefined) return [{ key: known, value: read(text) }];
    const generated = label === 'GeneratedQueries' ? QUERIES.exec(text)?.slice(1) : undefined;
    if (generated !== undefined) {
      return GENERATED_KEYS.map((key, i) => ({ key, value: oldValue(generated[i] ?? '') }));
    }
    if (label === 'SHA1 of files') {
      this.#files = Object.create(null) as Record<string, string>;
      return [{ key: 'loadgen_file_sha1', value: this.#files }];
    }
    return [{ key: 'generic_message', value: message }];
  }
}

/** Key of a setting by its label; undefined if the label is not a setting. */
function settingKey(section: string, label: string): string | undefined {
  if (label === 'Scenario') return `${section}_scenario`;
  if (label === 'Test mode') return `${section}_test_mode`;
  const [, name, unit] = SETTING.exec(label) ?? [];
  if (name === undefined) return undefined;
  return `${section}_${name}${unit === undefined ? '' : `_${unit}`}`;
}

/** Results from the summary beside a detail log; none without a summary. */
export async function* oldResults(summary: string): AsyncGenerator<OldRecord & { line: LogLine }> {
  if (!existsSync(summary)) return;
  let isOfQueries = false;
  for await (const line of readLogLines(summary)) {
    const [, label = '', text = ''] = LABELLED.exec(line.text.slice(0, 1000).trim()) ?? [];
    // MultiStream has query latencies, then sample latencies, under the same labels.
    if (label === 'Per-query latency') isOfQueries = true;
    if (label === 'Per-sample latency') isOfQueries = false;
    const key = RESULT_KEYS.get(label) ?? percentileKey(label, isOfQueries);
    if (key !== undefined) yield { key, value: oldValue(text), line };
  }
}

function percentileKey(label: string, isOfQueries: boolean): string | undefined {
  const [, percentile, isLatency] = /^(\d\d\.\d\d) percentile( latency \(ns\))?$/.exec(label) ?? [];
  if (percentile === undefined) return undefined;
  if (isLatency === undefined)
    return `result_${percentile}_percentile_num_intervals_between_queries`;
  return `result_${percentile}_percentile_${isOfQueries ? 'per_query_' : ''}latency_ns`;
}

function powerTime(text: string): string {
  return /, "time" : (.*)$/.exec(text)?.[1] ?? text;
}

/** A value in its later form; whole numbers beyond 2^53 as bigint. */
export function oldValue(text: string): unknown {
  if (VALUES.has(text)) return VALUES.get(text);
  if (!/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/.test(text)) return text;
  const number = Number(text);
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(text) ? number : BigInt(text);
}
