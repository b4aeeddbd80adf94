import type { ServerHttp2Stream } from 'node:http2';
import { UnreadAnswers } from './unread-answers.ts';

/**
 * Bytes of the messages of unary calls that carry samples. HTTP/2's windows let a peer send as much as each call
 * declares, in as many calls as it may open; so a message has to find room when it is announced, and keeps it until it
 * is answered. The answer is bounded by itself: who does not take it keeps nobody else from asking.
 */
export class RequestBytes {
  /** Largest message. */
  readonly messageBytesMax: number;
  readonly #bytesMax: number;
  readonly #unread: UnreadAnswers;
  #bytes = 0;

  /** @param bytesMax Of all messages together. A single one always finds room. */
  constructor(messageBytesMax: number, bytesMax: number) {
    this.messageBytesMax = messageBytesMax;
    this.#bytesMax = bytesMax;
    this.#unread = new UnreadAnswers(bytesMax);
  }

  /** Bytes that are taken now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes room for the message of a call until that is answered, or over; false where there is none. */
  take(stream: ServerHttp2Stream, bytes: number): boolean {
    if (this.#bytes > 0 && this.#bytes + bytes > this.#bytesMax) return false;
    this.#bytes += bytes;
    let isHeld = true;
    const giveBack = (): void => {
      if (isHeld) this.#bytes -= bytes;
      isHeld = false;
    };
    stream.once('close', giveBack);
    onceAnswered(stream, () => {
      giveBack();
      // Once gRPC has written it, too, which it does at once.
      process.nextTick(() => this.#unread.add(stream));
    });
    return true;
  }
}

/** Calls `listener` when the first of an answer is given to node:http2, which has no event for it. */
function onceAnswered(stream: ServerHttp2Stream, listener: () => void): void {
  const respond = stream.respond.bind(stream);
  stream.respond = (...args) => {
    stream.respond = respond;
    respond(...args);
    listener();
  };
}
