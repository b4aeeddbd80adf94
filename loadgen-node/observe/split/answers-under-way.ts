import type { SampleRecords } from '../records/sample-records.ts';

/**
 * Responses of one SUT node in progress at the same time, as seen by LoadGen: from a response's
 * first token to its last. Both times are by LoadGen's clock.
 */
export class AnswersUnderWay {
  readonly #begins: SortedInstants;
  readonly #ends: SortedInstants;

  /** Sorts both arrays. */
  constructor(firstNs: Float64Array, completedNs: Float64Array) {
    this.#begins = new SortedInstants(firstNs);
    this.#ends = new SortedInstants(completedNs);
  }

  /** Mean number in progress between two times; NaN if they are equal. */
  meanBetween(fromNs: number, toNs: number): number {
    if (!(toNs > fromNs)) return Number.NaN;
    const begunNs = this.#begins.passedUntil(toNs) - this.#begins.passedUntil(fromNs);
    const endedNs = this.#ends.passedUntil(toNs) - this.#ends.passedUntil(fromNs);
    return (begunNs - endedNs) / (toNs - fromNs);
  }

  /**
   * Adds to `byCountNs[n]` the time during which n responses were in progress, from the first begin
   * to the last end.
   */
  addTimes(byCountNs: number[]): void {
    const [begins, ends] = [this.#begins.sortedNs, this.#ends.sortedNs];
    let nowNs = begins[0] ?? 0;
    let begun = 0;
    for (let ended = 0; ended < ends.length; ) {
      const beginNs = begins[begun] ?? Number.POSITIVE_INFINITY;
      const endNs = ends[ended] as number;
      const nextNs = Math.min(beginNs, endNs);
      // If one response begins when another ends, both are in progress for zero time.
      if (nextNs > nowNs) addTo(byCountNs, begun - ended, nextNs - nowNs);
      nowNs = nextNs;
      if (beginNs <= endNs) begun += 1;
      else ended += 1;
    }
  }
}

function addTo(byCountNs: number[], count: number, ns: number): void {
  while (byCountNs.length <= count) byCountNs.push(0);
  byCountNs[count] = (byCountNs[count] as number) + ns;
}

/** Sorted times, with their prefix sums. */
class SortedInstants {
  readonly sortedNs: Float64Array;
  readonly #sumsNs: Float64Array;

  constructor(instantsNs: Float64Array) {
    this.sortedNs = instantsNs.sort();
    this.#sumsNs = new Float64Array(instantsNs.length + 1);
    for (let i = 0; i < instantsNs.length; i += 1) {
      this.#sumsNs[i + 1] = (this.#sumsNs[i] as number) + (instantsNs[i] as number);
    }
  }

  /** Sum, over the times before `ns`, of the time passed since each. */
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

/**
 * Responses in progress of each node in each part of a run, with their rows; nothing if first
 * tokens are not timed. One at a time: they take 32 bytes per row.
 */
export function* answersUnderWay({
  rowCount,
  part,
  node,
  completedNs,
  firstTokenNs,
}: SampleRecords): Generator<{ readonly rows: Int32Array; readonly answers: AnswersUnderWay }> {
  if (firstTokenNs === null) return;
  const isWhole = (row: number): boolean =>
    (completedNs[row] as number) >= (firstTokenNs[row] as number);
  // A node's number is -1 or more.
  const keyOf = (row: number): number => (part[row] as number) * 2 ** 16 + (node[row] as number);
  const counts = new Map<number, number>();
  for (let row = 0; row < rowCount; row += 1) {
    if (isWhole(row)) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1);
  }
  const rowsOf = new Map(Array.from(counts, ([key, n]) => [key, new Int32Array(n)] as const));
  for (let row = rowCount - 1; row >= 0; row -= 1) {
    if (!isWhole(row)) continue;
    const left = (counts.get(keyOf(row)) as number) - 1;
    counts.set(keyOf(row), left);
    (rowsOf.get(keyOf(row)) as Int32Array)[left] = row;
  }
  for (const rows of rowsOf.values()) {
    const answers = new AnswersUnderWay(valuesOf(firstTokenNs, rows), valuesOf(completedNs, rows));
    yield { rows, answers };
  }
}

function valuesOf(column: Float64Array, rows: Int32Array): Float64Array {
  const values = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i += 1) values[i] = column[rows[i] as number] as number;
  return values;
}
