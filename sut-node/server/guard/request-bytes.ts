import { constants, type ServerHttp2Stream } from 'node:http2';
import { UNREAD_TIMEOUT_MS } from '../limits/node-limits.ts';

/**
 * Bounds the bytes of unary messages with samples. HTTP/2 windows let a peer send what each call
 * declares, in as many calls as it may open; so a message must find room when it is announced, and
 * keeps it until it is answered. Answers have a bound of their own: a peer that does not read them
 * does not block others.
 */
export class RequestBytes {
  /** Largest message. */
  readonly messageBytesMax: number;
  readonly #bytesMax: number;
  readonly #unread: UnreadAnswers;
  #bytes = 0;

  /** @param bytesMax Bound for all messages together. A single one always finds room. */
  constructor(messageBytesMax: number, bytesMax: number) {
    this.messageBytesMax = messageBytesMax;
    this.#bytesMax = bytesMax;
    this.#unread = new UnreadAnswers(bytesMax);
  }

  /** Bytes in use. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes room for a call's message until it is answered or over; false if there is none. */
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
      // After gRPC has written it, which it does at once.
      process.nextTick(() => this.#unread.add(stream));
    });
    return true;
  }
}

/**
 * Calls `listener` when an answer's first bytes are given to node:http2, which has no event for it.
 */
function onceAnswered(stream: ServerHttp2Stream, listener: () => void): void {
  const respond = stream.respond.bind(stream);
  stream.respond = (...args) => {
    stream.respond = respond;
    respond(...args);
    listener();
  };
}

/** Slowest rate at which a peer may read an answer: 1 MB/s, after {@link UNREAD_TIMEOUT_MS}. */
const BYTES_PER_MS_MIN = 1_000;

interface Unread {
  readonly bytes: number;
  readonly timer: NodeJS.Timeout;
}

/**
 * Unary answers that their peers have not read. HTTP/2 lets a peer request and never open its
 * window; so reading has a deadline, and if all answers together become too large, those that wait
 * longest are reset: a peer that reads never comes close.
 */
export class UnreadAnswers {
  readonly #bytesMax: number;
  readonly #timeoutMs: number;
  /** In the order in which they were written. */
  readonly #answers = new Map<ServerHttp2Stream, Unread>();
  #bytes = 0;

  /** @param bytesMax Bound for all answers together. A single one always finds room. */
  constructor(bytesMax: number, timeoutMs: number = UNREAD_TIMEOUT_MS) {
    this.#bytesMax = bytesMax;
    this.#timeoutMs = timeoutMs;
  }

  /** Bytes that wait now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** An answer was written to a stream. */
  add(stream: ServerHttp2Stream): void {
    if (stream.destroyed) return;
    const bytes = stream.writableLength;
    const waitMs = this.#timeoutMs + bytes / BYTES_PER_MS_MIN;
    const timer = setTimeout(() => this.#reset(stream), waitMs).unref();
    this.#answers.set(stream, { bytes, timer });
    this.#bytes += bytes;
    stream.once('close', () => this.#forget(stream));
    for (const oldest of this.#answers.keys()) {
      if (this.#bytes <= this.#bytesMax || oldest === stream) break;
      this.#reset(oldest);
    }
  }

  #reset(stream: ServerHttp2Stream): void {
    this.#forget(stream);
    stream.close(constants.NGHTTP2_CANCEL);
  }

  #forget(stream: ServerHttp2Stream): void {
    const answer = this.#answers.get(stream);
    if (answer === undefined) return;
    this.#answers.delete(stream);
    this.#bytes -= answer.bytes;
    clearTimeout(answer.timer);
  }
}
