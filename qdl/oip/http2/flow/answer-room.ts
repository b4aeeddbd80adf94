/** Largest messages that fit beside each other: with the usual 64 MiB as much as a SUT node's queue holds. */
const MESSAGES_HELD_MAX = 4;

/**
 * Memory for answers of one server that have begun and are not complete, over all of its connections: each may be as
 * large as a message, and the server alone decides how many it begins.
 */
export class AnswerRoom {
  readonly bytesMax: number;
  #usedBytes = 0;

  /** @param messageBytesMax Largest message of this server. */
  constructor(messageBytesMax: number) {
    this.bytesMax = MESSAGES_HELD_MAX * messageBytesMax;
  }

  /** Takes so many bytes. @returns False where there is no room for them. */
  take(bytes: number): boolean {
    if (this.#usedBytes + bytes > this.bytesMax) return false;
    this.#usedBytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#usedBytes -= bytes;
  }

  /** Why an answer is given up for which there is no room. */
  get refusal(): string {
    return (
      `the server has begun more answers than it completes: together they take more than ${this.bytesMax} bytes ` +
      `(${MESSAGES_HELD_MAX} times --message-bytes-max)`
    );
  }
}
