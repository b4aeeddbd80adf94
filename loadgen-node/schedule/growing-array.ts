/** A typed array that doubles while it is filled. For work before the clock starts. */
export class GrowingUint32 {
  #values = new Uint32Array(1024);
  #length = 0;

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

  /** The values, in an array of just their length. */
  finish(): Uint32Array {
    return this.#values.slice(0, this.#length);
  }
}

/** As {@link GrowingUint32}, for doubles. */
export class GrowingFloat64 {
  #values = new Float64Array(1024);
  #length = 0;

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Float64Array(this.#length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length] = value;
    this.#length += 1;
  }

  /** The values, in an array of just their length. */
  finish(): Float64Array {
    return this.#values.slice(0, this.#length);
  }
}
