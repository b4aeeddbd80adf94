import {
  type BorrowedBytes,
  copyOf,
  readInPlace,
} from '../../../shared/base/bytes/borrowed-bytes.ts';
import type { MessageMemory, MessagePool } from '../connection/message-memory.ts';
import { HEAD_BYTES } from '../guard/message-heads.ts';
import { COMPRESSED_MESSAGE, resourceExhausted, StreamRefusal } from '../limits/call-end.ts';

/** Messages up to this size are copied into memory of their own, which V8 collects cheaply. */
const SMALL_BYTES_MAX: number = 16 * 1024;

/** Below this size a separate read costs more than the copy that it saves. */
const PLACE_BYTES_MIN: number = 32 * 1024;

/** Receiver of a call's messages. */
export interface MessageTaker {
  /** The prefix of a message came. @returns False if it ended the call. */
  begin(bytes: number): boolean;
  /** @param memory Owner of a large message's bytes: release it once. */
  take(message: Buffer, memory: MessageMemory | undefined): void;
}

/**
 * Splits the bytes of one call into messages. A large message is copied at most once, into reusable
 * memory.
 */
export class MessageIntake {
  readonly #bytesMax: number;
  readonly #pool: MessagePool;
  readonly #taker: MessageTaker;
  #headBytes = 0;
  #length = 0;
  #filled = 0;
  #memory: MessageMemory | undefined;
  #small: Buffer | undefined;
  /** True while the socket reads into `#memory`: the kernel may write there until bytes come. */
  #isPlace = false;
  #isOver = false;

  /** @param bytesMax Largest message. */
  constructor(bytesMax: number, pool: MessagePool, taker: MessageTaker) {
    this.#bytesMax = bytesMax;
    this.#pool = pool;
    this.#taker = taker;
  }

  /** True inside a message. */
  get isInside(): boolean {
    return this.#headBytes > 0;
  }

  /**
   * Reads `[begin, end)` of a chunk. @throws StreamRefusal for a message that is too large or
   * compressed.
   */
  read(chunk: BorrowedBytes, begin: number, end: number): void {
    this.#isPlace = false;
    let at = begin;
    while (at < end && !this.#isOver) {
      if (this.#headBytes < HEAD_BYTES) at = this.#readHead(chunk, at, end);
      else at = this.#readContents(chunk, at, end);
      if (this.#headBytes === HEAD_BYTES && this.#filled === this.#length) this.#finish();
    }
  }

  /**
   * Destination for the next bytes of a large message, `bytesMax` at most; undefined without one.
   */
  placeForNext(bytesMax: number): Uint8Array | undefined {
    if (this.#memory === undefined || this.#isOver) return undefined;
    const bytes = Math.min(bytesMax, this.#length - this.#filled);
    if (bytes < PLACE_BYTES_MIN) return undefined;
    this.#isPlace = true;
    return this.#memory.bytes.subarray(this.#filled, this.#filled + bytes);
  }

  /** Drops the incomplete message. */
  drop(): void {
    this.#isOver = true;
    // Memory that the kernel may still write into is left to V8: no other message may get it.
    if (!this.#isPlace) this.#memory?.release();
    this.#memory = undefined;
    this.#small = undefined;
  }

  #readHead(chunk: BorrowedBytes, begin: number, end: number): number {
    let at = begin;
    for (; at < end && this.#headBytes < HEAD_BYTES; at += 1) {
      const byte = chunk[at] as number;
      if (this.#headBytes > 0) {
        this.#length = this.#length * 256 + byte;
      } else {
        if (byte !== 0)
          throw new StreamRefusal(COMPRESSED_MESSAGE.code, COMPRESSED_MESSAGE.details);
        this.#length = 0;
        this.#filled = 0;
      }
      this.#headBytes += 1;
    }
    if (this.#headBytes === HEAD_BYTES) this.#begin();
    return at;
  }

  #begin(): void {
    this.#isOver = !this.#taker.begin(this.#length);
    if (this.#isOver) return;
    if (this.#length > this.#bytesMax) {
      const what = `a message has ${this.#length} bytes; limit message_bytes_max is ${this.#bytesMax}`;
      throw resourceExhausted(what);
    }
  }

  #readContents(chunk: BorrowedBytes, begin: number, end: number): number {
    const next = Math.min(end, begin + this.#length - this.#filled);
    if (this.#length <= SMALL_BYTES_MAX) {
      if (this.#filled === 0 && next - begin === this.#length) {
        const { buffer, byteOffset } = copyOf(chunk, begin, next);
        this.#small = Buffer.from(buffer, byteOffset, this.#length);
      } else {
        this.#small ??= Buffer.alloc(this.#length);
        this.#small.set(readInPlace(chunk.subarray(begin, next)), this.#filled);
      }
    } else {
      // A peer that announces a large message without sending it takes reusable memory, up to the
      // limit.
      this.#memory ??= this.#pool.take(this.#length);
      const { bytes } = this.#memory;
      const piece = readInPlace(chunk.subarray(begin, next));
      const isThere =
        piece.buffer === bytes.buffer && piece.byteOffset === bytes.byteOffset + this.#filled;
      if (!isThere) bytes.set(piece, this.#filled);
    }
    this.#filled += next - begin;
    return next;
  }

  #finish(): void {
    const memory = this.#memory;
    const message = memory?.bytes ?? this.#small ?? Buffer.alloc(0);
    this.#headBytes = 0;
    this.#memory = undefined;
    this.#small = undefined;
    this.#taker.take(message, memory);
  }
}
