import assert from 'node:assert';
import type { Query } from '../../shared/domain/system-under-test.ts';

const INITIAL_CAPACITY = 1024; // A power of two: positions are masked.

/**
 * Issued queries that are not, or only partly, sent, in issue order.
 *
 * A ring of numbers: it holds ids, never bytes, so an overload of any length costs 36 B per waiting
 * query. It grows by doubling; issue and dispatch make no other allocation.
 */
export class WaitingQueries {
  #capacity = INITIAL_CAPACITY;
  #queryIds = new Float64Array(INITIAL_CAPACITY);
  #firstResponseIds = new Float64Array(INITIAL_CAPACITY);
  #sampleOffsets = new Float64Array(INITIAL_CAPACITY);
  #sampleCounts = new Uint32Array(INITIAL_CAPACITY);
  #strides = new Uint32Array(INITIAL_CAPACITY);
  #sampleIndices: (Uint32Array | undefined)[] = new Array<undefined>(INITIAL_CAPACITY).fill(
    undefined,
  );
  #head = 0;
  #size = 0;
  /** Samples of the first query that were sent. */
  #sentOfHead = 0;

  /** Number of waiting queries. */
  get size(): number {
    return this.#size;
  }

  push(query: Query): void {
    if (this.#size === this.#capacity) this.#grow();
    const at = (this.#head + this.#size) & (this.#capacity - 1);
    this.#queryIds[at] = query.id;
    this.#firstResponseIds[at] = query.firstResponseId;
    this.#sampleOffsets[at] = query.sampleOffset;
    this.#sampleCounts[at] = query.sampleCount;
    this.#strides[at] = query.responseIdStride;
    this.#sampleIndices[at] = query.sampleIndices;
    this.#size += 1;
  }

  /** Number of the first waiting query. */
  get headQueryId(): number {
    return this.#queryIds[this.#head] as number;
  }

  /** Samples of the whole first query, sent ones included. */
  get headSampleCount(): number {
    return this.#sampleCounts[this.#head] as number;
  }

  /** Samples of the first query that were not sent. */
  get headRestCount(): number {
    return this.headSampleCount - this.#sentOfHead;
  }

  /** Index in the library of the i-th unsent sample of the first query. */
  headSampleIndex(i: number): number {
    const offset = (this.#sampleOffsets[this.#head] as number) + this.#distanceOf(i);
    const index = this.#sampleIndices[this.#head]?.[offset];
    assert(index !== undefined);
    return index;
  }

  /** Response id of the i-th unsent sample of the first query. */
  headResponseId(i: number): number {
    return (this.#firstResponseIds[this.#head] as number) + this.#distanceOf(i);
  }

  /** Distance between the response ids of neighbours in the first query. */
  get headResponseIdStride(): number {
    return this.#strides[this.#head] as number;
  }

  /** Moves on by `count` samples of the first query; drops the query when none is left. */
  advance(count: number): void {
    assert(count <= this.headRestCount);
    this.#sentOfHead += count;
    if (this.#sentOfHead < this.headSampleCount) return;
    this.#sampleIndices[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#capacity - 1);
    this.#size -= 1;
    this.#sentOfHead = 0;
  }

  /** Drops all waiting queries and calls back with each response id. */
  drop(onResponseId: (responseId: number) => void): void {
    while (this.#size > 0) {
      const rest = this.headRestCount;
      const first = this.headResponseId(0);
      const stride = this.#strides[this.#head] as number;
      // Advance before the callbacks: one of them may read this queue.
      this.advance(rest);
      for (let i = 0; i < rest; i += 1) onResponseId(first + i * stride);
    }
  }

  /** Distance of the i-th unsent sample from the first sample of its query. */
  #distanceOf(i: number): number {
    return (this.#sentOfHead + i) * (this.#strides[this.#head] as number);
  }

  #grow(): void {
    const old = this.#capacity;
    this.#queryIds = doubled(this.#queryIds, this.#head);
    this.#firstResponseIds = doubled(this.#firstResponseIds, this.#head);
    this.#sampleOffsets = doubled(this.#sampleOffsets, this.#head);
    this.#sampleCounts = doubled(this.#sampleCounts, this.#head);
    this.#strides = doubled(this.#strides, this.#head);
    const indices = this.#sampleIndices;
    this.#sampleIndices = [
      ...indices.slice(this.#head),
      ...indices.slice(0, this.#head),
      ...new Array<undefined>(old).fill(undefined),
    ];
    this.#head = 0;
    this.#capacity = old * 2;
  }
}

/** Copies the ring `old`, from `head` on, to the start of an array of twice its length. */
function doubled<T extends Float64Array | Uint32Array>(old: T, head: number): T {
  const bigger = new (old.constructor as new (length: number) => T)(old.length * 2);
  bigger.set(old.subarray(head), 0);
  bigger.set(old.subarray(0, head), old.length - head);
  return bigger;
}
