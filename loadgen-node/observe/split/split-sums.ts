import { z } from 'zod';
import type { DeepReadonly } from '../../../shared/base/deep-readonly.ts';
import { SERVICE_TIMES } from '../../loadgen/recorder/service-times.ts';
import { clockFactor } from '../../loadgen/recorder/told-times.ts';
import type { RowGroups } from '../figures/figures-of-records.ts';
import { forEachStretch, type SampleRecords } from '../records/sample-records.ts';
import { LATENCY_PARTS, type LatencyPart } from './latency-parts.ts';

const ns = z.number().describe('ns');

/** Measured parts of the time to first token. */
export const BEFORE_PROMPT = [
  'dispatch',
  'send',
  'receive',
  'queue',
  'batch',
  'preprocess',
] as const satisfies readonly LatencyPart[];
/** All parts, which sum to it: `prompt` is the remainder. */
export const FIRST_TOKEN_PARTS = [...BEFORE_PROMPT, 'prompt'] as const;

/** Name of a part of the time to first token. */
export type FirstTokenPart = (typeof FIRST_TOKEN_PARTS)[number];

// Means over all samples, over those around the median of the split time (40th to 60th percentile),
// and over the slowest (1 %, at least one).
const means = { meanNs: ns, typicalNs: ns, tailNs: ns };

/** The two times of a token model. */
const TOKEN_SPLIT = z.strictObject({
  sampleCount: z.number(),
  parts: z.array(z.strictObject({ part: z.enum(FIRST_TOKEN_PARTS), ...means })),
  growsMost: z.enum(FIRST_TOKEN_PARTS),
  perToken: z
    .strictObject({
      typicalNs: ns,
      tailNs: ns,
      typicalAnswers: z.number().describe('answers of the node under way meanwhile, in the mean'),
      tailAnswers: z.number(),
    })
    .nullable()
    .describe('time per output token after the first; null: no answer has two'),
});

export type TokenSplit = DeepReadonly<z.infer<typeof TOKEN_SPLIT>>;

/** Where the time of a run went. */
export const LATENCY_SPLIT = z.strictObject({
  // Samples with all parts known and possible; others are in none of the figures. MultiStream: the
  // last sample of each query.
  sampleCount: z.number(),
  overtoldCount: z
    .number()
    .optional()
    .describe('samples that are left out: their node reported more time than passed; absent: 0'),
  // Part of the whole latency; never negative.
  parts: z.array(z.strictObject({ part: z.enum(LATENCY_PARTS), ...means })),
  // Growth from typical to tail.
  growsMost: z.enum(LATENCY_PARTS),
  tokens: TOKEN_SPLIT.optional().describe(
    'where first tokens are timed: by the time to the first token',
  ),
  // The limit of the run, in whole sentences.
  text: z.string(),
});

export type LatencySplit = DeepReadonly<z.infer<typeof LATENCY_SPLIT>>;

/** Means of a part over many samples. */
export interface PartFigures<P extends string = LatencyPart> {
  readonly part: P;
  readonly meanNs: number;
  readonly typicalNs: number;
  readonly tailNs: number;
}

/** Share of the samples that count as the tail. */
const TAIL_SHARE = 0.01;

/** Limits of the typical and of the slowest times. @param sorted At least one value. */
export function groupsOf(sorted: Float64Array) {
  const at = (index: number): number =>
    sorted[Math.min(Math.max(index, 0), sorted.length - 1)] as number; // Never empty.
  const typicalNsMin = at(Math.floor(0.4 * sorted.length));
  const typicalNsMax = at(Math.ceil(0.6 * sorted.length) - 1);
  const tailNsMin = at(sorted.length - Math.ceil(TAIL_SHARE * sorted.length));
  return {
    isTypical: (ns: number): boolean => ns >= typicalNsMin && ns <= typicalNsMax,
    isTail: (ns: number): boolean => ns >= tailNsMin,
  };
}

/** Index of the remainder among the parts. */
export const NETWORK = LATENCY_PARTS.indexOf('network');
/**
 * Index of the first duration reported by a SUT node; the others follow, in the order of
 * `SERVICE_TIMES`.
 */
const FIRST_OF_SERVICE = NETWORK + 1;
/** Index of the decompression on LoadGen's side, after the node's durations. */
const DECODE = LATENCY_PARTS.indexOf('decode');

/**
 * Computes the remainder if all other parts are known. If a node's durations exceed the passed time
 * only within the clock tolerance, they are scaled to fit, and `network` is 0.
 * @param parts In ns, in the order of {@link LATENCY_PARTS}; sets `network` so that the sum is
 *   the latency. It is negative only if the node reported more time than passed: such a sample's
 *   parts are not used.
 * @returns The latency; NaN if it, or a part, is unknown.
 */
