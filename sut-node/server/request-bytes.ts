/**
 * Bytes of the messages of unary calls that carry samples. HTTP/2's windows let a peer send as much as each call
 * declares, in as many calls as it may open; so a message has to find room when it is announced, and keeps it until its
 * call is over.
 */
export class RequestBytes {
  /** Largest message. */
  readonly messageBytesMax: number;
  readonly #bytesMax: number;
  #bytes = 0;

  /** @param bytesMax Of all messages together. A single one always finds room. */
  constructor(messageBytesMax: number, bytesMax: number) {
    this.messageBytesMax = messageBytesMax;
    this.#bytesMax = bytesMax;
  }

  /** Bytes that are taken now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes room; false where there is none. */
  take(bytes: number): boolean {
    if (this.#bytes > 0 && this.#bytes + bytes > this.#bytesMax) return false;
    this.#bytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#bytes -= bytes;
  }
}
