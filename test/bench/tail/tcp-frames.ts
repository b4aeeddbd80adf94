/** Id of the query and bytes of its payload, which follows. */
export const REQUEST_HEAD_BYTES = 8;

/** Id of the query and four bytes. */
export const RESPONSE_BYTES = 8;

/**
 * Finds messages in what was read: a head of fixed length, and a body whose bytes are passed over.
 */
export class FrameReader {
  readonly #head: Buffer;
  readonly #bodyBytesOf: (head: Buffer) => number;
  readonly #onMessage: (head: Buffer) => void;
  #headBytes = 0;
  #bodyBytesLeft = 0;

  /** @param onMessage Is called when the last byte of a message is there. */
  constructor(
    headBytes: number,
    bodyBytesOf: (head: Buffer) => number,
    onMessage: (head: Buffer) => void,
  ) {
    this.#head = Buffer.alloc(headBytes);
    this.#bodyBytesOf = bodyBytesOf;
    this.#onMessage = onMessage;
  }

  read(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#headBytes < this.#head.length) {
        this.#head[this.#headBytes] = bytes[at] as number;
        this.#headBytes += 1;
        at += 1;
        if (this.#headBytes < this.#head.length) continue;
        this.#bodyBytesLeft = this.#bodyBytesOf(this.#head);
      } else {
        const taken = Math.min(this.#bodyBytesLeft, bytes.length - at);
        this.#bodyBytesLeft -= taken;
        at += taken;
      }
      if (this.#bodyBytesLeft > 0) continue;
      this.#headBytes = 0;
      this.#onMessage(this.#head);
    }
  }
}
