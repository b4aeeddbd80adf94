import {
  countAbove,
  latencyStatistics,
  percentileOf,
} from '../../loadgen/results/latency-statistics.ts';

/** Lengths of time as figures read them. All are NaN where there are no values. */
export interface Distribution {
  readonly count: number;
  readonly minNs: number;
  readonly meanNs: number;
  readonly maxNs: number;
  /** @param percentile 0 to 1; the rank is LoadGen's (`rankOf`). */
  percentileNs(percentile: number): number;
}

/** A distribution that takes values. */
export interface GrowingDistribution extends Distribution {
  add(ns: number): void;
  clear(): void;
}

/** All values, 8 bytes each; figures are exact, to the bit those of LoadGen's results. */
export class ExactDistribution implements GrowingDistribution {
  #values: Float64Array;
  #count = 0;
  #isSorted = true;

  /** @param expectedCount A good guess saves the copies of growing; memory that is not filled stays untouched. */
  constructor(expectedCount = 0) {
    this.#values = new Float64Array(Math.max(16, expectedCount));
  }

  get count(): number {
    return this.#count;
  }

  get minNs(): number {
    return this.sorted()[0] ?? Number.NaN;
  }

  /** Truncated to whole ns, as LoadGen does. */
  get meanNs(): number {
    return this.#count === 0 ? Number.NaN : latencyStatistics(this.sorted()).meanNs;
  }

  get maxNs(): number {
    return this.sorted().at(-1) ?? Number.NaN;
  }

  add(ns: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Float64Array(this.#count * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#count] = ns;
    this.#count += 1;
    this.#isSorted = false;
  }

  clear(): void {
    this.#count = 0;
  }

  percentileNs(percentile: number): number {
    return this.#count === 0 ? Number.NaN : percentileOf(this.sorted(), percentile);
  }

  /** Number of values above a limit. */
  countAbove(limitNs: number): number {
    return countAbove(this.sorted(), limitNs);
  }

  /** The values, sorted, where they lie. */
  sorted(): Float64Array {
    const values = this.#values.subarray(0, this.#count);
    if (!this.#isSorted) values.sort();
    this.#isSorted = true;
    return values;
  }
}
