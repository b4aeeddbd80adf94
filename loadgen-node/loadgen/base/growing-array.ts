/**
 * An array filled beyond this share is returned as it is: copying it would cost more than its
 * unused rest.
 */
const NEARLY_FULL = 0.9;

/** A typed array that doubles while it is filled. For work before the clock starts. */
export class GrowingArray<T extends Uint32Array | Float64Array> {
  readonly #make: (length: number) => T;
  #values: T;
  #length = 0;

  /** @param expectedLength A slightly high estimate avoids copies while the array grows. */
  constructor(make: (length: number) => T, expectedLength = 0) {
    this.#make = make;
    this.#values = make(Math.max(1024, expectedLength));
  }

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = this.#make(this.#length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length] = value;
    this.#length += 1;
  }

  /** The values; the array may share a somewhat larger buffer. */
  finish(): T {
    const isNearlyFull = this.#length >= this.#values.length * NEARLY_FULL;
    return this.#values[isNearlyFull ? 'subarray' : 'slice'](0, this.#length) as T;
  }
}

export const growingUint32 = (expectedLength?: number): GrowingArray<Uint32Array> =>
  new GrowingArray((length) => new Uint32Array(length), expectedLength);

export const growingFloat64 = (expectedLength?: number): GrowingArray<Float64Array> =>
  new GrowingArray((length) => new Float64Array(length), expectedLength);
