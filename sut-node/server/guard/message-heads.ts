/** gRPC's message prefix: a byte for compression, four for the length. */
export const HEAD_BYTES = 5;

/**
 * Tracks the messages in the bytes of a call, however they are cut, without storing them. Rule:
 * gRPC over HTTP/2, Length-Prefixed-Message.
 */
export class MessageHeads {
  readonly #head: Buffer = Buffer.alloc(HEAD_BYTES);
  #headBytes = 0;
  /** Missing bytes of the current message. */
  #missing = 0;
  /** Announced length of the first message; 0 until its prefix came. */
  firstBytes = 0;
  /** Largest announced length. */
  largestBytes = 0;
  #hasFirst = false;
  /** Complete messages. */
  wholeCount = 0;
  /** True once a message is marked as compressed. */
  isCompressed = false;

  /** True inside a message. */
  get isInside(): boolean {
    return this.#headBytes > 0;
  }

  /** Takes the next chunk of the call. */
  take(chunk: Buffer): void {
    let position = 0;
    while (position < chunk.length) {
      if (this.#headBytes < HEAD_BYTES) {
        const end = Math.min(chunk.length, position + HEAD_BYTES - this.#headBytes);
        chunk.copy(this.#head, this.#headBytes, position, end);
        this.#headBytes += end - position;
        position = end;
        if (this.#headBytes < HEAD_BYTES) break;
        this.#begin();
      } else {
        const end = Math.min(chunk.length, position + this.#missing);
        this.#missing -= end - position;
        position = end;
      }
      if (this.#missing > 0) continue;
      this.#headBytes = 0;
      this.wholeCount += 1;
    }
  }

  #begin(): void {
    this.#missing = this.#head.readUInt32BE(1);
    this.largestBytes = Math.max(this.largestBytes, this.#missing);
    if (!this.#hasFirst) this.firstBytes = this.#missing;
    this.#hasFirst = true;
    if (this.#head[0] !== 0) this.isCompressed = true;
  }
}
