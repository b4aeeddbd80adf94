import { randomFillSync } from 'node:crypto';

/** Bits of an id: below 2^52 a quotient never rounds up to the next integer. */
const ID_BITS = 52;

/**
 * Rounds of the permutation: four with random functions are enough (Luby and Rackoff, 1988), but
 * these functions only mix.
 */
const ROUNDS = 8;

/** The stream's number among all streams of the run. */
export interface StreamNumber {
  readonly streamIndex: number;
  readonly streamCount: number;
}

/**
 * Wire ids of samples on one stream. None repeats in a run, and ids already seen do not reveal the
 * next one. So a response with the right id proves that the node received its sample.
 *
 * An id holds slot and stream in clear. Its upper bits hold the number of uses of the slot,
 * permuted by a Feistel network with a key of the stream and the slot.
 */
export class WireIds {
  readonly #slotCount: number;
  readonly #streamIndex: number;
  readonly #streamCount: number;
  /** Range of each half of the permuted number; a power of two. */
  readonly #half: number;
  /** Two words per round. */
  readonly #keys: Uint32Array;

  /** @param keys Random; tests may fix them. */
  constructor(
    slotCount: number,
    { streamIndex, streamCount }: StreamNumber,
    keys: Uint32Array = randomFillSync(new Uint32Array(2 * ROUNDS)),
  ) {
    this.#slotCount = slotCount;
    this.#streamIndex = streamIndex;
    this.#streamCount = streamCount;
    const bits = Math.floor(ID_BITS - Math.log2(slotCount * streamCount));
    this.#half = 2 ** Math.floor(bits / 2);
    this.#keys = keys;
  }

  /**
   * How often a slot can be used before its ids repeat: 2^36 times on one stream of 65,536 slots,
   * 2^30 on one of 64.
   */
  get usesMax(): number {
    return this.#half * this.#half;
  }

  /** Id of a sample. Hot path. @param use Number of earlier uses of the slot. */
  idOf(slot: number, use: number): number {
    const keys = this.#keys;
    const half = this.#half;
    const mask = half - 1;
    const tweak = Math.imul(slot + 1, 0x9e3779b1);
    let left = Math.floor(use / half) & mask;
    let right = use & mask;
    for (let i = 0; i < 2 * ROUNDS; i += 2) {
      let mixed = Math.imul(right ^ (keys[i] as number), 0x85ebca6b);
      mixed = Math.imul((mixed ^ (mixed >>> 15)) + tweak, 0xc2b2ae35);
      mixed = Math.imul(mixed ^ (mixed >>> 13) ^ (keys[i + 1] as number), 0x27d4eb2f);
      const next = left ^ ((mixed ^ (mixed >>> 16)) & mask);
      left = right;
      right = next;
    }
    const place = (left * half + right) * this.#slotCount + slot;
    return place * this.#streamCount + this.#streamIndex;
  }

  /** Slot of an id; not a whole number from 0 on if the id is invalid. Hot path. */
  slotOf(id: number): number {
    const place = Math.floor(id / this.#streamCount);
    return place - Math.floor(place / this.#slotCount) * this.#slotCount;
  }
}
