import { readLogLines } from './log-lines.ts';
import { oldValue } from './old-log-form.ts';

/** Most labels read; LoadGen's summary has about a hundred short lines. */
const LABELS_MAX = 10_000;
const LINE_CHARACTERS_MAX = 10_000;

/** LoadGen's last line of a run with errors. */
const ERRORS = /^(\d{1,9}) ERRORS? encountered/;

/** Labels whose values were written differently before v1.0. */
const OLD_WORDS = ['Scenario', 'Mode'];

/** Content of `mlperf_log_summary.txt` by label; the first line of a label is used. */
export interface SummaryLog {
  readonly path: string;
  /**
   * Label as in the file -> trimmed text after the colon; scenario and mode in the form of v1.0 and
   * later.
   */
  readonly values: ReadonlyMap<string, string>;
  /** Number of errors that LoadGen counted in the run. */
  readonly errorCount: number;
  /** 0 for an empty file. */
  readonly lineCount: number;
}

/** Reads a summary log, streamed. @throws MlperfError `ERR_OUTPUT` if the file cannot be read. */
export async function readSummaryLog(path: string): Promise<SummaryLog> {
  const values = new Map<string, string>();
  let lineCount = 0;
  let errorCount = 0;
  for await (const { number, text } of readLogLines(path)) {
    lineCount = number;
    errorCount += Number(ERRORS.exec(text.slice(0, 100))?.[1] ?? 0);
    if (text.length > LINE_CHARACTERS_MAX || values.size === LABELS_MAX) continue;
    const colon = text.indexOf(':');
    // The official tools split label and value at a colon followed by a blank.
    if (colon <= 0 || !/\s/.test(text.charAt(colon + 1))) continue;
    const label = text.slice(0, colon).trim();
    if (label === '' || values.has(label)) continue;
    const value = text.slice(colon + 1).trim();
    values.set(label, OLD_WORDS.includes(label) ? String(oldValue(value)) : value);
  }
  return { path, values, errorCount, lineCount };
}
