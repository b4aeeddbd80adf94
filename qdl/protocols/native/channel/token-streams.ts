import type { BorrowedBytes } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import type { WireCompleted } from '../../../../shared/wire/responses-codec.ts';

/** Slots of the outstanding samples of a stream. */
interface Slots {
  readonly slotCount: number;
  /** Slot of an id, below {@link slotCount}; -1 if the id is not outstanding. */
  slotOf(wireId: number): number;
}

/**
 * Compares a sample's first token, the tokens reported one after the other and their count with the
 * final response. Stores no token, only their number and a hash of their bytes (FNV-1a, 32 bits):
 * it finds mistakes, not forgery. Tokens are passed on as they come.
 *
 * Hot path: memory is allocated in the constructor.
 */
export class TokenStreams {
  readonly #slots: Slots;
  readonly #bytesOfEach: number | undefined;
  /** By slot: wire id of its sample, or -1. */
  readonly #wireIds: Float64Array;
  /** By slot: bytes of the first token, hence of each token; bytes reported; their hash. */
  readonly #tokenBytes: Uint32Array;
  readonly #toldBytes: Uint32Array;
  readonly #sums: Uint32Array;

  /** @param bytesOfEach Bytes of one token in a response; undefined: taken from the first token. */
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
   * @returns Why it is impossible, as {@link tell}.
   */
  begin(wireId: number, payload: BorrowedBytes): string | undefined {
    const slot = this.#slots.slotOf(wireId);
    if (slot < 0 || this.#wireIds[slot] === wireId) return undefined;
    if (payload.length === 0) return 'reported an empty first token';
    this.#wireIds[slot] = wireId;
    this.#tokenBytes[slot] = payload.length;
    this.#toldBytes[slot] = payload.length;
    this.#sums[slot] = sumOver(payload, payload.length);
    return undefined;
  }

  /**
   * @returns Number of tokens received; or why they are impossible, as text to follow the node's
   * name.
   */
  tell(wireId: number, payload: BorrowedBytes): number | string {
    const slot = this.#slots.slotOf(wireId);
    if (this.#wireIds[slot] !== wireId) return 'reported tokens of a sample before its first token';
    const count = payload.length / (this.#tokenBytes[slot] as number);
    if (count === 0 || !Number.isInteger(count)) {
      return `reported ${payload.length} bytes of tokens, not a positive multiple of the first token's ${this.#tokenBytes[slot]}`;
    }
    this.#toldBytes[slot] = (this.#toldBytes[slot] as number) + payload.length;
    this.#sums[slot] = sumOver(payload, payload.length, this.#sums[slot]);
    return count;
  }

  /**
   * Compares the reported tokens of a sample with its response.
   * @param slot Slot of the sample before its release.
   * @param response Decompressed.
   * @returns The difference as text to follow the node's name; undefined: none.
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
      if (told > tokenCount)
        return `reported ${told} tokens one by one for a response of ${tokenCount}`;
      if (toldBytes > response.length) {
        return `reported ${toldBytes} bytes of tokens one by one for a response of ${response.length} bytes`;
      }
      if (sumOver(response, toldBytes) !== this.#sums[slot]) {
        return 'reported tokens that differ from the response';
      }
    }
    const each = this.#bytesOfEach ?? (isTold ? this.#tokenBytes[slot] : undefined);
    if (each === undefined || tokenCount * each === response.length) return undefined;
    return `counted ${tokenCount} tokens in a response of ${response.length} bytes, with ${each} bytes per token`;
  }
}

const FNV_BASIS = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a hash of the first `count` bytes, continuing from an earlier hash. */
function sumOver(bytes: BorrowedBytes, count: number, before: number = FNV_BASIS): number {
  let sum = before;
  for (let i = 0; i < count; i += 1) sum = Math.imul(sum ^ (bytes[i] as number), FNV_PRIME);
  return sum >>> 0;
}
