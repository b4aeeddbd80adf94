import assert from 'node:assert';
import type { NodeLoad } from './router.ts';
import { type StreamNumber, WireIds } from './wire-ids.ts';

/** Most samples outstanding on one stream, whatever a node takes. */
const OUTSTANDING_MAX = 65_536;

/** Returned by {@link OutstandingTable.release} for an id that is not outstanding. */
export const NOT_OUTSTANDING = -1;

/**
 * The stream's number among all streams of the run, and the load that it shares with the node's
 * other streams.
 */
interface OutstandingPlace extends StreamNumber {
  readonly load: NodeLoad;
}

/**
 * Samples that are on the wire on one stream: wire id → LoadGen's response id. Counts them in the
 *   load of the node.
 *
 * All memory is taken in the constructor: issue and complete run once per sample inside the timed
 * region, so neither may allocate. A slot is reused, an id never ({@link WireIds}), so that a late
 * or repeated response for an old id cannot pass for the slot's next sample. A wire id does not
 * reveal the sample's index in the library.
 */
export class OutstandingTable {
  readonly #freeSlots: Int32Array;
  readonly #ids: WireIds;
  /**
   * By slot: how often it was used; the wire id that it has, or {@link NOT_OUTSTANDING}; response
   * id; last byte.
   */
  readonly #uses: Uint32Array;
  readonly #wireIds: Float64Array;
  readonly #responseIds: Float64Array;
  readonly #lastBytes: Float64Array;
  readonly slotCount: number;
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
    this.slotCount = slotCount;
    this.#ids = new WireIds(slotCount, { streamIndex, streamCount });
    this.#freeSlots = Int32Array.from({ length: slotCount }, (_, i) => slotCount - 1 - i);
    this.#uses = new Uint32Array(slotCount);
    this.#wireIds = new Float64Array(slotCount).fill(NOT_OUTSTANDING);
    this.#responseIds = new Float64Array(slotCount);
    this.#lastBytes = new Float64Array(slotCount);
    this.#freeCount = slotCount;
  }

  /** Samples that are on the wire. */
  get count(): number {
    return this.slotCount - this.#freeCount;
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
    const wireId = this.#ids.idOf(slot, this.#uses[slot] as number);
    this.#responseIds[slot] = responseId;
    this.#wireIds[slot] = wireId;
    this.#lastBytes[slot] = Number.POSITIVE_INFINITY;
    return wireId;
  }

  /** Response id of an outstanding wire id, or {@link NOT_OUTSTANDING}. The slot stays taken. */
  find(wireId: number): number {
    const slot = this.slotOf(wireId);
    return slot < 0 ? NOT_OUTSTANDING : (this.#responseIds[slot] as number);
  }

  /**
   * Frees the sample of a wire id and returns its response id, or {@link NOT_OUTSTANDING} when the
   * id is unknown or was answered before: the caller counts that as a contract error.
   */
  release(wireId: number): number {
    const slot = this.slotOf(wireId);
    if (slot < 0) return NOT_OUTSTANDING;
    const responseId = this.#responseIds[slot] as number;
    this.#free(slot);
    return responseId;
  }

  /** Response ids of all that is outstanding, in ascending order. */
  responseIds(): Float64Array {
    return this.#responseIds.filter((_, slot) => this.#isTaken(slot)).sort();
  }

  /** Frees everything and returns what {@link responseIds} was. */
  releaseAll(): Float64Array {
    const responseIds = this.responseIds();
    for (let slot = 0; slot < this.slotCount; slot += 1) {
      if (this.#isTaken(slot)) this.#free(slot);
    }
    return responseIds;
  }

  /**
   * Slot of an outstanding wire id, or -1: a number below {@link slotCount} that the sample has
   * until it is released.
   */
  slotOf(wireId: number): number {
    const slot = this.#ids.slotOf(wireId);
    return wireId >= 0 && this.#wireIds[slot] === wireId ? slot : -1;
  }

  /** Notes where the last byte of an outstanding sample lies among all bytes of its stream. */
  setLastByte(wireId: number, at: number): void {
    const slot = this.slotOf(wireId);
    if (slot >= 0) this.#lastBytes[slot] = at;
  }

  /** As it was set; infinite before. @param slot Of an outstanding sample. */
  lastByteOf(slot: number): number {
    return this.#lastBytes[slot] as number;
  }

  #isTaken(slot: number): boolean {
    return this.#wireIds[slot] !== NOT_OUTSTANDING;
  }

  #free(slot: number): void {
    this.#wireIds[slot] = NOT_OUTSTANDING;
    this.#uses[slot] = (this.#uses[slot] as number) + 1;
    this.#freeSlots[this.#freeCount] = slot;
    this.#freeCount += 1;
    this.#load.outstanding -= 1;
  }
}
