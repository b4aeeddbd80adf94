import type { SampleRecords } from '../records/sample-records.ts';

/**
 * The answers of one SUT node that are under way at once, as LoadGen saw them: from the instant of an answer's first token to that of
 * its last. Both are LoadGen's own clock.
 */
export class AnswersUnderWay {
  readonly #begins: SortedInstants;
  readonly #ends: SortedInstants;

  constructor(firstNs: Float64Array, completedNs: Float64Array) {
    this.#begins = new SortedInstants(firstNs);
    this.#ends = new SortedInstants(completedNs);
  }

  /** Mean number between two instants; NaN where no time is between them. */
  meanBetween(fromNs: number, toNs: number): number {
    const untilNs = (ns: number): number =>
      this.#begins.passedUntil(ns) - this.#ends.passedUntil(ns);
    return toNs > fromNs ? (untilNs(toNs) - untilNs(fromNs)) / (toNs - fromNs) : Number.NaN;
  }

  /** Adds how long each number of them was under way, by that number, from the first begin to the last end. */
  addTimes(byCountNs: number[]): void {
    const [begins, ends] = [this.#begins.sortedNs, this.#ends.sortedNs];
    let nowNs = begins[0] ?? 0;
    let begun = 0;
    for (let ended = 0; ended < ends.length; ) {
      const beginNs = begins[begun] ?? Number.POSITIVE_INFINITY;
      const endNs = ends[ended] as number;
      const nextNs = Math.min(beginNs, endNs);
      const count = begun - ended;
      byCountNs[count] = (byCountNs[count] ?? 0) + nextNs - nowNs;
      nowNs = nextNs;
      if (beginNs <= endNs) begun += 1;
      else ended += 1;
    }
  }
}

/** Instants in order, with their sums. */
class SortedInstants {
  readonly sortedNs: Float64Array;
  readonly #sumsNs: Float64Array;

  constructor(instantsNs: Float64Array) {
    this.sortedNs = instantsNs.slice().sort();
    this.#sumsNs = new Float64Array(this.sortedNs.length + 1);
    this.sortedNs.forEach((ns, i) => {
      this.#sumsNs[i + 1] = (this.#sumsNs[i] as number) + ns;
    });
  }

  /** Sum of the times that have passed at `ns` since each instant before it. */
  passedUntil(ns: number): number {
    let low = 0;
    let high = this.sortedNs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.sortedNs[middle] as number) < ns) low = middle + 1;
      else high = middle;
    }
    return low * ns - (this.#sumsNs[low] as number);
  }
}

/** Answers under way of each node in each part of a run, with the rows that they are of; none where first tokens are not timed. */
export function answersUnderWay({
  rowCount,
  part,
  node,
  completedNs,
  firstTokenNs,
}: SampleRecords): { readonly rows: readonly number[]; readonly answers: AnswersUnderWay }[] {
  if (firstTokenNs === null) return [];
  const rowsOf = new Map<number, number[]>();
  for (let row = 0; row < rowCount; row += 1) {
    if (!((completedNs[row] as number) >= (firstTokenNs[row] as number))) continue;
    // A node's number is -1 or more.
    const key = (part[row] as number) * 2 ** 16 + (node[row] as number);
    const rows = rowsOf.get(key);
    if (rows === undefined) rowsOf.set(key, [row]);
    else rows.push(row);
  }
  const at = (column: Float64Array, rows: readonly number[]): Float64Array =>
    Float64Array.from(rows, (row) => column[row] as number);
  return [...rowsOf.values()].map((rows) => ({
    rows,
    answers: new AnswersUnderWay(at(firstTokenNs, rows), at(completedNs, rows)),
  }));
}
