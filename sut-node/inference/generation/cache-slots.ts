import {
  type DecoderLayout,
  ELEMENT_TYPES,
  type ElementType,
  type OutputTensor,
} from '../../model/model-facts.ts';

/** Elements of a cache; float16 as bits. */
type CacheElements = Float32Array | Uint16Array;

/**
 * A sequence: its keys and values are in a slot, or, until the next step, as the model returned
 * them for its prompt.
 */
export interface CachedRow {
  readonly at: number | readonly OutputTensor[];
  /** Tokens so far. */
  readonly length: number;
}

/** A sequence in a slot. */
export interface PlacedRow extends CachedRow {
  readonly at: number;
}

/** Tokens by which slots grow and shrink. */
const CAPACITY_STEP = 16;

/**
 * Unused tokens of the longest row above which slots shrink. Less would move them for nothing,
 * since a new row replaces one that leaves.
 */
const FILLING_MAX = 3 * CAPACITY_STEP;

/** Steps after which the slots are moved back to the start of their memory. */
const ROOM_TOKENS = 256;

/** Factor on the allocated memory; unwritten pages take none. */
const GROWTH = 2;

/**
 * Keys and values of rows, in memory that is used again: per tensor [slots, heads, capacity, width
 * of a head], as the model takes it. A row ends where its slot ends; what lies before it is zeros,
 * or of rows that were there before, which the mask hides.
 *
 * A step costs a copy of what it adds, and of nothing else: all slots move on by a token together,
 * by the place in memory where the first one begins. So the new last token of each head lies where
 * the first one of the head behind it was, which is filling.
 *
 * ```
 *  before   |  . a b c | . . d e |          . filling, a to e: keys or values; 2 heads, capacity 4
 *  after    .  | a b c C | . d e E |        C and E: of the new tokens
 * ```
 */
export class CacheSlots {
  readonly #heads: number;
  readonly #width: number;
  readonly #elements: ElementType;
  #tensors: CacheElements[];
  /** Tokens of a slot, padding included; one more than any row has. */
  #capacity = 0;
  /** Slots in use: one per row. */
  #count = 0;
  /** Tokens by which the slots have moved forward. */
  #moved = 0;

