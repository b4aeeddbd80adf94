import type { Scenario } from '../../../shared/domain/scenario.ts';
import { type Lane, laneOf } from '../../loadgen/settings/lanes.ts';
import type { QueryBound } from '../../loadgen/settings/query-bounds.ts';
import { forEachStretch, type SampleRecords } from '../records/sample-records.ts';
import type { GrowingDistribution } from './distribution.ts';
import { ExactDistribution } from './exact-distribution.ts';
import type { RunFigures } from './figure-names.ts';
import { Figures, type PartEnd } from './figures.ts';

/** Settings of the run that its figures depend on. */
interface FigureContext {
  readonly scenario: Scenario;
  readonly lanes: readonly Lane[];
  /** Responses that broke the contract; records do not contain them. Default: 0. */
  readonly contractErrors?: number;
}

/** A group of rows: a lane, a SUT node, a step or a LoadGen host. */
interface RowGroup {
  readonly name: string;
  /** Bounds for its figures. Default: none. */
  readonly bounds?: readonly QueryBound[];
}

/** Rows of records, divided into groups. */
export interface RowGroups {
  readonly groups: readonly RowGroup[];
  /** Group number of a row; any other number means no group. */
  readonly of: (row: number) => number;
}

/** Groups by the LoadGen host that issued the sample. */
export function byHost({ hosts }: SampleRecords): RowGroups {
  if (hosts === null) return { groups: [{ name: '' }], of: () => 0 };
  const { names, ofRow } = hosts;
  return { groups: names.map((name) => ({ name })), of: (row) => ofRow[row] as number };
}

/** Groups by the SUT node that answered. @param names Node names by number. */
export function byNode({ node }: SampleRecords, names: readonly string[]): RowGroups {
  return { groups: names.map((name) => ({ name })), of: (row) => node[row] as number };
}

/** Groups by the lane of the sample. */
export function byLane({ sampleIndex }: SampleRecords, lanes: readonly Lane[]): RowGroups {
  if (lanes.length === 1) return { groups: lanes, of: () => 0 };
  return {
    groups: lanes,
    of: (row) => lanes.indexOf(laneOf(lanes, sampleIndex[row] as number)),
  };
}

/**
 * Figures of each group of rows, in group order; their sum covers all rows in any group. A query
 * with samples in several groups counts in each, with its samples there. Rates use the time of all
 * groups. Gaps between tokens are not rows and are omitted.
 * @param make Makes an empty distribution: exact, or in buckets.
 */
export function figuresBy<D extends GrowingDistribution<D>>(
  records: SampleRecords,
  { groups: asked, of }: RowGroups,
  make: () => D,
): Figures<D>[] {
  const groups = asked.map(({ bounds }) => new Figures(make, bounds));
  const { rowCount, part } = records;
  forEachStretch(part, { begin: 0, end: rowCount }, (begin, end) => {
    let queryCount = 0;
    forEachStretch(records.query, { begin, end }, (first, next) => {
      queryCount += 1;
      addQuery(records, { first, next }, groups, of);
    });
    const partEnd = endOf(records, { begin, end, query: queryCount - 1 });
    for (const figures of groups) figures.endPart(part[begin] as number, partEnd);
  });
  return groups;
}

/**
 * All figures of a run from its records alone, by LoadGen's rules (loadgen/results): latencies,
 * percentiles and rates equal those of the run's own summary bit for bit; for several parts or
 * hosts, those of all together.
 *
 * `completed_qps`: Server and Offline as in LoadGen; SingleStream: "QPS w/ loadgen overhead";
 * MultiStream: samples / time until the last query completed.
 */
export function figuresOf(
  records: SampleRecords,
  { scenario, lanes, contractErrors }: FigureContext,
): RunFigures {
  const make = () => new ExactDistribution(records.rowCount);
  const ofLanes = figuresBy(records, byLane(records, lanes), make);
  const figures = ofLanes.reduce((sum, ofLane) => sum.add(ofLane));
  if (records.tokenGaps !== null) figures.gaps(records.tokenGaps);
  return figures.close(scenario, contractErrors);
}

/** Adds one query's rows to the groups of its samples. */
function addQuery<D extends GrowingDistribution<D>>(
  records: SampleRecords,
  rows: { readonly first: number; readonly next: number },
  groups: readonly Figures<D>[],
  of: RowGroups['of'],
): void {
  const { first, next } = rows;
  const figures = groups[of(first)];
  let end = first + 1;
  while (end < next && groups[of(end)] === figures) end += 1;
  if (end < next) {
    for (const [i, group] of groups.entries())
      addShare(records, rows, group, (row) => of(row) === i);
    return;
  }
  figures?.issued(lagAt(records, first), next - first);
  for (let row = first; row < next; row += 1) addCompletion(records, row, figures);
}

/** Adds a query's samples in one of its groups. */
function addShare<D extends GrowingDistribution<D>>(
  records: SampleRecords,
  { first, next }: { readonly first: number; readonly next: number },
  figures: Figures<D>,
  isOwn: (row: number) => boolean,
): void {
  let sampleCount = 0;
  for (let row = first; row < next; row += 1) if (isOwn(row)) sampleCount += 1;
  if (sampleCount === 0) return;
  const query = (records.part[first] as number) * 2 ** 32 + (records.query[first] as number);
  figures.issuedInPart(query, lagAt(records, first), sampleCount);
  for (let row = first; row < next; row += 1) {
    if (isOwn(row)) addCompletion(records, row, figures);
  }
}

function lagAt({ issuedNs, scheduledNs }: SampleRecords, row: number): number {
  return (issuedNs[row] as number) - (scheduledNs[row] as number);
}

function addCompletion<D extends GrowingDistribution<D>>(
  { scheduledNs, completedNs, tokenCount, firstTokenNs, longestGapNs }: SampleRecords,
  row: number,
  figures: Figures<D> | undefined,
): void {
  const dueNs = scheduledNs[row] as number;
  const latencyNs = (completedNs[row] as number) - dueNs;
  if (figures === undefined || Number.isNaN(latencyNs)) return;
  figures.completed(latencyNs);
  if (tokenCount === null) return;
  const firstNs = firstTokenNs === null ? null : (firstTokenNs[row] as number) - dueNs;
  figures.tokens(tokenCount[row] as number, latencyNs, firstNs);
  const gapNs = longestGapNs?.[row] ?? Number.NaN;
  if (!Number.isNaN(gapNs)) figures.longestGap(gapNs);
}

/**
 * End of a part. Its final query is LoadGen's, number "issued queries - 1" (recorder:
 * `finalQuery`).
 */
function endOf(
  { query: queries, scheduledNs, issuedNs, completedNs }: SampleRecords,
  { begin, end, query }: { begin: number; end: number; query: number },
): PartEnd {
  let lastDoneNs = 0;
  for (let row = begin; row < end; row += 1) {
    const doneNs = completedNs[row] as number;
    if (doneNs > lastDoneNs) lastDoneNs = doneNs;
  }
  let row = end - 1;
  while (row > begin && (queries[row] as number) > query) row -= 1;
  if (queries[row] !== query) {
    return { scheduledNs: Number.NaN, issuedNs: 0, doneNs: lastDoneNs, lastDoneNs };
  }
  const final = { scheduledNs: scheduledNs[row] as number, issuedNs: issuedNs[row] as number };
  let doneNs = 0;
  for (; row >= begin && queries[row] === query; row -= 1) {
    doneNs = Math.max(doneNs, completedNs[row] as number);
  }
  return { ...final, doneNs: Number.isNaN(doneNs) ? lastDoneNs : doneNs, lastDoneNs };
}