function closeParts(parts: Float64Array, latencyNs: number): number {
  let toldNs = 0;
  for (let i = FIRST_OF_SERVICE; i < DECODE; i += 1) toldNs += parts[i] as number;
  let ownNs = parts[DECODE] as number;
  for (let i = 0; i < NETWORK; i += 1) ownNs += parts[i] as number;
  const passedNs = latencyNs - ownNs;
  parts[NETWORK] = passedNs - toldNs;
  if (Number.isNaN(passedNs - toldNs)) return Number.NaN;
  if (toldNs > passedNs) fitTimes(parts, clockFactor(toldNs, passedNs));
  return latencyNs;
}

function fitTimes(parts: Float64Array, factor: number): void {
  if (Number.isNaN(factor)) return;
  for (let i = FIRST_OF_SERVICE; i < DECODE; i += 1) parts[i] = (parts[i] as number) * factor;
  parts[NETWORK] = 0;
}

/** Sums of latency and parts over a group of samples. */
export class PartSums {
  count = 0;
  #latencyNs = 0;
  readonly #partsNs: Float64Array;

  constructor(partCount: number) {
    this.#partsNs = new Float64Array(partCount);
  }

  add(partsNs: Float64Array, latencyNs: number): void {
    this.count += 1;
    this.#latencyNs += latencyNs;
    const sums = this.#partsNs;
    for (let i = 0; i < sums.length; i += 1) sums[i] = (sums[i] as number) + (partsNs[i] as number);
  }

  /** Mean of a part by its index, in ns; NaN without samples. */
  meanOf(index: number): number {
    return (this.#partsNs[index] as number) / this.count;
  }

  get meanLatencyNs(): number {
    return this.#latencyNs / this.count;
  }
}

/** Times of the samples of one SUT node. */
export interface NodeTimes {
  /** Number of the node. */
  readonly index: number;
  readonly sums: PartSums;
  /** Number of its samples among the slowest of the run. */
  tailCount: number;
}

/** Sums over all samples, over typical and slowest ones, and per SUT node. */
export class SplitSums<P extends string> {
  readonly parts: readonly P[];
  readonly all: PartSums;
  readonly tail: PartSums;
  readonly #typical: PartSums;
  /** Times by node number; undefined for nodes that did not answer. */
  readonly #nodes: (NodeTimes | undefined)[] = [];

  constructor(parts: readonly P[]) {
    this.parts = parts;
    this.all = new PartSums(parts.length);
    this.tail = new PartSums(parts.length);
    this.#typical = new PartSums(parts.length);
  }

  get nodes(): readonly NodeTimes[] {
    return this.#nodes.filter((node) => node !== undefined);
  }

  /** @param partsNs In the order of the parts. @param node -1 if unknown. */
  add(partsNs: Float64Array, latencyNs: number, node: number): void {
    this.all.add(partsNs, latencyNs);
    if (node < 0) return;
    this.#nodes[node] ??= { index: node, sums: new PartSums(this.parts.length), tailCount: 0 };
    this.#nodes[node].sums.add(partsNs, latencyNs);
  }

  /** Adds a sample a second time, to the typical or the slowest group if it belongs there. */
  addToGroups(
    partsNs: Float64Array,
    latencyNs: number,
    node: number,
    { isTypical, isTail }: ReturnType<typeof groupsOf>,
  ): void {
    if (isTypical(latencyNs)) this.#typical.add(partsNs, latencyNs);
    if (!isTail(latencyNs)) return;
    this.tail.add(partsNs, latencyNs);
    const times = this.#nodes[node];
    if (times !== undefined) times.tailCount += 1;
  }

