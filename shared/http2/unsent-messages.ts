import assert from 'node:assert';
import { NO_BYTES } from '../base/bytes/borrowed-bytes.ts';
import type { FrameBatch } from './frames.ts';

/** gRPC's message prefix: compressed flag and length. */
export const MESSAGE_HEAD_BYTES = 5;

/** Sent messages kept at the front of the list, at most. */
const GONE_MAX = 64;

/** Messages of one call that no frame contains yet, each with its prefix. */
export class UnsentMessages {
  /** Bytes that wait here, prefixes included. */
  bytes = 0;
  /** Bytes moved into frames. */
  movedBytes = 0;
  /** By message: its prefix and its pieces. */
  #messages: (readonly Uint8Array[])[] = [];
  /** By message: callback when the socket has taken it. */
  #whenTaken: ((() => void) | undefined)[] = [];
  /** First message not fully sent; its first unsent piece; that piece's first unsent byte. */
  #first = 0;
  #piece = 0;
  #offset = 0;

  /** Adds a message of `bytes` bytes. */
  add(pieces: readonly Uint8Array[], bytes: number): void {
    const head = Buffer.allocUnsafe(MESSAGE_HEAD_BYTES);
    head[0] = 0;
    head.writeUInt32BE(bytes, 1);
    this.#messages.push([head, ...pieces]);
    this.#whenTaken.push(undefined);
    this.bytes += MESSAGE_HEAD_BYTES + bytes;
  }

  /**
   * Adds messages that already have their prefixes. @param onTaken Called when the socket has taken
   * the last byte.
   */
  addFramed(pieces: readonly Uint8Array[], bytes: number, onTaken: () => void): void {
    this.#messages.push(pieces);
    this.#whenTaken.push(onTaken);
    this.bytes += bytes;
  }

  /** Moves the next `bytes` into a frame; that many must be waiting. */
  moveTo(batch: FrameBatch, bytes: number): void {
    assert(bytes >= 0 && bytes <= this.bytes);
    this.bytes -= bytes;
    this.movedBytes += bytes;
    for (let left = bytes; left > 0; ) {
      const message = this.#messages[this.#first] as readonly Uint8Array[];
      const piece = message[this.#piece] as Uint8Array;
      const end = Math.min(piece.length, this.#offset + left);
      batch.append(piece, this.#offset, end);
      left -= end - this.#offset;
      this.#offset = end;
      if (end === piece.length) this.#nextPiece(message.length, batch);
    }
  }

  /**
   * Takes back the messages without bytes in a frame. One already begun must finish: its rest is
   * copied, so its pieces are free.
   * @returns Number taken back: those added last.
   */
  takeBack(): number {
    const [begun, count] = this.#takeBegun();
    this.drop();
    if (begun === undefined) return count;
    // Its prefix, or part of it, was sent: it stays a message already begun.
    this.#messages = [[NO_BYTES, begun]];
    this.#whenTaken = [undefined];
    this.#piece = 1;
    this.bytes = begun.length;
    return count;
  }

  /** Drops everything. @returns The dropped bytes. */
  drop(): number {
    const { bytes } = this;
    this.bytes = 0;
    this.#messages = [];
    this.#whenTaken = [];
    this.#first = 0;
    this.#piece = 0;
    this.#offset = 0;
    return bytes;
  }

  /** A copy of the rest of the message already begun, and the number of messages not begun. */
  #takeBegun(): [begun: Buffer | undefined, count: number] {
    const count = this.#messages.length - this.#first;
    const message = this.#messages[this.#first];
    if (message === undefined || (this.#piece === 0 && this.#offset === 0)) {
      return [undefined, count];
    }
    const [piece, ...rest] = message.slice(this.#piece) as [Uint8Array, ...Uint8Array[]];
    const begun = Buffer.concat([piece.subarray(this.#offset), ...rest]);
    return [begun.length === 0 ? undefined : begun, count - 1];
  }

  #nextPiece(pieceCount: number, batch: FrameBatch): void {
    this.#offset = 0;
    this.#piece += 1;
    if (this.#piece < pieceCount) return;
    this.#piece = 0;
    const onTaken = this.#whenTaken[this.#first];
    if (onTaken !== undefined) batch.whenTaken.push(onTaken);
    this.#first += 1;
    // Release sent messages.
    if (this.#first === this.#messages.length || this.#first >= GONE_MAX) {
      this.#messages.splice(0, this.#first);
      this.#whenTaken.splice(0, this.#first);
      this.#first = 0;
    }
  }
}
