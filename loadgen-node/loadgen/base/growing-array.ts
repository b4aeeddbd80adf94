/** Share of an array from which on what is left over costs less than a copy. */
const NEARLY_FULL = 0.9;

/** A typed array that doubles while it is filled. For work before the clock starts. */
export class GrowingUint32 {
  #values: Uint32Array;
  #length = 0;

  /** @param expectedLength A good guess, somewhat too large, saves the copies of growing. */
  constructor(expectedLength = 0) {
    this.#values = new Uint32Array(Math.max(1024, expectedLength));
  }

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Uint32Array(this.#length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length] = value;
    this.#length += 1;
  }

  /** The values; the array may share a somewhat larger buffer. */
  finish(): Uint32Array {
    const isNearlyFull = this.#length >= this.#values.length * NEARLY_FULL;
    return isNearlyFull
      ? this.#values.subarray(0, this.#length)
      : this.#values.slice(0, this.#length);
  }
}

/** As {@link GrowingUint32}, for doubles. */
export class GrowingFloat64 {
  #values: Float64Array;
  #length = 0;

  /** @param expectedLength A good guess, somewhat too large, saves the copies of growing. */
  constructor(expectedLength = 0) {
    this.#values = new Float64Array(Math.max(1024, expectedLength));
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Float64Array(this.#length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length] = value;
    this.#length += 1;
  }

  /** The values; the array may share a somewhat larger buffer. */
  finish(): Float64Array {
    const isNearlyFull = this.#length >= this.#values.length * NEARLY_FULL;
    return isNearlyFull
      ? this.#values.subarray(0, this.#length)
      : this.#values.slice(0, this.#length);
  }
}
