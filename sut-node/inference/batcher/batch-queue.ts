import assert from 'node:assert';
import type { SampleOwner, WaitingSample } from './waiting-sample.ts';

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

/** Samples that may share a batch, oldest first. */
export interface WaitingLine {
  readonly count: number;
  readonly oldest: WaitingSample | undefined;
  /** Takes the `count` oldest samples out. There must be so many. */
  shift(count: number): WaitingSample[];
}

/** All samples that wait for a batch, in one line or in several that do not mix. */
export interface WaitingLines {
  readonly count: number;
  /** The line of the sample that waits longest of all. */
  readonly front: WaitingLine | undefined;
  /** Appends a sample; false when no more may wait. */
  push(sample: WaitingSample): boolean;
  /** Of the lines with `count` samples or more, the one whose oldest sample waits longest. */
  frontOf(count: number): WaitingLine | undefined;
  /** Takes everything out, oldest first. */
  removeAll(): WaitingSample[];
}

/** Drops what an owner that has gone away left there, keeping the order of the rest; returns how many. */
export function removeOwner(lines: WaitingLines, owner: SampleOwner): number {
  const all = lines.removeAll();
  for (const sample of all) {
    if (sample.owner !== owner) lines.push(sample);
  }
  return all.length - lines.count;
}
