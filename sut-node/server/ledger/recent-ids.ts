import assert from 'node:assert';

const SLOTS_FIRST = 1024;

/**
 * Detects repeated numbers among at least the last `rememberedMin`, in bounded memory.
 *
 * Two generations of a hash table with open addressing; when the young one is full it becomes the
 * old one, and the previous old one is dropped. Hot path: `add` allocates only while a table grows.
 */
export class RecentIds {
  readonly #rememberedMin: number;
  #young: IdTable = new IdTable(SLOTS_FIRST);
  #old: IdTable = new IdTable(1);

  constructor(rememberedMin: number) {
    assert(rememberedMin >= 1);
    this.#rememberedMin = rememberedMin;
  }

  /** Remembers `id` (an integer, 0 or more); false if it is already remembered. */
  add(id: number): boolean {
    const hash = hashOf(id);
    if (this.#young.has(id, hash) || this.#old.has(id, hash)) return false;
    if (this.#young.count === this.#rememberedMin) {
      this.#old = this.#young;
      this.#young = new IdTable(SLOTS_FIRST);
    }
    this.#young = this.#young.withRoom();
    this.#young.add(id, hash);
    return true;
  }
}

/**
 * The finaliser of MurmurHash3 over both halves: ids may differ only in the high half, or by a
 * power of two.
 */
function hashOf(id: number): number {
  const high = Math.floor(id / 2 ** 32);
  let hash = (id >>> 0) ^ Math.imul(high, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** A set of ids in a typed array; a slot holds id + 1, or 0 if free. At most half full. */
class IdTable {
  readonly #slots: Float64Array;
  readonly #mask: number;
  count = 0;

  constructor(slotCount: number) {
    this.#slots = new Float64Array(slotCount);
    this.#mask = slotCount - 1;
  }

  has(id: number, hash: number): boolean {
    return this.#slots[this.#slotOf(id, hash)] === id + 1;
  }

  add(id: number, hash: number): void {
    this.#slots[this.#slotOf(id, hash)] = id + 1;
    this.count += 1;
  }

  /** This table, or one of twice the size with the same ids, so that one more fits. */
  withRoom(): IdTable {
    if (this.count * 2 < this.#slots.length) return this;
    const larger = new IdTable(this.#slots.length * 2);
    for (const value of this.#slots) {
      if (value !== 0) larger.add(value - 1, hashOf(value - 1));
    }
    return larger;
  }

  /** The slot of `id`, or the free slot for it. */
  #slotOf(id: number, hash: number): number {
    let slot = hash & this.#mask;
    for (;;) {
      const value = this.#slots[slot];
      if (value === 0 || value === id + 1) return slot;
      slot = (slot + 1) & this.#mask;
    }
  }
}
