import { status } from '@grpc/grpc-js';
import {
  type BorrowedBytes,
  copyOf,
  ReusedBuffers,
} from '../../shared/base/bytes/borrowed-bytes.ts';
import type { AnswerRoom } from '../../shared/http2/flow-control.ts';
import { MESSAGE_HEAD_BYTES } from '../../shared/http2/unsent-messages.ts';
import { GrpcCallError } from './grpc-calls.ts';

/** First buffer for a message, bytes: it grows only as the announced bytes arrive. */
const FIRST_BYTES_MAX: number = 1024 * 1024;

/** Buffers kept for reuse: messages that arrive in pieces at the same time. */
const KEPT_BUFFERS = 8;

/**
 * Largest buffer kept for reuse: larger ones are rare and would stay allocated for the rest of the
 * run.
 */
const KEPT_BUFFER_BYTES_MAX: number = 4 * 1024 * 1024;

/** Receiver of the messages of one call. */
export interface MessageReceiver {
  /** True if messages are no longer delivered. */
  readonly isOver: boolean;
  /** A message begins. @throws GrpcCallError if no message is allowed here. */
  beginMessage(): void;
  /**
   * One message, without its prefix. @returns True to hold it: {@link MessageReader.keep} or the
   * end must follow.
   */
  readonly receive: (message: BorrowedBytes) => boolean;
}

/** Limits and buffers that the messages of one connection share. */
export interface MessageLimits {
  readonly messageBytesMax: number;
  /** Buffers for messages that arrive in pieces. */
  readonly buffers: ReusedBuffers;
  readonly room: AnswerRoom;
}

export function messageLimits(messageBytesMax: number, room: AnswerRoom): MessageLimits {
  const buffers = new ReusedBuffers(KEPT_BUFFERS, KEPT_BUFFER_BYTES_MAX);
  return { messageBytesMax, buffers, room };
}

/**
 * Finds the messages of one call in its DATA frames, however they are cut. A message that lies in
 * one piece is not copied.
 */
export class MessageReader {
  readonly #limits: MessageLimits;
  readonly #receiver: MessageReceiver;
  #headBytes = 0;
  #length = 0;
  /** Bytes of the incomplete message. */
  #buffer: ArrayBuffer | undefined;
  #filled = 0;
  /** Bytes taken from the shared memory bound. */
  #roomBytes = 0;

  constructor(limits: MessageLimits, receiver: MessageReceiver) {
    this.#limits = limits;
    this.#receiver = receiver;
  }

  /** True inside a message. */
  get isInside(): boolean {
    return this.#headBytes > 0;
  }

  /**
   * Reads `[begin, end)` of a chunk.
   * @throws GrpcCallError RESOURCE_EXHAUSTED for a message above the limit, INTERNAL for a
   * compressed one.
   */
  read(chunk: BorrowedBytes, begin: number, end: number): void {
    let at = begin;
    while (at < end && !this.#receiver.isOver) {
      if (this.#headBytes < MESSAGE_HEAD_BYTES) at = this.#readHead(chunk, at, end);
      else at = this.#readContents(chunk, at, end);
      // This includes an empty message, which has no further bytes.
      if (this.#headBytes === MESSAGE_HEAD_BYTES && this.#length === 0) this.#finish(chunk, at, at);
    }
    if (this.#receiver.isOver) this.drop();
  }

  /**
   * Keeps a message beyond its chunk: copies it, unless it came in pieces.
   * @returns Valid until {@link drop}. @throws GrpcCallError RESOURCE_EXHAUSTED
   */
  keep(message: BorrowedBytes): BorrowedBytes {
    if (this.#buffer !== undefined) return message;
    this.#takeRoom(message.length);
    return copyOf(message);
  }

  /** Discards the incomplete message. */
  drop(): void {
    const { buffers, room } = this.#limits;
    if (this.#buffer !== undefined) buffers.giveBack(this.#buffer);
    this.#buffer = undefined;
    this.#filled = 0;
    room.giveBack(this.#roomBytes);
    this.#roomBytes = 0;
  }

  #readHead(chunk: BorrowedBytes, begin: number, end: number): number {
    let at = begin;
    for (; at < end && this.#headBytes < MESSAGE_HEAD_BYTES; at += 1) {
      const byte = chunk[at] as number;
      if (this.#headBytes === 0) this.#begin(byte);
      else this.#length = this.#length * 256 + byte;
      this.#headBytes += 1;
    }
    const { messageBytesMax } = this.#limits;
    if (this.#headBytes === MESSAGE_HEAD_BYTES && this.#length > messageBytesMax) {
      const what = `a message of ${this.#length} bytes; limit --message-bytes-max is ${messageBytesMax}`;
      throw new GrpcCallError(status.RESOURCE_EXHAUSTED, what);
    }
    return at;
  }

  #begin(flag: number): void {
    this.#receiver.beginMessage();
    this.#length = 0;
    if (flag === 0) return;
    const what =
      flag === 1
        ? 'a message compressed by gRPC although identity was requested; switch compression off at the server or its proxy'
        : `a message with compressed-flag ${flag}; gRPC defines 0 and 1`;
    throw new GrpcCallError(status.INTERNAL, what);
  }

  #readContents(chunk: BorrowedBytes, begin: number, end: number): number {
    const wanted = this.#length - this.#filled;
    const taken = Math.min(wanted, end - begin);
    const next = begin + taken;
    if (this.#filled === 0 && taken === wanted) {
      this.#finish(chunk, begin, next);
      return next;
    }
    const buffer = this.#bufferFor(this.#filled + taken);
    buffer.set(chunk.subarray(begin, next), this.#filled);
    this.#filled += taken;
    if (taken === wanted) this.#finish(buffer, 0, this.#length);
    return next;
  }

  /** The buffer, grown to hold `bytes`; never much larger than the bytes received. */
  #bufferFor(bytes: number): Buffer {
    const old = this.#buffer;
    if (old !== undefined && old.byteLength >= bytes) return Buffer.from(old);
    const { buffers } = this.#limits;
    const size = Math.max(bytes, Math.min(this.#length, Math.max(FIRST_BYTES_MAX, bytes * 2)));
    const memory = buffers.take(size);
    this.#takeRoom(memory.byteLength);
    this.#buffer = memory;
    const buffer = Buffer.from(memory);
    if (old !== undefined) {
      buffer.set(new Uint8Array(old, 0, this.#filled));
      buffers.giveBack(old);
      this.#limits.room.giveBack(old.byteLength);
      this.#roomBytes -= old.byteLength;
    }
    return buffer;
  }

  /** @throws GrpcCallError RESOURCE_EXHAUSTED */
  #takeRoom(bytes: number): void {
    const { room } = this.#limits;
    if (!room.take(bytes)) throw new GrpcCallError(status.RESOURCE_EXHAUSTED, room.refusal);
    this.#roomBytes += bytes;
  }

  #finish(chunk: BorrowedBytes, begin: number, end: number): void {
    this.#headBytes = 0;
    this.#length = 0;
    if (!this.#receiver.receive(chunk.subarray(begin, end))) this.drop();
  }
}
