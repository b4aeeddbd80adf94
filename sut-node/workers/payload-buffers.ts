const GRAIN_BYTES = 64 * 1024;

/**
 * Buffers that carry payloads to the workers and come back empty. A used buffer is taken again: a new
 * one costs page faults, and Node zeroes it.
 */
export class PayloadBuffers {
  readonly #free: ArrayBuffer[] = [];
  readonly #keptMax: number;

  /** @param keptMax Most free buffers that are kept. */
  constructor(keptMax: number) {
    this.#keptMax = keptMax;
  }

  /** A buffer of `bytes` or more, for the caller alone. */
  take(bytes: number): ArrayBuffer {
    const index = this.#free.findIndex((buffer) => buffer.byteLength >= bytes);
    if (index >= 0) return this.#free.splice(index, 1)[0] as ArrayBuffer;
    // The kept ones are too small for the batches of now: let them go first.
    this.#free.shift();
    const size = Math.max(1, Math.ceil(bytes / GRAIN_BYTES)) * GRAIN_BYTES;
    return Buffer.allocUnsafeSlow(size).buffer;
  }

  /** Takes a buffer back. */
  giveBack(buffer: ArrayBuffer): void {
    if (buffer.byteLength > 0 && this.#free.length < this.#keptMax) this.#free.push(buffer);
  }
}
