import assert from 'node:assert';
import type { NodeLoad } from './router.ts';

/** Most samples outstanding on one stream, whatever a node takes. */
const OUTSTANDING_MAX = 65_536;

/** Returned by {@link OutstandingTable.release} for an id that is not outstanding. */
export const NOT_OUTSTANDING = -1;

/** The stream's number among all streams of the run, and the load that it shares with the node's other streams. */
interface OutstandingPlace {
  readonly streamIndex: number;
  readonly streamCount: number;
  readonly load: NodeLoad;
}

/**
 * Samples that are on the wire on one stream: wire id → LoadGen's response id. Counts them in the load of the node.
 *
 * All memory is taken in the constructor: issue and complete run once per sample inside the timed
 * region, so neither may allocate. A wire id is slot + generation * slotCount, spread over the streams
 * of a run: a slot is reused, an id never, so that a late or repeated response for an old id cannot
 * pass for the slot's next sample. Wire ids say nothing about the sample's index in the library.
 */
export class OutstandingTable {
  readonly #freeSlots: Int32Array;
  readonly #generations: Uint32Array;
  /** Response id per slot; {@link NOT_OUTSTANDING} in a free one. */
  readonly #responseIds: Float64Array;
  readonly #slotCount: number;
  readonly #streamIndex: number;
  readonly #streamCount: number;
  readonly #load: NodeLoad;
  #freeCount: number;

  /**
   * @param slotCount Most samples outstanding on the stream, 1 or more.
   */
  constructor(
    { streamIndex, streamCount, load }: OutstandingPlace,
    slotCount: number = OUTSTANDING_MAX,
  ) {
    assert(Number.isInteger(slotCount));
    assert(slotCount >= 1);
    assert(streamIndex >= 0);
    assert(streamIndex < streamCount);
    this.#load = load;
    this.#slotCount = slotCount;
    this.#streamIndex = streamIndex;
    this.#streamCount = streamCount;
    this.#freeSlots = Int32Array.from({ length: slotCount }, (_, i) => slotCount - 1 - i);
    this.#generations = new Uint32Array(slotCount);
    this.#responseIds = new Float64Array(slotCount).fill(NOT_OUTSTANDING);
    this.#freeCount = slotCount;
  }

  /** Samples that are on the wire. */
  get count(): number {
    return this.#slotCount - this.#freeCount;
  }

  /** True when so many more are within the limits of node and stream. Hot path. */
  canTake(sampleCount: number): boolean {
    return this.#load.canTake(sampleCount) && this.#freeCount >= sampleCount;
  }

  /** Takes a wire id (below 2^53) for a sample. After {@link canTake} only. */
  acquire(responseId: number): number {
    assert(this.#freeCount > 0);
    this.#freeCount -= 1;
    this.#load.outstanding += 1;
    const slot = this.#freeSlots[this.#freeCount] as number; // In range: freeCount < length.
    this.#responseIds[slot] = responseId;
    const local = slot + (this.#generations[slot] as number) * this.#slotCount;
    return local * this.#streamCount + this.#streamIndex;
  }

  /** Response id of an outstanding wire id, or {@link NOT_OUTSTANDING}. Frees nothing. */
  find(wireId: number): number {
    const slot = this.#slotOf(wireId);
    return slot < 0 ? NOT_OUTSTANDING : (this.#responseIds[slot] as number);
  }

  /**
   * Frees the sample of a wire id and returns its response id, or {@link NOT_OUTSTANDING} when the id
   * is unknown or was answered before: the caller counts that as a contract error.
   */
  release(wireId: number): number {
    const slot = this.#slotOf(wireId);
    if (slot < 0) return NOT_OUTSTANDING;
    const responseId = this.#responseIds[slot] as number;
    this.#free(slot);
    return responseId;
  }

  /** Frees everything and returns the response ids that were outstanding, in ascending order. */
  releaseAll(): Float64Array {
    const responseIds = this.#responseIds.filter((id) => id !== NOT_OUTSTANDING).sort();
    for (let slot = 0; slot < this.#slotCount; slot += 1) {
      if (this.#responseIds[slot] !== NOT_OUTSTANDING) this.#free(slot);
    }
    return responseIds;
  }

  /** Slot of an outstanding wire id, or -1. */
  #slotOf(wireId: number): number {
    if (!Number.isSafeInteger(wireId) || wireId % this.#streamCount !== this.#streamIndex)
      return -1;
    const local = (wireId - this.#streamIndex) / this.#streamCount;
    const slot = local % this.#slotCount;
    const generation = (local - slot) / this.#slotCount;
    const isOutstanding =
      this.#responseIds[slot] !== NOT_OUTSTANDING && this.#generations[slot] === generation;
    return isOutstanding ? slot : -1;
  }

  #free(slot: number): void {
    this.#responseIds[slot] = NOT_OUTSTANDING;
    this.#generations[slot] = (this.#generations[slot] as number) + 1;
    this.#freeSlots[this.#freeCount] = slot;
    this.#freeCount += 1;
    this.#load.outstanding -= 1;
  }
}
