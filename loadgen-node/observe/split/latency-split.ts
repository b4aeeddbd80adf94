import { byNode } from '../figures/figures-of-records.ts';
import type { SampleRecords } from '../records/sample-records.ts';
import { LATENCY_PARTS, type LatencyPart } from './latency-parts.ts';
import {
  type LatencySplit,
  NETWORK,
  rowsOfRecords,
  type SplitFindings,
  type SplitRows,
  type SplitSums,
  sumRows,
} from './split-sums.ts';
import { leftOutText, type SplitContext, splitInWords } from './split-text.ts';
import { tokenSplit } from './token-split.ts';

/**
 * Reports where the time of a run went, and what limits it. A row's parts add up exactly to its
 * latency (docs/measure.md). A query of several samples counts by its last sample; in Offline,
 * where all samples are due at once, each sample counts. Samples whose node reported more time than
 * passed are left out and counted. Exact: uses every row. 10^7 rows take about 3 s and 80 MB
 * besides the records; with timed first tokens, 12 to 17 s and 460 MB.
 * @returns Null if no sample has all parts.
 */
export function latencySplit(
  records: SampleRecords,
  { nodeNames = [], isOneMachine = false, hasModel = true, isGeneratorBound }: SplitContext = {},
): LatencySplit | null {
  const pieces = rowsOfRecords(records);
  const { sums, findings } = splitLatency(records, pieces, nodeNames);
  const sampleCount = sums.all.count;
  if (sampleCount === 0) return null;
  const overtoldCount = findings.overtold.count;
  const figures = sums.figures();
  const tokens = tokenSplit(records, pieces, nodeNames);
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

/** True in MultiStream: several queries of several samples. */
function isOfQueries({ rowCount, queryCount }: SplitRows): boolean {
  return queryCount > 1 && rowCount > queryCount;
}

/** The last completed sample of a query, or a lost one if there is any. */
function lastOfQuery({ latencyNs }: SplitRows, begin: number, end: number): number {
  let last = begin;
  for (let row = begin; row < end; row += 1) {
    const ns = latencyNs(row);
    if (Number.isNaN(ns)) return row;
    if (ns > latencyNs(last)) last = row;
  }
  return last;
}

/** Sums of the rows with all parts known, and counts of the others. */
function splitLatency(
  records: SampleRecords,
  pieces: readonly SplitRows[],
  nodeNames: readonly string[],
): { readonly sums: SplitSums<LatencyPart>; readonly findings: SplitFindings } {
  let unknownCount = 0;
  const overtold = { count: 0, leastNs: 0 };
  let networkNs = 0;
  /** The current part of the run. */
  let rows = pieces[0] as SplitRows;
  const { sums } = sumRows(LATENCY_PARTS, {
    rowCount: records.rowCount,
    groups: byNode(records, nodeNames),
    forEachRow: (visit) => {
      for (rows of pieces) {
        const takesLast = isOfQueries(rows);
        rows.forEachQuery((begin, end) => {
          if (takesLast) visit(lastOfQuery(rows, begin, end));
          else for (let row = begin; row < end; row += 1) visit(row);
        });
      }
    },
    timeOf: (row) => rows.latencyNs(row),
    read: (row, parts) => {
      rows.readParts(row, parts);
      networkNs = parts[NETWORK] as number;
      return networkNs >= 0;
    },
    leaveOut: () => {
      if (Number.isNaN(networkNs)) {
        unknownCount += 1;
        return;
      }
      overtold.count += 1;
      overtold.leastNs = Math.min(overtold.leastNs, networkNs);
    },
  });
  const findings = {
    sums,
    unknownCount,
    overtold,
    isAllAtOnce: sums.all.count > 1 && pieces.every(({ queryCount }) => queryCount === 1),
    isOfQueries: pieces.some(isOfQueries),
  };
  return { sums, findings };
}
