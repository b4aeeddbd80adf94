/** No bytes at all. */
export const NO_BYTES: Uint8Array = new Uint8Array(0);

/**
 * Bytes of a buffer that its owner (a transport, a pool) will overwrite: they are valid only during
 * the call that passes them. Every Uint8Array is assignable to this type, but not the reverse: to
 * keep the bytes, copy them ({@link copyOf}, or `set` into own memory). A part of them is borrowed
 * too.
 *
 * Interfaces pass them to a property (`readonly onBytes: (chunk: BorrowedBytes) => void`), not to a
 * method: TypeScript lets a method require a narrower type than its interface.
 */
export interface BorrowedBytes {
  readonly length: number;
  readonly [index: number]: number;
  subarray(begin?: number, end?: number): BorrowedBytes;
}

/** A copy of `[begin, end)` in its own memory. */
export function copyOf(bytes: BorrowedBytes, begin = 0, end: number = bytes.length): Uint8Array {
  return new Uint8Array(bytes.subarray(begin, end));
}

/**
 * The same memory as a Uint8Array, for code that has read it when it returns, or when its promise
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

/** Unsigned 16-bit integer, big-endian. */
export function uint16At(bytes: BorrowedBytes, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

/** Unsigned 32-bit integer, big-endian. */
export function uint32At(bytes: BorrowedBytes, at: number): number {
  return uint16At(bytes, at) * 0x1_0000 + uint16At(bytes, at + 2);
}

/** Unsigned 32-bit integer, little-endian. */
export function littleUint32At(bytes: BorrowedBytes, at: number): number {
  const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
  const high = (bytes[at + 2] as number) | ((bytes[at + 3] as number) << 8);
  return high * 0x1_0000 + low;
}

/** Buffer sizes are multiples of this, bytes, so that uses of similar size share buffers. */
const GRAIN_BYTES = 64 * 1024;

/**
 * Reusable buffers for payloads in transit (to a socket, to a worker thread): a new buffer per
 * query costs page faults and garbage collections.
 */
export class ReusedBuffers {
  readonly #free: ArrayBuffer[] = [];
  readonly #keptMax: number;
  readonly #keptBytesMax: number;

  /**
   * @param keptMax Most free buffers to keep: as many as are in use at once.
   * @param keptBytesMax Largest buffer to keep, bytes.
   */
  constructor(keptMax: number, keptBytesMax: number = Number.POSITIVE_INFINITY) {
    this.#keptMax = keptMax;
    this.#keptBytesMax = keptBytesMax;
  }

  /**
   * A buffer of `bytes` or more with arbitrary contents; it belongs to the caller until {@link
   * giveBack}.
   */
  take(bytes: number): ArrayBuffer {
    const best = this.#smallest(bytes);
    if (best >= 0) return this.#free.splice(best, 1)[0] as ArrayBuffer;
    // The free buffers are too small for current uses: drop the oldest.
    this.#free.shift();
    const size = Math.max(1, Math.ceil(bytes / GRAIN_BYTES)) * GRAIN_BYTES;
    return Buffer.allocUnsafeSlow(size).buffer;
  }

  /** Index of the smallest free buffer that is large enough, or -1. */
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

  /** Takes back a buffer that nobody reads any more. */
  giveBack(buffer: ArrayBuffer): void {
    overwriteInTests(buffer);
    if (buffer.byteLength === 0 || buffer.byteLength > this.#keptBytesMax) return;
    if (this.#free.length < this.#keptMax) this.#free.push(buffer);
  }
}

/**
 * For tests: with value 1, a buffer is overwritten as soon as its owner has it back. Code that kept
 * a view reads {@link OVERWRITTEN} instead of bytes that happen to be right.
 */
const VARIABLE = 'LONGHAUL_OVERWRITE_BUFFERS';

/** No length, tag or header begins with this byte. */
const OVERWRITTEN = 0xee;

const isOn: boolean = process.env[VARIABLE] === '1';

/** Called by a buffer's owner when others may no longer read it. No effect outside of tests. */
export function overwriteInTests(buffer: ArrayBufferLike | Uint8Array, bytes?: number): void {
  if (!isOn) return;
  const memory = buffer instanceof Uint8Array ? buffer : new Uint8Array(buffer);
  memory.fill(OVERWRITTEN, 0, bytes);
}
