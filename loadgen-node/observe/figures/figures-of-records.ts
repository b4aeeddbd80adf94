import type { Scenario } from '../../../shared/domain/scenario.ts';
import { forEachStretch } from '../records/record-block.ts';
import type { SampleRecords } from '../records/sample-records.ts';
import { ExactDistribution } from './distribution.ts';
import type { RunFigures } from './figure-names.ts';
import { Figures, type FinalQuery } from './figures.ts';

/** What the figures need to know beside the records. */
export interface FigureContext {
  readonly scenario: Scenario;
  /** Server: bound of the latency in ns; null where there is none. */
  readonly latencyBoundNs: number | null;
  /** Responses that broke the contract; they are in no record. Default: 0. */
  readonly contractErrors?: number;
}

/**
 * All figures of a run from its records alone, by LoadGen's rules (loadgen/results): latencies, percentiles and rates are
 * to the bit those of the run's own summary; of a run in several parts those of all its parts together.
 *
 * `completed_qps`: Server and Offline as LoadGen says; SingleStream: "QPS w/ loadgen overhead"; MultiStream: samples by the
 * time until the last query was done.
 */
export function figuresOf(
  records: SampleRecords,
  { scenario, latencyBoundNs, contractErrors }: FigureContext,
): RunFigures {
  const { rowCount, part } = records;
  const figures = new Figures(() => new ExactDistribution(rowCount), latencyBoundNs);
  forEachStretch(part, { begin: 0, end: rowCount }, (begin, end) =>
    addPart(figures, records, begin, end),
  );
  return figures.close(scenario, contractErrors);
}

/** Adds the rows of one part, from `begin` to before `end`. */
function addPart(
  figures: Figures<ExactDistribution>,
  records: SampleRecords,
  begin: number,
  end: number,
): void {
  const { query, scheduledNs, issuedNs, completedNs, tokenCount, firstTokenNs } = records;
  let queryCount = 0;
  let lastCompletionNs = 0;
  forEachStretch(query, { begin, end }, (first, next) => {
    const dueNs = scheduledNs[first] as number;
    figures.issued((issuedNs[first] as number) - dueNs, next - first);
    queryCount += 1;
    for (let row = first; row < next; row += 1) {
      const doneNs = completedNs[row] as number;
      if (Number.isNaN(doneNs)) continue;
      const latencyNs = doneNs - dueNs;
      figures.completed(latencyNs);
      lastCompletionNs = Math.max(lastCompletionNs, doneNs);
      if (tokenCount === null) continue;
      const firstNs = firstTokenNs === null ? null : (firstTokenNs[row] as number) - dueNs;
      figures.tokens(tokenCount[row] as number, latencyNs, firstNs);
    }
  });
  figures.endPart(finalQuery(records, { begin, end, query: queryCount - 1 }, lastCompletionNs));
}

/** LoadGen's final query of a part is number "issued queries - 1" (recorder: `finalQuery`). */
function finalQuery(
  { query: queries, scheduledNs, issuedNs, completedNs }: SampleRecords,
  { begin, end, query }: { begin: number; end: number; query: number },
  lastCompletionNs: number,
): FinalQuery {
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
