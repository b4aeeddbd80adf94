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
    const index = this.#free.findIndex((buffer) => buffer.byteLength >= bytes);
    if (index >= 0) return this.#free.splice(index, 1)[0] as ArrayBuffer;
    // The kept ones are too small for the uses of now: let them go first.
    this.#free.shift();
    const size = Math.max(1, Math.ceil(bytes / GRAIN_BYTES)) * GRAIN_BYTES;
    return Buffer.allocUnsafeSlow(size).buffer;
  }

  /** Takes a buffer back, once nobody reads it any more. */
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

/** Called by the owner of a buffer that others may read no more. Does nothing outside of tests. */
export function overwriteInTests(buffer: ArrayBufferLike | Uint8Array, bytes?: number): void {
  if (!isOn) return;
  const memory = buffer instanceof Uint8Array ? buffer : new Uint8Array(buffer);
  memory.fill(OVERWRITTEN, 0, bytes);
}
