import {
  countAbove,
  latencyStatistics,
  percentileOf,
} from '../../loadgen/results/latency-statistics.ts';
import type { GrowingDistribution } from './distribution.ts';

/** Stores all values, 8 bytes each; figures are exact, bit for bit those of LoadGen's results. */
export class ExactDistribution implements GrowingDistribution<ExactDistribution> {
  #values: Float64Array;
  #count = 0;
  #isSorted = true;

  /**
   * @param expectedCount A good estimate avoids copies while it grows; unused memory stays
   *   untouched.
   */
  constructor(expectedCount = 0) {
    this.#values = new Float64Array(Math.max(16, expectedCount));
  }

  get count(): number {
    return this.#count;
  }

  get minNs(): number {
    return this.sorted()[0] ?? Number.NaN;
  }

  /** Truncated to whole ns, as in LoadGen. */
  get meanNs(): number {
    return this.#count === 0 ? Number.NaN : latencyStatistics(this.sorted()).meanNs;
  }

  get maxNs(): number {
    return this.sorted().at(-1) ?? Number.NaN;
  }

  add(ns: number): void {
    if (this.#count === this.#values.length) this.#grow(this.#count * 2);
    this.#values[this.#count] = ns;
    this.#count += 1;
    this.#isSorted = false;
  }

  addAll(other: ExactDistribution): void {
    const count = this.#count + other.#count;
    if (count > this.#values.length) this.#grow(count);
    this.#values.set(other.#values.subarray(0, other.#count), this.#count);
    this.#count = count;
    this.#isSorted = false;
  }

  #grow(length: number): void {
    const larger = new Float64Array(length);
    larger.set(this.#values);
    this.#values = larger;
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

  /** The values, sorted in place. */
  sorted(): Float64Array {
    const values = this.#values.subarray(0, this.#count);
    if (!this.#isSorted) values.sort();
    this.#isSorted = true;
    return values;
  }
}
