/** What the peer may send on a stream or on the connection: given back in large steps. */
export class ReceiveWindow {
  readonly #bytesMax: number;
  /** Bytes that came since room was given back last. */
  #usedBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Counts what came. @returns False when it was more than the peer may send. */
  use(bytes: number): boolean {
    this.#usedBytes += bytes;
    return this.#usedBytes <= this.#bytesMax;
  }

  /** Room to be given back now; 0 while it is not worth a frame. */
  takeDue(): number {
    if (this.#usedBytes * 2 < this.#bytesMax) return 0;
    const bytes = this.#usedBytes;
    this.#usedBytes = 0;
    return bytes;
  }
}
