import assert from 'node:assert';
import type { SampleOwner, WaitingSample } from './sut-model.ts';

/** No slot. */
const NONE = -1;

/** Settings of a {@link GroupedQueue}. */
interface GroupedQueueOptions {
  /** Most samples waiting at once, over all groups; 1 or more. */
  readonly capacity: number;
  /** Smallest `count` passed to `frontOf`, 1 or more. */
  readonly lineMin: number;
  /** Group of a sample: samples of one group may share a batch. Called once per sample. */
  readonly groupOf: (sample: WaitingSample) => number;
}

/**
 * Samples that wait in one line per group; lines come and go with their samples. Every slot stands
 * in two lists: all samples by age, and its line.
 *
 *   by age a1 ⇄ b1 ⇄ a2 ⇄ a3 ⇄ c1 front = line of a1
 *   line a a1 → a2 → a3
 *   line b b1 slots, not samples, are linked: numbers in typed arrays,
 *   line c c1 whose memory is taken once
 *
 * Push, shift and front cost the same however many groups there are. frontOf looks at lines of
 * `lineMin` samples or more, of which there are never more than capacity / lineMin.
 */
export class GroupedQueue implements WaitingLines {
  readonly #options: GroupedQueueOptions;
  readonly #samples: (WaitingSample | undefined)[];
  readonly #older: Int32Array;
  readonly #newer: Int32Array;
  /** Next slot of the same line, or of the free list. */
  readonly #behind: Int32Array;
  /** Line of the slot's sample. */
  readonly #lineOf: (GroupLine | undefined)[];
  /** Increasing number of arrival: the smaller, the older. */
  readonly #number: Float64Array;
  readonly #lines = new Map<number, GroupLine>();
  /** Lines of `lineMin` samples or more. */
  readonly #longLines = new Set<GroupLine>();
  #oldest = NONE;
  #newest = NONE;
  #free = 0;
  #count = 0;
  #nextNumber = 0;

