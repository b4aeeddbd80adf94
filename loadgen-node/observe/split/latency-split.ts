import type { SampleRecords } from '../records/sample-records.ts';
import { LATENCY_PARTS } from './latency-parts.ts';
import {
  groupsOf,
  type LatencySplit,
  NETWORK,
  rowsOfRecords,
  type SplitFindings,
  type SplitRows,
  SplitSums,
} from './split-sums.ts';
import { leftOutText, type SplitContext, splitInWords } from './split-text.ts';
import { tokenSplit } from './token-split.ts';

/**
 * Says where the time of a run went, and what limits it. A row's parts add up to its latency exactly (docs/measure.md). Of a query of
 * several samples it is the one that came last that counts; in Offline, whose samples are all due at once, each counts.
 * Samples whose node reported more time than passed are left out and counted. Exact: no sketch, no sample of the rows. 10^7 rows take about
 * 3 s and 80 MB beside the records; where first tokens are timed, 12 to 17 s and 460 MB.
 * @returns Null where of no sample all parts are known.
 */
export function latencySplit(
  records: SampleRecords,
  { nodeNames = [], isOneMachine = false, hasModel = true, isGeneratorBound }: SplitContext = {},
): LatencySplit | null {
  const pieces = rowsOfRecords(records);
  const first = firstPass(pieces);
  const { sums, latenciesNs } = first;
  const sampleCount = sums.all.count;
  if (sampleCount === 0) return null;
  const findings = secondPass(pieces, first, groupsOf(latenciesNs.subarray(0, sampleCount).sort()));
  const figures = sums.figures();
  const tokens = tokenSplit(records, pieces);
  const overtoldCount = findings.overtold.count;
  const context = { nodeNames, isOneMachine, hasModel, isGeneratorBound };
  const leftOut = leftOutText({ sampleCount, overtoldCount });
  return {
    sampleCount,
    ...(overtoldCount > 0 && { overtoldCount }),
    ...figures,
    ...(tokens !== null && { tokens: tokens.split }),
    text:
      leftOut === null
        ? splitInWords(figures.parts, findings, context, tokens)
        : `Where the time went is ${leftOut}.`,
  };
}

/** True in MultiStream: several queries, of several samples. */
function isOfQueries({ rowCount, queryCount }: SplitRows): boolean {
  return queryCount > 1 && rowCount > queryCount;
}

/** Calls back with each row that counts, in order. */
function forEachRow(rows: SplitRows, visit: (row: number) => void): void {
  const takesLast = isOfQueries(rows);
  rows.forEachQuery((begin, end) => {
    if (takesLast) visit(lastOfQuery(rows, begin, end));
    else for (let row = begin; row < end; row += 1) visit(row);
  });
}

/** The sample that a query waited for; where one was lost, that one. */
function lastOfQuery({ latencyNs }: SplitRows, begin: number, end: number): number {
  let last = begin;
  for (let row = begin; row < end; row += 1) {
    const ns = latencyNs(row);
    if (Number.isNaN(ns)) return row;
    if (ns > latencyNs(last)) last = row;
  }
  return last;
}

/** Latencies and sums of the rows whose parts are known, and how many rows are in neither. */
function firstPass(pieces: readonly SplitRows[]) {
  const latenciesNs = new Float64Array(pieces.reduce((sum, { rowCount }) => sum + rowCount, 0));
  const sums = new SplitSums(LATENCY_PARTS);
  const parts = new Float64Array(LATENCY_PARTS.length);
  let unknown = 0;
  let overtoldCount = 0;
  let leastNs = 0;
  for (const rows of pieces) {
    forEachRow(rows, (row) => {
      const latencyNs = rows.readParts(row, parts);
      if (Number.isNaN(latencyNs)) {
        unknown += 1;
        return;
      }
      const networkNs = parts[NETWORK] as number;
      if (networkNs < 0) {
        overtoldCount += 1;
        leastNs = Math.min(leastNs, networkNs);
        return;
      }
      latenciesNs[sums.all.count] = latencyNs;
      sums.add(parts, latencyNs, rows.nodeOf(row));
    });
  }
  return { latenciesNs, sums, unknown, overtold: { count: overtoldCount, leastNs } };
}

function secondPass(
  pieces: readonly SplitRows[],
  { sums, unknown, overtold }: ReturnType<typeof firstPass>,
  groups: ReturnType<typeof groupsOf>,
): SplitFindings {
  const parts = new Float64Array(LATENCY_PARTS.length);
  for (const rows of pieces) {
    forEachRow(rows, (row) => {
      const latencyNs = rows.latencyNs(row);
      // Four fifths of the rows end here.
      if (!(groups.isTypical(latencyNs) || groups.isTail(latencyNs))) return;
      if (Number.isNaN(rows.readParts(row, parts)) || (parts[NETWORK] as number) < 0) return;
      sums.addToGroups(parts, latencyNs, rows.nodeOf(row), groups);
    });
  }
  return {
    sums,
    unknownCount: unknown,
    isAllAtOnce: sums.all.count > 1 && pieces.every(({ queryCount }) => queryCount === 1),
    isOfQueries: pieces.some(isOfQueries),
    overtold,
  };
}