  /** Figures of each part, and the part that grows most from typical to tail. */
  figures(): { readonly parts: PartFigures<P>[]; readonly growsMost: P } {
    const parts = this.parts.map((part, i) => ({
      part,
      meanNs: this.all.meanOf(i),
      typicalNs: this.#typical.meanOf(i),
      tailNs: this.tail.meanOf(i),
    }));
    const growsMost = parts.reduce((most, one) =>
      one.tailNs - one.typicalNs > most.tailNs - most.typicalNs ? one : most,
    );
    return { parts, growsMost: growsMost.part };
  }
}

/** Rows to split. */
interface RowsToSplit {
  /** Rows of all records. */
  readonly rowCount: number;
  readonly groups: RowGroups;
  /** Calls back with each counted row, in order. */
  readonly forEachRow: (visit: (row: number) => void) => void;
  /** The time to split, in ns. */
  readonly timeOf: (row: number) => number;
  /** Fills the parts of that time. @returns False if they are unknown or impossible. */
  readonly read: (row: number, partsNs: Float64Array) => boolean;
  /** Called once for each row that could not be read. */
  readonly leaveOut: () => void;
}

/**
 * Sums the parts of all rows, then again those of the typical and the slowest ones.
 * @returns The sums, and an array with one place per row for reuse.
 */
export function sumRows<P extends string>(
  parts: readonly P[],
  { rowCount, groups: { of }, forEachRow, timeOf, read, leaveOut }: RowsToSplit,
): { readonly sums: SplitSums<P>; readonly timesNs: Float64Array } {
  const sums = new SplitSums(parts);
  const timesNs = new Float64Array(rowCount);
  const partsNs = new Float64Array(parts.length);
  forEachRow((row) => {
    if (!read(row, partsNs)) {
      leaveOut();
      return;
    }
    const ns = timeOf(row);
    timesNs[sums.all.count] = ns;
    sums.add(partsNs, ns, of(row));
  });
  if (sums.all.count === 0) return { sums, timesNs };
  const times = groupsOf(timesNs.subarray(0, sums.all.count).sort());
  forEachRow((row) => {
    const ns = timeOf(row);
    // Four fifths of the rows end here.
    if (!(times.isTypical(ns) || times.isTail(ns)) || !read(row, partsNs)) return;
    sums.addToGroups(partsNs, ns, of(row), times);
  });
  return { sums, timesNs };
}

/** Findings of a split, besides its table. */
export interface SplitFindings {
  readonly sums: SplitSums<LatencyPart>;
  /** Samples that were lost, or whose node reported no times. */
  readonly unknownCount: number;
  /** True in Offline. */
  readonly isAllAtOnce: boolean;
  /** True in MultiStream: a query counts once, by its last sample. */
  readonly isOfQueries: boolean;
  /**
   * Samples left out because their node reported more time than passed, and the most negative
   * remainder in ns.
   */
  readonly overtold: { readonly count: number; readonly leastNs: number };
}

/** Access to the samples of one part, without a copy. */
export interface SplitRows {
  readonly rowCount: number;
  readonly queryCount: number;
  /** Calls `visit` with the rows [begin, end) of each query. */
  readonly forEachQuery: (visit: (begin: number, end: number) => void) => void;
  readonly latencyNs: (row: number) => number;
  /** Writes the parts of a row's latency, in ns. */
  readonly readParts: (row: number, parts: Float64Array) => number;
  /** Rows [begin, end) of the records. */
  readonly begin: number;
  readonly end: number;
}

/** The rows of each part of a run. */
export function rowsOfRecords(records: SampleRecords): SplitRows[] {
  const { rowCount, part } = records;
  const pieces: SplitRows[] = [];
  forEachStretch(part, { begin: 0, end: rowCount }, (begin, end) => {
    pieces.push(rowsOfPart(records, begin, end));
  });
  return pieces;
}

function rowsOfPart(records: SampleRecords, partBegin: number, partEnd: number): SplitRows {
  const { query, scheduledNs, issuedNs, handedNs, completedNs, decodeNs } = records;
  const service = SERVICE_TIMES.map((column) => records.service[column]);
  /** Rows [begin, end) of each issued query, in order. */
  const forEachQuery = (visit: (begin: number, end: number) => void): void =>
    forEachStretch(query, { begin: partBegin, end: partEnd }, visit);
  let queryCount = 0;
  forEachQuery(() => {
    queryCount += 1;
  });
  /**
   * Completed - scheduled in ns; NaN if the sample was lost. The largest of a query belongs to its
   * last sample.
   */
  const latencyNs = (row: number): number =>
    (completedNs[row] as number) - (scheduledNs[row] as number);
  /**
   * Splits the latency of a row. Points in time are by LoadGen's clock, durations by the SUT
   * node's: no clocks are compared. A SUT without a transport has no `send`. Fills `parts` as in
   * {@link closeParts}, in ns, in the order of `LATENCY_PARTS`; returns the latency, NaN if the
   * sample was lost or a part is unknown.
   */
  const readParts = (row: number, parts: Float64Array): number => {
    const handed = handedNs[row] as number;
    const issued = issuedNs[row] as number;
    parts[0] = issued - (scheduledNs[row] as number);
    parts[1] = Number.isNaN(handed) ? 0 : handed - issued;
    for (let i = 0; i < service.length; i += 1) {
      parts[FIRST_OF_SERVICE + i] = (service[i] as Float32Array)[row] as number;
    }
    parts[DECODE] = decodeNs[row] as number;
    return closeParts(parts, latencyNs(row));
  };
  const rowCount = partEnd - partBegin;
  const range = { begin: partBegin, end: partEnd };
  return { ...range, rowCount, queryCount, forEachQuery, latencyNs, readParts };
}