  constructor(options: GroupedQueueOptions) {
    const { capacity, lineMin } = options;
    assert(Number.isInteger(capacity));
    assert(capacity >= 1);
    assert(lineMin >= 1);
    this.#options = options;
    this.#samples = new Array<WaitingSample | undefined>(capacity).fill(undefined);
    this.#lineOf = new Array<GroupLine | undefined>(capacity).fill(undefined);
    this.#older = new Int32Array(capacity).fill(NONE);
    this.#newer = new Int32Array(capacity).fill(NONE);
    this.#behind = Int32Array.from({ length: capacity }, (_, slot) =>
      slot === capacity - 1 ? NONE : slot + 1,
    );
    this.#number = new Float64Array(capacity);
  }

  get count(): number {
    return this.#count;
  }

  get front(): WaitingLine | undefined {
    return this.#lineOf[this.#oldest];
  }

  frontOf(count: number): WaitingLine | undefined {
    const front = this.#lineOf[this.#oldest];
    if (front === undefined || front.count >= count) return front;
    let first: GroupLine | undefined;
    for (const line of this.#longLines) {
      if (line.count < count) continue;
      if (first === undefined || this.#numberOf(line) < this.#numberOf(first)) first = line;
    }
    return first;
  }

  push(sample: WaitingSample): boolean {
    const slot = this.#free;
    if (slot === NONE) return false;
    // In range: slots are below the capacity, here and below.
    this.#free = this.#behind[slot] as number;
    const line = this.#lineFor(this.#options.groupOf(sample));
    this.#samples[slot] = sample;
    this.#lineOf[slot] = line;
    this.#number[slot] = this.#nextNumber;
    this.#nextNumber += 1;
    this.#older[slot] = this.#newest;
    this.#newer[slot] = NONE;
    if (this.#newest === NONE) this.#oldest = slot;
    else this.#newer[this.#newest] = slot;
    this.#newest = slot;
    this.#behind[slot] = NONE;
    if (line.count === 0) line.head = slot;
    else this.#behind[line.tail] = slot;
    line.tail = slot;
    line.count += 1;
    if (line.count === this.#options.lineMin) this.#longLines.add(line);
    this.#count += 1;
    return true;
  }

  removeAll(): WaitingSample[] {
    const all = new Array<WaitingSample>(this.#count);
    for (let i = 0; i < all.length; i += 1) {
      // Its head is the oldest of all.
      all[i] = this.#takeHead(this.#lineOf[this.#oldest] as GroupLine);
    }
    return all;
  }

  /** @internal For the lines only. */
  sampleAt(slot: number): WaitingSample | undefined {
    return this.#samples[slot];
  }

  /** @internal For the lines only. */
  shift(line: GroupLine, count: number): WaitingSample[] {
    assert(count <= line.count);
    const taken = new Array<WaitingSample>(count);
    for (let i = 0; i < count; i += 1) taken[i] = this.#takeHead(line);
    return taken;
  }

  #numberOf(line: GroupLine): number {
    return this.#number[line.head] as number;
  }

  #lineFor(group: number): GroupLine {
    const found = this.#lines.get(group);
    if (found !== undefined) return found;
    const line = new GroupLine(this, group);
    this.#lines.set(group, line);
    return line;
  }

  #takeHead(line: GroupLine): WaitingSample {
    const slot = line.head;
    const sample = this.#samples[slot] as WaitingSample; // Occupied: the line is not empty.
    line.head = this.#behind[slot] as number;
    line.count -= 1;
    if (line.count < this.#options.lineMin) this.#longLines.delete(line);
    if (line.count === 0) this.#lines.delete(line.group);
    const older = this.#older[slot] as number;
    const newer = this.#newer[slot] as number;
    if (older === NONE) this.#oldest = newer;
    else this.#newer[older] = newer;
    if (newer === NONE) this.#newest = older;
    else this.#older[newer] = older;
    // Otherwise the slot would keep payload and line alive until it is reused.
    this.#samples[slot] = undefined;
    this.#lineOf[slot] = undefined;
    this.#behind[slot] = this.#free;
    this.#free = slot;
    this.#count -= 1;
    return sample;
  }
}

/** The samples of one group. */
class GroupLine implements WaitingLine {
  readonly group: number;
  readonly #queue: GroupedQueue;
  head: number = NONE;
  tail: number = NONE;
  count = 0;

  constructor(queue: GroupedQueue, group: number) {
    this.#queue = queue;
    this.group = group;
  }

  get oldest(): WaitingSample | undefined {
    return this.#queue.sampleAt(this.head);
  }

  shift(count: number): WaitingSample[] {
    return this.#queue.shift(this, count);
  }
}

/**
 * Samples that wait for a batch in one line, oldest first: a ring whose memory is taken once.
 *
 *      head                    head + count
 *        v                        v
 *   [ ][ a ][ b ][ c ]  ...  [ z ][ ][ ]      index = position & mask
 *
 * Hot path: push and shift do not allocate. Full is a return value.
 */
export class BatchQueue implements WaitingLine, WaitingLines {
  readonly #ring: (WaitingSample | undefined)[];
  readonly #mask: number;
  readonly #capacity: number;
  #head = 0;
  #count = 0;

  /** @param capacity Most samples waiting at once, 1 or more. */
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
      // Otherwise the ring would keep the payload alive until the slot is reused.
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
  /** Removes the `count` oldest samples. Requires that many. */
  shift(count: number): WaitingSample[];
}

/** All samples waiting for a batch, in one line or in several that do not mix. */
export interface WaitingLines {
  readonly count: number;
  /** The line of the oldest sample of all. */
  readonly front: WaitingLine | undefined;
  /** Appends a sample; false if the limit is reached. */
  push(sample: WaitingSample): boolean;
  /** Of the lines with `count` samples or more, the one with the oldest sample. */
  frontOf(count: number): WaitingLine | undefined;
  /** Removes all samples, oldest first. */
  removeAll(): WaitingSample[];
}

/** Drops the samples of a lost owner and keeps the order of the rest; returns their number. */
export function removeOwner(lines: WaitingLines, owner: SampleOwner): number {
  const all = lines.removeAll();
  for (const sample of all) {
    if (sample.owner !== owner) lines.push(sample);
  }
  return all.length - lines.count;
}
