import type { SampleRecords } from '../records/sample-records.ts';

/** Counts of a run's records, and the times of LoadGen's final queries, which its rates are made of. */
export interface SetTotals {
  readonly queryCount: number;
  readonly completedSamples: number;
  /** Largest completed - scheduled; 0 where nothing completed. */
  readonly maxLatencyNs: number;
  /**
   * In s since the start, added up over the parts: when the final query was due, issued and done. NaN (due): with several issue
   * threads it is one that was not issued.
   */
  readonly scheduledS: number;
  readonly issuedS: number;
  readonly doneS: number;
}

/** Goes through the records once. LoadGen's final query of a part is number "issued queries - 1" (recorder: `finalQuery`). */
export function totalsOfRecords(records: SampleRecords): SetTotals {
  const { rowCount, part, query, scheduledNs, completedNs } = records;
  let queryCount = 0;
  let completedSamples = 0;
  let maxLatencyNs = 0;
  const sums = { scheduledS: 0, issuedS: 0, doneS: 0 };
  for (let begin = 0; begin < rowCount; ) {
    let end = begin;
    let queriesOfPart = 0;
    let lastCompletionNs = 0;
    for (; end < rowCount && part[end] === part[begin]; end += 1) {
      if (end === begin || query[end] !== query[end - 1]) queriesOfPart += 1;
      const doneNs = completedNs[end] as number;
      if (Number.isNaN(doneNs)) continue;
      completedSamples += 1;
      maxLatencyNs = Math.max(maxLatencyNs, doneNs - (scheduledNs[end] as number));
      lastCompletionNs = Math.max(lastCompletionNs, doneNs);
    }
    queryCount += queriesOfPart;
    const final = finalQuery(records, { begin, end, query: queriesOfPart - 1 }, lastCompletionNs);
    sums.scheduledS += final.scheduledNs / 1e9;
    sums.issuedS += final.issuedNs / 1e9;
    sums.doneS += final.doneNs / 1e9;
    begin = end;
  }
  return { queryCount, completedSamples, maxLatencyNs, ...sums };
}

function finalQuery(
  { query: queries, scheduledNs, issuedNs, completedNs }: SampleRecords,
  { begin, end, query }: { begin: number; end: number; query: number },
  lastCompletionNs: number,
): { scheduledNs: number; issuedNs: number; doneNs: number } {
  let row = end - 1;
  while (row > begin && (queries[row] as number) > query) row -= 1;
  if (queries[row] !== query) {
    return { scheduledNs: Number.NaN, issuedNs: 0, doneNs: lastCompletionNs };
  }
  const dueNs = scheduledNs[row] as number;
  const wasIssuedNs = issuedNs[row] as number;
  let doneNs = 0;
  for (; row >= begin && queries[row] === query; row -= 1) {
    doneNs = Math.max(doneNs, completedNs[row] as number);
  }
  return {
    scheduledNs: dueNs,
    issuedNs: wasIssuedNs,
    doneNs: Number.isNaN(doneNs) ? lastCompletionNs : doneNs,
  };
}
