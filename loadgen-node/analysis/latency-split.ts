import type { SampleRecords } from '../records/sample-records.ts';
import { LATENCY_PARTS, type LatencySplit } from './latency-parts.ts';
import { isOvertold, NETWORK, readParts } from './part-times.ts';
import { type NodeTimes, PartSums, type SplitFindings } from './split-sums.ts';
import { splitInWords } from './split-text.ts';

/** Share of the samples that is the tail. */
const TAIL_SHARE = 0.01;

/** What a split is made of, where it is not all records as they are. */
export interface SplitOptions {
  /** Parts of the performance phase that count; default: all. */
  readonly parts?: readonly number[];
  /** Names of the SUT nodes in the order of their numbers. */
  readonly nodeNames?: readonly string[];
}

/**
 * Says where the time of a run went, and what limits it. A row's parts add up to its latency exactly (docs/why.md). Of a query of
 * several samples it is the one that came last that counts; in Offline, whose samples are all due at once, each counts.
 * Exact: no sketch, no sample of the rows. 10^7 rows take about 3 s and 80 MB beside the records.
 * @returns Null where of no sample all parts are known.
 */
export function latencySplit(
  records: SampleRecords,
  { parts, nodeNames = [] }: SplitOptions = {},
): LatencySplit | null {
  const rows = countedRows(records, parts);
  const first = firstPass(records, rows);
  if (first.known === 0) return null;
  const latencies = first.latenciesNs.subarray(0, first.known).sort();
  const findings = secondPass(records, rows, first, {
    typicalNsMin: at(latencies, Math.floor(0.4 * first.known)),
    typicalNsMax: at(latencies, Math.ceil(0.6 * first.known) - 1),
    tailNsMin: at(latencies, first.known - Math.ceil(TAIL_SHARE * first.known)),
  });
  const figures = LATENCY_PARTS.map((part, i) => ({
    part,
    meanNs: findings.all.meanOf(i),
    typicalNs: findings.typical.meanOf(i),
    tailNs: findings.tail.meanOf(i),
  }));
  const growsMost = figures.reduce((most, one) =>
    one.tailNs - one.typicalNs > most.tailNs - most.typicalNs ? one : most,
  );
  return {
    sampleCount: first.known,
    parts: figures,
    growsMost: growsMost.part,
    text: splitInWords(figures, findings, nodeNames),
  };
}

function at(sorted: Float64Array, index: number): number {
  return sorted[Math.min(Math.max(index, 0), sorted.length - 1)] as number; // Never empty.
}

/** Which rows count; called with each row, in order. */
type CountedRows = (visit: (row: number) => void) => void;

function countedRows(records: SampleRecords, parts: readonly number[] | undefined): CountedRows {
  const { rowCount, part } = records;
  const counts = (row: number): boolean =>
    parts === undefined || parts.includes(part[row] as number);
  if (!hasQueriesOfSeveral(records)) {
    return (visit) => {
      for (let row = 0; row < rowCount; row += 1) if (counts(row)) visit(row);
    };
  }
  return (visit) => {
    for (let row = 0; row < rowCount; ) {
      const end = endOfQuery(records, row);
      const last = counts(row) ? lastOfQuery(records, row, end) : -1;
      if (last >= 0) visit(last);
      row = end;
    }
  };
}

/** True in MultiStream: several queries, of several samples. */
function hasQueriesOfSeveral(records: SampleRecords): boolean {
  const { rowCount, query } = records;
  const first = endOfQuery(records, 0);
  return first > 1 && first < rowCount && query[first] !== 0;
}

function endOfQuery({ rowCount, part, query }: SampleRecords, row: number): number {
  let end = row + 1;
  while (end < rowCount && query[end] === query[row] && part[end] === part[row]) end += 1;
  return end;
}

/** Row of the sample that a query waited for; -1 where one of its samples was lost. */
function lastOfQuery({ completedNs }: SampleRecords, begin: number, end: number): number {
  let last = begin;
  for (let row = begin; row < end; row += 1) {
    if (Number.isNaN(completedNs[row])) return -1;
    if ((completedNs[row] as number) > (completedNs[last] as number)) last = row;
  }
  return last;
}

interface FirstPass {
  /** Of the rows whose parts are known; `known` of them. */
  readonly latenciesNs: Float64Array;
  readonly known: number;
  readonly unknown: number;
  /** True where all rows of a part were due at one instant: Offline. */
  readonly isAllAtOnce: boolean;
  readonly overtold: SplitFindings['overtold'];
  readonly all: PartSums;
}

function firstPass(records: SampleRecords, rows: CountedRows): FirstPass {
  const { scheduledNs, query } = records;
  const latenciesNs = new Float64Array(records.rowCount);
  const all = new PartSums();
  const parts = new Float64Array(LATENCY_PARTS.length);
  let known = 0;
  let unknown = 0;
  let isOneQuery = true;
  let overtoldCount = 0;
  let leastNs = 0;
  rows((row) => {
    const latencyNs = readParts(records, row, parts);
    if (Number.isNaN(latencyNs)) {
      unknown += 1;
      return;
    }
    latenciesNs[known] = latencyNs;
    known += 1;
    all.add(parts, latencyNs);
    if (query[row] !== 0 || scheduledNs[row] !== 0) isOneQuery = false;
    const networkNs = parts[NETWORK] as number;
    if (isOvertold(networkNs, latencyNs)) {
      overtoldCount += 1;
      leastNs = Math.min(leastNs, networkNs);
    }
  });
  const overtold = { count: overtoldCount, leastNs };
  return { latenciesNs, known, unknown, isAllAtOnce: isOneQuery && known > 1, overtold, all };
}

function secondPass(
  records: SampleRecords,
  rows: CountedRows,
  first: FirstPass,
  bounds: { typicalNsMin: number; typicalNsMax: number; tailNsMin: number },
): SplitFindings {
  const typical = new PartSums();
  const tail = new PartSums();
  const nodes: NodeTimes[] = [];
  const parts = new Float64Array(LATENCY_PARTS.length);
  rows((row) => {
    const latencyNs = readParts(records, row, parts);
    if (Number.isNaN(latencyNs)) return;
    const { typicalNsMin, typicalNsMax, tailNsMin } = bounds;
    if (latencyNs >= typicalNsMin && latencyNs <= typicalNsMax) typical.add(parts, latencyNs);
    if (latencyNs >= tailNsMin) tail.add(parts, latencyNs);
    const index = records.node[row] as number;
    if (index < 0) return;
    nodes[index] ??= { index, sums: new PartSums(), tailCount: 0 };
    const node = nodes[index];
    node.sums.add(parts, latencyNs);
    if (latencyNs >= tailNsMin) node.tailCount += 1;
  });
  return {
    all: first.all,
    typical,
    tail,
    // Without the gaps of nodes that answered nothing.
    nodes: nodes.filter((node) => node !== undefined),
    unknownCount: first.unknown,
    isAllAtOnce: first.isAllAtOnce,
    isOfQueries: hasQueriesOfSeveral(records),
    overtold: first.overtold,
  };
}
