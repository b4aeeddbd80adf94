/** Buffers are a whole multiple of this, so that writes of similar size share them. */
const GRAIN_BYTES: number = 64 * 1024;

/**
 * Buffers for writes, used again and again: allocating them for every query would keep V8 collecting
 * garbage, and the pages of a fresh one must first be cleared by the kernel.
 */
export class SendBuffers {
  readonly #keptMax: number;
  readonly #free: Buffer[] = [];

  /** @param keptMax Most buffers that are kept: as many as are in use at once. */
  constructor(keptMax: number) {
    this.#keptMax = keptMax;
  }

  /** A buffer of at least so many bytes, with whatever is in it; the caller's until it gives it back. */
  take(bytes: number): Buffer {
    const index = this.#free.findIndex((buffer) => buffer.length >= bytes);
    if (index >= 0) return this.#free.splice(index, 1)[0] as Buffer;
    // The kept ones are too small for the writes of now: let them go first.
    this.#free.shift();
    return Buffer.allocUnsafeSlow(Math.ceil(bytes / GRAIN_BYTES) * GRAIN_BYTES);
  }

  /** Takes a buffer back, once the socket has its bytes. */
  giveBack(buffer: Buffer): void {
    if (this.#free.length < this.#keptMax) this.#free.push(buffer);
  }
}