  /** @param tensorCount Number of key and value tensors over all layers. */
  constructor({ heads, headWidth, cacheType }: DecoderLayout, tensorCount: number) {
    this.#heads = heads;
    this.#width = headWidth;
    this.#elements = ELEMENT_TYPES.get(cacheType) as ElementType; // A key of the table.
    this.#tensors = Array.from({ length: tensorCount }, () => this.#allocate(0));
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** The slots per tensor, contiguous. */
  get tensors(): readonly CacheElements[] {
    const begin = this.#moved * this.#width;
    const length = this.#chunkBegin(this.#count * this.#heads) - begin;
    return this.#tensors.map((tensor) => tensor.subarray(begin, begin + length));
  }

  /**
   * Places rows in the first slots, with room for a token, and drops all others. A repeated row is
   * copied.
   */
  arrange(rows: readonly CachedRow[]): readonly PlacedRow[] {
    this.#fit(rows);
    const taken = new Set<number>();
    const stays = rows.map(({ at }) => {
      const is = typeof at === 'number' && at < rows.length && !taken.has(at);
      if (is) taken.add(at);
      return is;
    });
    let free = 0;
    const placed = rows.map((row, i) => {
      if (stays[i] === true) return row as PlacedRow;
      while (taken.has(free)) free += 1;
      const at = free;
      free += 1;
      this.#place(row, at);
      return { at, length: row.length };
    });
    this.#count = rows.length;
    return placed;
  }

  /** Adds a token to each slot. @param outputs Key and value tensors, with the new token last. */
  add(outputs: readonly OutputTensor[]): void {
    const width = this.#width;
    const chunks = this.#count * this.#heads;
    for (const [i, target] of this.#tensors.entries()) {
      const { data, dims } = outputs[i] as OutputTensor;
      const tokens = dims[2] as number; // It has 4 axes.
      for (let chunk = 0; chunk < chunks; chunk += 1) {
        let from = ((chunk + 1) * tokens - 1) * width;
        const end = from + width;
        let to = this.#chunkBegin(chunk + 1);
        // Faster than a view of both for so few elements.
        while (from < end) target[to++] = data[from++] as number;
      }
    }
    this.#moved += 1;
  }

  /** Start of a head in a slot; the heads of a slot, and the slots, are contiguous. */
  #chunkBegin(chunk: number, capacity: number = this.#capacity): number {
    return (this.#moved + chunk * capacity) * this.#width;
  }

  #place({ at, length }: CachedRow, slot: number): void {
    for (const [i, target] of this.#tensors.entries()) {
      for (let head = 0; head < this.#heads; head += 1) {
        const begin = this.#chunkBegin(slot * this.#heads + head);
        const end = begin + this.#capacity * this.#width;
        const own = end - length * this.#width;
        if (typeof at === 'number') {
          const from = this.#chunkBegin(at * this.#heads + head + 1);
          target.copyWithin(own, from - length * this.#width, from);
        } else {
          // Both have the type of the caches.
          const source = (at[i] as OutputTensor).data as CacheElements;
          const from = head * length * this.#width;
          target.set(source.subarray(from, from + length * this.#width), own);
        }
        // A NaN would pass the mask.
        target.fill(0, begin, own);
      }
    }
  }

  /** Makes enough slots of sufficient length. */
  #fit(rows: readonly CachedRow[]): void {
    const { capacity: before } = this;
    const lengths = new Map(rows.map(({ at, length }) => [at, length]));
    const needed = 1 + Math.max(...lengths.values());
    const isFitting = needed <= before && before - needed <= FILLING_MAX;
    const capacity = isFitting ? before : Math.ceil(needed / CAPACITY_STEP) * CAPACITY_STEP;
    this.#grow(Math.max(rows.length, this.#count) * this.#heads * Math.max(capacity, before));
    if (this.#moved === ROOM_TOKENS) {
      for (const tensor of this.#tensors) {
        tensor.copyWithin(0, this.#chunkBegin(0), this.#chunkBegin(this.#count * this.#heads));
      }
      this.#moved = 0;
    }
    if (capacity === before) return;
    const slots = [...lengths.keys()].filter((at) => typeof at === 'number').sort((a, b) => a - b);
    const chunks = slots.flatMap((slot) =>
      Array.from({ length: this.#heads }, (_, head) => [slot, slot * this.#heads + head] as const),
    );
    // When growing, go from last to first: no target overwrites an unmoved source.
    if (capacity > before) chunks.reverse();
    for (const [slot, chunk] of chunks) {
      const content = (lengths.get(slot) as number) * this.#width;
      const from = this.#chunkBegin(chunk + 1);
      const end = this.#chunkBegin(chunk + 1, capacity);
      for (const tensor of this.#tensors) {
        tensor.copyWithin(end - content, from - content, from);
        tensor.fill(0, this.#chunkBegin(chunk, capacity), end - content);
      }
    }
    this.#capacity = capacity;
  }

  /** @param tokens Total tokens of all heads of all slots. */
  #grow(tokens: number): void {
    const needed = (tokens + ROOM_TOKENS) * this.#width;
    const { length: before = 0 } = this.#tensors[0] ?? {};
    if (needed <= before) return;
    const used = this.#chunkBegin(this.#count * this.#heads);
    this.#tensors = this.#tensors.map((tensor) => {
      const larger = this.#allocate(Math.ceil(needed * GROWTH));
      larger.set(tensor.subarray(0, used));
      return larger;
    });
  }

  #allocate(count: number): CacheElements {
    const memory = new ArrayBuffer(count * this.#elements.bytes);
    return this.#elements.view(memory, 0, count) as CacheElements;
  }
}
