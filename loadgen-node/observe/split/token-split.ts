import { tokenTimes } from '../../loadgen/recorder/recording.ts';
import { byNode } from '../figures/figures-of-records.ts';
import type { SampleRecords } from '../records/sample-records.ts';
import { answersUnderWay } from './answers-under-way.ts';
import { LATENCY_PARTS } from './latency-parts.ts';
import {
  BEFORE_PROMPT,
  FIRST_TOKEN_PARTS,
  type FirstTokenPart,
  groupsOf,
  NETWORK,
  PartSums,
  type SplitRows,
  type SplitSums,
  sumRows,
  type TokenSplit,
} from './split-sums.ts';

/** Indices of the measured parts in the parts of the latency. */
const MEASURED = BEFORE_PROMPT.map((part) => LATENCY_PARTS.indexOf(part));

/** The split of a run with timed first tokens, and facts for its text. */
export interface TokenFindings {
  readonly split: TokenSplit;
  readonly sums: SplitSums<FirstTokenPart>;
  /** Samples with a split latency, but no split time to first token. */
  readonly leftOut: number;
}

/**
 * Reports where the time to first token went, and how long later tokens took: the two times that a
 * token model's bounds are about. Sorted by whole latency, a long response would count as slow
 * however fast its tokens came.
 * @param pieces The rows of the records.
 * @returns Null if first tokens are not timed, or if no sample has all parts.
 */
export function tokenSplit(
  records: SampleRecords,
  pieces: readonly SplitRows[],
  nodeNames: readonly string[],
): TokenFindings | null {
  const { rowCount, scheduledNs, firstTokenNs } = records;
  if (firstTokenNs === null) return null;
  const timeOf = (row: number): number =>
    (firstTokenNs[row] as number) - (scheduledNs[row] as number);
  const whole = new Float64Array(LATENCY_PARTS.length);
  let hasLatency = false;
  let leftOut = 0;
  let rows = pieces[0] as SplitRows;
  const { sums, timesNs } = sumRows(FIRST_TOKEN_PARTS, {
    rowCount,
    timeOf,
    groups: byNode(records, nodeNames),
    forEachRow: (visit) => {
      for (rows of pieces) for (let row = rows.begin; row < rows.end; row += 1) visit(row);
    },
    read: (row, parts) => {
      // The parts of the latency are known and possible.
      hasLatency = !Number.isNaN(rows.readParts(row, whole)) && (whole[NETWORK] as number) >= 0;
      return hasLatency && readFirst(whole, timeOf(row), parts);
    },
    leaveOut: () => {
      if (hasLatency) leftOut += 1;
    },
  });
  const sampleCount = sums.all.count;
  if (sampleCount === 0) return null;
  const split = { sampleCount, ...sums.figures(), perToken: timesPerToken(records, timesNs) };
  return { split, sums, leftOut };
}

/**
 * Fills the parts of the time to first token. @returns False if it never came, or came before its
 * measured parts.
 */
function readFirst(whole: Float64Array, firstNs: number, parts: Float64Array): boolean {
  let restNs = firstNs;
  for (let i = 0; i < MEASURED.length; i += 1) {
    const ns = whole[MEASURED[i] as number] as number;
    parts[i] = ns;
    restNs -= ns;
  }
  parts[MEASURED.length] = restNs;
  return restNs >= 0;
}

/**
 * Times per output token, and how many of the node's responses were in progress.
 * @param timesNs Overwritten; one value per row.
 */
function timesPerToken(records: SampleRecords, timesNs: Float64Array): TokenSplit['perToken'] {
  const { firstTokenNs, completedNs } = records;
  const perTokenNs = perTokenOf(records);
  const sorted = sortedTimes(timesNs, perTokenNs);
  if (sorted.length === 0) return null;
  const { isTypical, isTail } = groupsOf(sorted);
  // Number of responses in progress.
  const [typical, tail] = [new PartSums(1), new PartSums(1)];
  const meanCount = new Float64Array(1);
  for (const { rows, answers } of answersUnderWay(records)) {
    for (let i = 0; i < rows.length; i += 1) {
      const row = rows[i] as number;
      const ns = perTokenNs(row);
      if (!(isTypical(ns) || isTail(ns))) continue;
      meanCount[0] = answers.meanBetween(firstTokenNs?.[row] as number, completedNs[row] as number);
      if (isTypical(ns)) typical.add(meanCount, ns);
      if (isTail(ns)) tail.add(meanCount, ns);
    }
  }
  return {
    typicalNs: typical.meanLatencyNs,
    tailNs: tail.meanLatencyNs,
    typicalAnswers: typical.meanOf(0),
    tailAnswers: tail.meanOf(0),
  };
}

/** Sorted times of all rows that have one. @param timesNs Buffer; the result is a part of it. */
function sortedTimes(timesNs: Float64Array, timeOf: (row: number) => number): Float64Array {
  let count = 0;
  for (let row = 0; row < timesNs.length; row += 1) {
    const ns = timeOf(row);
    if (Number.isNaN(ns)) continue;
    timesNs[count] = ns;
    count += 1;
  }
  return timesNs.subarray(0, count).sort();
}

/** Returns a function for the time per output token of a row in ns; NaN if it has none. */
function perTokenOf({
  scheduledNs,
  firstTokenNs,
  completedNs,
  tokenCount,
}: SampleRecords): (row: number) => number {
  return (row) => {
    const dueNs = scheduledNs[row] as number;
    const latencyNs = (completedNs[row] as number) - dueNs;
    const firstNs = (firstTokenNs?.[row] as number) - dueNs;
    const tokens = tokenCount?.[row] ?? 0;
    // A single token has no next token to time.
    if (tokens < 2 || !(latencyNs > firstNs)) return Number.NaN;
    return tokenTimes(latencyNs, firstNs, tokens).tpot;
  };
}
