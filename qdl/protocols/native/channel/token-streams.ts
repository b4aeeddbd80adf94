import type { BorrowedBytes } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import type { WireCompleted } from '../../../../shared/wire/responses-codec.ts';

/** Places of the samples that are outstanding on a stream. */
interface Slots {
  readonly slotCount: number;
  /** Below {@link slotCount}; -1 for an id that is not outstanding. */
  slotOf(wireId: number): number;
}

/**
 * Holds the first token of a sample, those that a node tells one after the other, and their count against the response that has them
 * all. Keeps no token: their number, and a sum over their bytes (FNV-1a, 32 bits), which tells mistakes and no forgery. They are
 * passed on as they come.
 *
 * Hot path: memory is taken in the constructor.
 */
export class TokenStreams {
  readonly #slots: Slots;
  readonly #bytesOfEach: number | undefined;
  /** By slot: the sample that it is about; none: -1. */
  readonly #wireIds: Float64Array;
  /** By slot: bytes of the first token, and so of each; bytes told, and their sum. */
  readonly #tokenBytes: Uint32Array;
  readonly #toldBytes: Uint32Array;
  readonly #sums: Uint32Array;

  /** @param bytesOfEach Of a token in a response; undefined: not known but by the first one. */
  constructor(slots: Slots, bytesOfEach?: number) {
    this.#slots = slots;
    this.#bytesOfEach = bytesOfEach;
    this.#wireIds = new Float64Array(slots.slotCount).fill(-1);
    this.#tokenBytes = new Uint32Array(slots.slotCount);
    this.#toldBytes = new Uint32Array(slots.slotCount);
    this.#sums = new Uint32Array(slots.slotCount);
  }

  /**
   * The first token of a sample came; a second one has no effect.
   * @returns Why it cannot be, as {@link tell}.
   */
  begin(wireId: number, payload: BorrowedBytes): string | undefined {
    const slot = this.#slots.slotOf(wireId);
    if (slot < 0 || this.#wireIds[slot] === wireId) return undefined;
    if (payload.length === 0) return 'told a first token of no bytes';
    this.#wireIds[slot] = wireId;
    this.#tokenBytes[slot] = payload.length;
    this.#toldBytes[slot] = payload.length;
    this.#sums[slot] = sumOver(payload, payload.length);
    return undefined;
  }

  /** @returns How many tokens came; or why they cannot be, in words that follow the node's name. */
  tell(wireId: number, payload: BorrowedBytes): number | string {
    const slot = this.#slots.slotOf(wireId);
    if (this.#wireIds[slot] !== wireId) return 'told tokens of a sample before its first one';
    const count = payload.length / (this.#tokenBytes[slot] as number);
    if (count === 0 || !Number.isInteger(count)) {
      return `told ${payload.length} bytes of tokens, whose first one has ${this.#tokenBytes[slot]}`;
    }
    this.#toldBytes[slot] = (this.#toldBytes[slot] as number) + payload.length;
    this.#sums[slot] = sumOver(payload, payload.length, this.#sums[slot]);
    return count;
  }

  /**
   * Holds what was told of a sample against its end.
   * @param slot That of the sample before it was released.
   * @param response Decompressed.
   * @returns The difference in words that follow the node's name; undefined: there is none.
   */
  differenceFrom(
    slot: number,
    { id, tokenCount = 0 }: Pick<WireCompleted<BorrowedBytes>, 'id' | 'tokenCount'>,
    response: BorrowedBytes,
  ): string | undefined {
    const isTold = this.#wireIds[slot] === id;
    if (isTold) {
      const toldBytes = this.#toldBytes[slot] as number;
      const told = toldBytes / (this.#tokenBytes[slot] as number);
      if (told > tokenCount) return `told ${told} tokens of a response that has ${tokenCount}`;
      if (toldBytes > response.length) {
        return `told ${toldBytes} bytes of tokens of a response that has ${response.length}`;
      }
      if (sumOver(response, toldBytes) !== this.#sums[slot]) {
        return 'told other tokens than the response has';
      }
    }
    const each = this.#bytesOfEach ?? (isTold ? this.#tokenBytes[slot] : undefined);
    if (each === undefined || tokenCount * each === response.length) return undefined;
    return `counted ${tokenCount} tokens in a response of ${response.length} bytes, where each has ${each}`;
  }
}

const FNV_BASIS = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** Sum over the first bytes, going on from that of what lies before. */
function sumOver(bytes: BorrowedBytes, count: number, before: number = FNV_BASIS): number {
  let sum = before;
  for (let i = 0; i < count; i += 1) sum = Math.imul(sum ^ (bytes[i] as number), FNV_PRIME);
  return sum >>> 0;
}
