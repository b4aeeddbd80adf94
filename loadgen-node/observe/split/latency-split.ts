import type { SampleRecords } from '../records/sample-records.ts';
import { LATENCY_PARTS } from './latency-parts.ts';
import {
  groupsOf,
  type LatencySplit,
  NETWORK,
  type NodeTimes,
  PartSums,
  rowsOfRecords,
  type SplitFindings,
  type SplitRows,
} from './split-sums.ts';
import { type SplitContext, splitInWords } from './split-text.ts';
import { tokenSplit } from './token-split.ts';

/**
 * Says where the time of a run went, and what limits it. A row's parts add up to its latency exactly (docs/measure.md). Of a query of
 * several samples it is the one that came last that counts; in Offline, whose samples are all due at once, each counts.
 * Samples whose node reported more time than passed are left out and counted. Exact: no sketch, no sample of the rows. 10^7 rows take about 3 s and 80 MB beside the records.
 * @returns Null where of no sample all parts are known.
 */
export function latencySplit(
  records: SampleRecords,
  { nodeNames = [], isOneMachine = false }: SplitContext = {},
): LatencySplit | null {
  const pieces = rowsOfRecords(records);
  const first = firstPass(pieces);
  if (first.known === 0) return null;
  const latencies = first.latenciesNs.subarray(0, first.known).sort();
  const findings = secondPass(pieces, first, groupsOf(latencies));
  const figures = LATENCY_PARTS.map((part, i) => ({
    part,
    meanNs: findings.all.meanOf(i),
    typicalNs: findings.typical.meanOf(i),
    tailNs: findings.tail.meanOf(i),
  }));
  const growsMost = figures.reduce((most, one) =>
    one.tailNs - one.typicalNs > most.tailNs - most.typicalNs ? one : most,
  );
  const tokens = tokenSplit(records, pieces);
  return {
    sampleCount: first.known,
    parts: figures,
    growsMost: growsMost.part,
    ...(tokens !== null && { tokens }),
    text: splitInWords(figures, findings, { nodeNames, isOneMachine }, tokens),
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

/**
 * Latencies, sums and nodes of the rows whose parts are known, and how many rows are in neither.
 */
function firstPass(pieces: readonly SplitRows[]) {
  const latenciesNs = new Float64Array(pieces.reduce((sum, { rowCount }) => sum + rowCount, 0));
  const all = new PartSums();
  // By number; with gaps for nodes that did not answer.
  const nodes: (NodeTimes | undefined)[] = [];
  const parts = new Float64Array(LATENCY_PARTS.length);
  let known = 0;
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
      latenciesNs[known] = latencyNs;
      known += 1;
      all.add(parts, latencyNs);
      const index = rows.nodeOf(row);
      if (index < 0) return;
      nodes[index] ??= { index, sums: new PartSums(), tailCount: 0 };
      nodes[index].sums.add(parts, latencyNs);
    });
  }
  return { latenciesNs, known, unknown, overtold: { count: overtoldCount, leastNs }, all, nodes };
}

function secondPass(
  pieces: readonly SplitRows[],
  { all, known, unknown, overtold, nodes }: ReturnType<typeof firstPass>,
  groups: ReturnType<typeof groupsOf>,
): SplitFindings {
  const typical = new PartSums();
  const tail = new PartSums();
  const parts = new Float64Array(LATENCY_PARTS.length);
  for (const rows of pieces) {
    forEachRow(rows, (row) => {
      const latencyNs = rows.latencyNs(row);
      const isTypical = groups.isTypical(latencyNs);
      const isTail = groups.isTail(latencyNs);
      // Four fifths of the rows end here.
      if (!(isTypical || isTail) || Number.isNaN(rows.readParts(row, parts))) return;
      if ((parts[NETWORK] as number) < 0) return;
      if (isTypical) typical.add(parts, latencyNs);
      if (!isTail) return;
      tail.add(parts, latencyNs);
      countSlow(nodes[rows.nodeOf(row)]);
    });
  }
  return {
    all,
    typical,
    tail,
    nodes: nodes.filter((node) => node !== undefined),
    unknownCount: unknown,
    isAllAtOnce: known > 1 && pieces.every(({ queryCount }) => queryCount === 1),
    isOfQueries: pieces.some(isOfQueries),
    overtold,
  };
}

function countSlow(node: NodeTimes | undefined): void {
  if (node !== undefined) node.tailCount += 1;
}
