/** No bytes at all. */
export const NO_BYTES: Uint8Array = new Uint8Array(0);

/**
 * Bytes of a buffer that its owner (a transport, a pool) will write over: they are valid during the call that hands
 * them on. Each Uint8Array is such bytes; the reverse does not compile, so keeping them takes a copy
 * ({@link copyOf}), or copies them into memory of his own by `set`. A part of them is borrowed as well.
 *
 * An interface that hands them on has a property for it (`readonly onBytes: (chunk: BorrowedBytes) => void`), no method:
 * TypeScript lets a method ask for more than its interface gives.
 */
export interface BorrowedBytes {
  readonly length: number;
  readonly [index: number]: number;
  subarray(begin?: number, end?: number): BorrowedBytes;
}

/** A copy of `[begin, end)` to keep, in memory of its own. */
export function copyOf(bytes: BorrowedBytes, begin = 0, end: number = bytes.length): Uint8Array {
  return new Uint8Array(bytes.subarray(begin, end));
}

/**
 * The same memory for code that takes only a Uint8Array, and has read it when it returns, or when its promise
 * resolves and the owner waits for that. Do not keep the result.
 */
export function readInPlace(bytes: BorrowedBytes): Uint8Array {
  return bytes as Uint8Array; // Only Uint8Array has this interface.
}

/** Text of `[begin, end)`. */
export function borrowedText(
  bytes: BorrowedBytes,
  encoding: 'utf8' | 'latin1' = 'utf8',
  begin = 0,
  end: number = bytes.length,
): string {
  const { buffer, byteOffset } = readInPlace(bytes);
  return Buffer.from(buffer, byteOffset + begin, end - begin).toString(encoding);
}

/** An unsigned number of 16 bits, most significant byte first. */
export function uint16At(bytes: BorrowedBytes, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

/** An unsigned number of 32 bits, most significant byte first. */
export function uint32At(bytes: BorrowedBytes, at: number): number {
  return uint16At(bytes, at) * 0x1_0000 + uint16At(bytes, at + 2);
}

/** An unsigned number of 32 bits, least significant byte first. */
export function littleUint32At(bytes: BorrowedBytes, at: number): number {
  const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
  const high = (bytes[at + 2] as number) | ((bytes[at + 3] as number) << 8);
  return high * 0x1_0000 + low;
}

/** Buffers are a whole multiple of this, so that uses of similar size share them. */
const GRAIN_BYTES = 64 * 1024;

/**
 * Buffers for payloads on their way (to a socket, to a worker thread) that are used again and again: a new
 * one for every query costs page faults, and keeps V8 collecting garbage.
 */
export class ReusedBuffers {
  readonly #free: ArrayBuffer[] = [];
  readonly #keptMax: number;
  readonly #keptBytesMax: number;

  /**
   * @param keptMax Most free buffers that are kept: as many as are in use at once.
   * @param keptBytesMax Size of a buffer above which it is not kept.
   */
  constructor(keptMax: number, keptBytesMax: number = Number.POSITIVE_INFINITY) {
    this.#keptMax = keptMax;
    this.#keptBytesMax = keptBytesMax;
  }

  /** A buffer of `bytes` or more, with whatever is in it; the caller's until it gives it back. */
  take(bytes: number): ArrayBuffer {
    const best = this.#smallest(bytes);
    if (best >= 0) return this.#free.splice(best, 1)[0] as ArrayBuffer;
    // The kept ones are too small for the uses of now: let them go first.
    this.#free.shift();
    const size = Math.max(1, Math.ceil(bytes / GRAIN_BYTES)) * GRAIN_BYTES;
    return Buffer.allocUnsafeSlow(size).buffer;
  }

  /** Index of the smallest free buffer that is large enough; -1: there is none. */
  #smallest(bytes: number): number {
    let best = -1;
    let bestBytes = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.#free.length; i += 1) {
      const { byteLength } = this.#free[i] as ArrayBuffer;
      if (byteLength < bytes || byteLength >= bestBytes) continue;
      best = i;
      bestBytes = byteLength;
    }
    return best;
  }

  /** Takes a buffer back that is no longer read. */
  giveBack(buffer: ArrayBuffer): void {
    overwriteInTests(buffer);
    if (buffer.byteLength === 0 || buffer.byteLength > this.#keptBytesMax) return;
    if (this.#free.length < this.#keptMax) this.#free.push(buffer);
  }
}

/**
 * For tests: with 1, buffers are overwritten as soon as they are their owner's again. Whoever kept a view of one reads
 * {@link OVERWRITTEN} then, instead of what is right until the next read.
 */
const VARIABLE = 'LONGHAUL_OVERWRITE_BUFFERS';

/** No length, tag or header begins so. */
const OVERWRITTEN = 0xee;

const isOn: boolean = process.env[VARIABLE] === '1';

/** Called by the owner of a buffer that others may read no more. No effect outside of tests. */
export function overwriteInTests(buffer: ArrayBufferLike | Uint8Array, bytes?: number): void {
  if (!isOn) return;
  const memory = buffer instanceof Uint8Array ? buffer : new Uint8Array(buffer);
  memory.fill(OVERWRITTEN, 0, bytes);
}
