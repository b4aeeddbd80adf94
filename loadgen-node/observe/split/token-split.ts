import { tokenTimes } from '../../loadgen/recorder/recording.ts';
import type { SampleRecords } from '../records/sample-records.ts';
import { answersUnderWay } from './answers-under-way.ts';
import { LATENCY_PARTS } from './latency-parts.ts';
import {
  BEFORE_PROMPT,
  FIRST_TOKEN_PARTS,
  groupsOf,
  NETWORK,
  type SplitRows,
  type TokenSplit,
} from './split-sums.ts';

/** Places of the measured parts among those of the latency. */
const MEASURED = BEFORE_PROMPT.map((part) => LATENCY_PARTS.indexOf(part));

/**
 * Says where the time to the first token went, and how long the tokens behind it took: the two times that bounds of a token model are
 * about. By its whole latency a long answer would be among the slowest, however fast its tokens came.
 * @param pieces The rows of the records.
 * @returns Null where first tokens are not timed, or of no sample all parts are known.
 */
export function tokenSplit(
  records: SampleRecords,
  pieces: readonly SplitRows[],
): TokenSplit | null {
  const { rowCount, scheduledNs, firstTokenNs } = records;
  if (firstTokenNs === null) return null;
  const firstNs = new Float64Array(rowCount).fill(Number.NaN);
  const columns = FIRST_TOKEN_PARTS.map(() => new Float64Array(rowCount));
  const parts = new Float64Array(LATENCY_PARTS.length);
  for (const { begin, end, readParts } of pieces) {
    for (let row = begin; row < end; row += 1) {
      const ns = (firstTokenNs[row] as number) - (scheduledNs[row] as number);
      const isKnown = !Number.isNaN(readParts(row, parts)) && (parts[NETWORK] as number) >= 0;
      const measured = MEASURED.map((i) => parts[i] as number);
      const restNs = ns - measured.reduce((sum, one) => sum + one, 0);
      if (!isKnown || !(restNs >= 0)) continue;
      firstNs[row] = ns;
      for (const [i, column] of columns.entries()) column[row] = measured[i] ?? restNs;
    }
  }
  const found = meansByGroup(firstNs, columns);
  if (found === null) return null;
  const figures = FIRST_TOKEN_PARTS.map((part, i) => {
    const { mean: meanNs, typical: typicalNs, tail: tailNs } = found.means[i] as GroupMeans;
    return { part, meanNs, typicalNs, tailNs };
  });
  const growsMost = figures.reduce((most, one) =>
    one.tailNs - one.typicalNs > most.tailNs - most.typicalNs ? one : most,
  );
  return {
    sampleCount: found.count,
    parts: figures,
    growsMost: growsMost.part,
    perToken: timesPerToken(records),
  };
}

/** Times per output token, and how many answers of the node were under way meanwhile. */
function timesPerToken(records: SampleRecords): TokenSplit['perToken'] {
  const { rowCount, scheduledNs, firstTokenNs, completedNs, tokenCount } = records;
  const perTokenNs = new Float64Array(rowCount).fill(Number.NaN);
  const underWay = new Float64Array(rowCount);
  for (const { rows, answers } of answersUnderWay(records)) {
    for (const row of rows) {
      const tokens = tokenCount?.[row] ?? 0;
      const [firstNs, doneNs] = [firstTokenNs?.[row] as number, completedNs[row] as number];
      underWay[row] = answers.meanBetween(firstNs, doneNs);
      // A single token has no successor to time.
      if (tokens < 2 || Number.isNaN(underWay[row])) continue;
      const dueNs = scheduledNs[row] as number;
      perTokenNs[row] = tokenTimes(doneNs - dueNs, firstNs - dueNs, tokens).perOutputNs;
    }
  }
  const found = meansByGroup(perTokenNs, [perTokenNs, underWay]);
  if (found === null) return null;
  const [times, answers] = found.means as [GroupMeans, GroupMeans];
  return {
    ...{ typicalNs: times.typical, tailNs: times.tail },
    ...{ typicalAnswers: answers.typical, tailAnswers: answers.tail },
  };
}

/** Means of a column. */
interface GroupMeans {
  readonly mean: number;
  readonly typical: number;
  readonly tail: number;
}

/** Means over the rows that have a time, and over the typical and the slowest by it. @returns Null where none has one (NaN). */
function meansByGroup(timesNs: Float64Array, columns: readonly Float64Array[]) {
  const sorted = timesNs.filter((ns) => !Number.isNaN(ns)).sort();
  if (sorted.length === 0) return null;
  const { isTypical, isTail } = groupsOf(sorted);
  const meanOf = (column: Float64Array, isIn: (ns: number) => boolean): number => {
    let sum = 0;
    let count = 0;
    for (let row = 0; row < timesNs.length; row += 1) {
      if (!isIn(timesNs[row] as number)) continue;
      sum += column[row] as number;
      count += 1;
    }
    return sum / count;
  };
  const means = columns.map(
    (column): GroupMeans => ({
      mean: meanOf(column, (ns) => !Number.isNaN(ns)),
      typical: meanOf(column, isTypical),
      tail: meanOf(column, isTail),
    }),
  );
  return { count: sorted.length, means };
}
