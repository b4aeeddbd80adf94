import { constants, type ServerHttp2Stream } from 'node:http2';
import { UNREAD_TIMEOUT_MS } from '../limits/node-limits.ts';

/** Slowest rate at which a peer may take an answer: 1 MB/s, once {@link UNREAD_TIMEOUT_MS} is over. */
const BYTES_PER_MS_MIN = 1_000;

interface Unread {
  readonly bytes: number;
  readonly timer: NodeJS.Timeout;
}

/**
 * Answers of unary calls that their peers have not taken. HTTP/2 lets a peer ask and never open its window for what
 * comes back; so there is a time for it, and where all of them together become too large those that wait longest are
 * reset: a peer that reads is far behind them.
 */
export class UnreadAnswers {
  readonly #bytesMax: number;
  readonly #timeoutMs: number;
  /** In the order in which they were given. */
  readonly #answers = new Map<ServerHttp2Stream, Unread>();
  #bytes = 0;

  /** @param bytesMax Of all answers together. A single one always finds room. */
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
