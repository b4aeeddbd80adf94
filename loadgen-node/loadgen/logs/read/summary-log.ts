import { readLogLines } from './log-lines.ts';
import { oldValue } from './old-log-form.ts';

/** LoadGen's summary has about a hundred lines, short ones; what is beyond is no part of it. */
const LABELS_MAX = 10_000;
const LINE_CHARACTERS_MAX = 10_000;

/** LoadGen's last line where a run had errors. */
const ERRORS = /^(\d{1,9}) ERRORS? encountered/;

/** Labels whose values had other words before v1.0. */
const OLD_WORDS = ['Scenario', 'Mode'];

/** Content of `mlperf_log_summary.txt` by label; the first line of a label counts. */
export interface SummaryLog {
  readonly path: string;
  /** Label as it stands in the file → text behind the colon, without blanks around; scenario and mode in the words of v1.0 and later. */
  readonly values: ReadonlyMap<string, string>;
  /** Errors that LoadGen counted in the run. */
  readonly errorCount: number;
  /** Empty for a file without a line. */
  readonly lineCount: number;
}

/** Reads a summary log, streamed. @throws MlperfError `ERR_OUTPUT` when the file cannot be read. */
export async function readSummaryLog(path: string): Promise<SummaryLog> {
  const values = new Map<string, string>();
  let lineCount = 0;
  let errorCount = 0;
  for await (const { number, text } of readLogLines(path)) {
    lineCount = number;
    errorCount += Number(ERRORS.exec(text.slice(0, 100))?.[1] ?? 0);
    if (text.length > LINE_CHARACTERS_MAX || values.size === LABELS_MAX) continue;
    const colon = text.indexOf(':');
    // The official tools part label and value at a colon with a blank behind it.
    if (colon <= 0 || !/\s/.test(text.charAt(colon + 1))) continue;
    const label = text.slice(0, colon).trim();
    if (label === '' || values.has(label)) continue;
    const value = text.slice(colon + 1).trim();
    values.set(label, OLD_WORDS.includes(label) ? String(oldValue(value)) : value);
  }
  return { path, values, errorCount, lineCount };
}
