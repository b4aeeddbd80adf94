import { readAccuracyLog } from '../../loadgen/logs/read/accuracy-log-reader.ts';
import type { AccuracyEntry, AccuracyReport, DataSet } from '../data-set/data-set.ts';

/** What an accuracy log is worth. */
export interface AccuracyLogScore {
  /** Of the samples that are in the log: they may be a part of the data set. */
  readonly report: AccuracyReport;
  /** Entries of the log; more than the samples where some were logged several times. */
  readonly entryCount: number;
}

/** What a reader has to know where samples were logged several times; begins with a semicolon, or is empty. */
export function repeatsInWords(entryCount: number, sampleCount: number): string {
  const repeated = entryCount - sampleCount;
  if (repeated === 0) return '';
  return `; ${repeated} more entries for the same samples: the first of each counts`;
}

/**
 * Scores an accuracy log of a run of any LoadGen. Of a sample that was logged several times the first response
 * counts; others are looked at where they differ from it. The log is streamed: a response stays in memory once.
 * @throws MlperfError `ERR_OUTPUT` when the log is damaged, `ERR_DATA_SET` when a response is no answer to the
 *   benchmark.
 */
export async function scoreAccuracyLog(dataSet: DataSet, path: string): Promise<AccuracyLogScore> {
  const firsts = new Map<number, Uint8Array>();
  const entries: AccuracyEntry[] = [];
  let entryCount = 0;
  for await (const { sampleIndex, response } of readAccuracyLog(path)) {
    entryCount += 1;
    const first = firsts.get(sampleIndex);
    if (first !== undefined && Buffer.compare(first, response) === 0) continue;
    if (first === undefined) firsts.set(sampleIndex, response);
    entries.push({ sampleIndex, response });
  }
  return { report: dataSet.scoreAccuracy(entries), entryCount };
}
