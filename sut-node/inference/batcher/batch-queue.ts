import assert from 'node:assert';
import type { WaitingLine, WaitingLines } from './waiting-lines.ts';
import type { WaitingSample } from './waiting-sample.ts';

/**
 * Samples that wait for a batch in one line, oldest first: a ring whose memory is taken once.
 *
 *      head                    head + count
 *        v                        v
 *   [ ][ a ][ b ][ c ]  ...  [ z ][ ][ ]      index = position & mask
 *
 * Hot path: push and shift allocate nothing. Full is a return value.
 */
export class BatchQueue implements WaitingLine, WaitingLines {
  readonly #ring: (WaitingSample | undefined)[];
  readonly #mask: number;
  readonly #capacity: number;
  #head = 0;
  #count = 0;

  /** @param capacity Most samples that wait at once, 1 or more. */
  constructor(capacity: number) {
    assert(Number.isInteger(capacity));
    assert(capacity >= 1);
    const size = 2 ** Math.ceil(Math.log2(capacity));
    this.#ring = new Array<WaitingSample | undefined>(size).fill(undefined);
    this.#mask = size - 1;
    this.#capacity = capacity;
  }

  get count(): number {
    return this.#count;
  }

  /** The sample that waits longest, if any. */
  get oldest(): WaitingSample | undefined {
    return this.#ring[this.#head & this.#mask];
  }

  get front(): WaitingLine | undefined {
    return this.#count === 0 ? undefined : this;
  }

  frontOf(count: number): WaitingLine | undefined {
    return this.#count < count ? undefined : this;
  }

  push(sample: WaitingSample): boolean {
    if (this.#count === this.#capacity) return false;
    this.#ring[(this.#head + this.#count) & this.#mask] = sample;
    this.#count += 1;
    return true;
  }

  shift(count: number): WaitingSample[] {
    assert(count <= this.#count);
    const taken = new Array<WaitingSample>(count);
    for (let i = 0; i < count; i += 1) {
      const index = (this.#head + i) & this.#mask;
      taken[i] = this.#ring[index] as WaitingSample; // Occupied: i < count.
      // Or the ring would keep the payload alive until the slot is written again.
      this.#ring[index] = undefined;
    }
    this.#head = (this.#head + count) & this.#mask;
    this.#count -= count;
    return taken;
  }

  removeAll(): WaitingSample[] {
    return this.shift(this.#count);
  }
}
