import { readLogLines } from './log-lines.ts';

/** Label of a summary line, then its value. */
const LINE = /^([^:]+?)\s*:\s(.*)$/;

/** What `mlperf_log_summary.txt` says, label by label; the first line of a label counts. */
export interface SummaryLog {
  readonly path: string;
  /** Label as it stands in the file → text behind the colon, without blanks around. */
  readonly values: ReadonlyMap<string, string>;
  /** Empty for a file without a line. */
  readonly lineCount: number;
}

/** Reads a summary log, streamed. @throws MlperfError `ERR_OUTPUT` when the file cannot be read. */
export async function readSummaryLog(path: string): Promise<SummaryLog> {
  const values = new Map<string, string>();
  let lineCount = 0;
  for await (const line of readLogLines(path)) {
    lineCount = line.number;
    const match = LINE.exec(line.text);
    const label = match?.[1]?.trim();
    if (label !== undefined && !values.has(label)) values.set(label, (match?.[2] ?? '').trim());
  }
  return { path, values, lineCount };
}
