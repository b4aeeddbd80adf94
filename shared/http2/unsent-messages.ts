import assert from 'node:assert';
import { NO_BYTES } from '../base/bytes/borrowed-bytes.ts';
import type { FrameBatch } from './frames.ts';

/** gRPC's head of a message: compressed or not, and the length. */
export const MESSAGE_HEAD_BYTES = 5;

/** Messages that went out, and are still in the list, at most. */
const GONE_MAX = 64;

/** Messages of one call that are in no frame yet, each with its head. */
export class UnsentMessages {
  /** Bytes that wait here, heads included. */
  bytes = 0;
  /** Bytes that went into frames. */
  movedBytes = 0;
  /** By message: its head and its pieces. */
  #messages: (readonly Uint8Array[])[] = [];
  /** By message: what to do when the socket has taken it. */
  #whenTaken: ((() => void) | undefined)[] = [];
  /** The first message that is not gone; of it, the first piece, and its first byte. */
  #first = 0;
  #piece = 0;
  #offset = 0;

  /** Adds a message of that length. */
  add(pieces: readonly Uint8Array[], bytes: number): void {
    const head = Buffer.allocUnsafe(MESSAGE_HEAD_BYTES);
    head[0] = 0;
    head.writeUInt32BE(bytes, 1);
    this.#messages.push([head, ...pieces]);
    this.#whenTaken.push(undefined);
    this.bytes += MESSAGE_HEAD_BYTES + bytes;
  }

  /** Adds messages that have their heads. @param onTaken Called when the socket has taken the last byte. */
  addFramed(pieces: readonly Uint8Array[], bytes: number, onTaken: () => void): void {
    this.#messages.push(pieces);
    this.#whenTaken.push(onTaken);
    this.bytes += bytes;
  }

  /** Moves the next `bytes` into a frame; so many must be there. */
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
   * Takes back the messages that have no bytes in a frame yet. One that has begun must go on: the rest of it is copied,
   * so that its pieces are free.
   * @returns How many were taken back: those that were added last.
   */
  takeBack(): number {
    const [begun, count] = this.#takeBegun();
    this.drop();
    if (begun === undefined) return count;
    // Its head, or a part of it, is gone: so it stays one that has begun.
    this.#messages = [[NO_BYTES, begun]];
    this.#whenTaken = [undefined];
    this.#piece = 1;
    this.bytes = begun.length;
    return count;
  }

  /** Forgets all. @returns Their bytes. */
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

  /** A copy of what is left of the message that has begun, and how many messages have not. */
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
    // Messages that went out are not held on to.
    if (this.#first === this.#messages.length || this.#first >= GONE_MAX) {
      this.#messages.splice(0, this.#first);
      this.#whenTaken.splice(0, this.#first);
      this.#first = 0;
    }
  }
}
