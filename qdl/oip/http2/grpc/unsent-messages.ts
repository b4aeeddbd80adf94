import type { FrameBatch } from '../frames/frame-batch.ts';
import { MESSAGE_HEAD_BYTES } from './message-reader.ts';

/** Heads and pieces of the messages of one call that are in no frame yet. */
export class UnsentMessages {
  /** Bytes that wait here, heads included. */
  bytes = 0;
  #pieces: Uint8Array[] = [];
  #first = 0;
  /** Bytes of the first piece that are gone. */
  #offset = 0;

  /** Adds a message of that length. */
  add(pieces: readonly Uint8Array[], bytes: number): void {
    const head = Buffer.allocUnsafe(MESSAGE_HEAD_BYTES);
    head[0] = 0;
    head.writeUInt32BE(bytes, 1);
    this.#pieces.push(head, ...pieces);
    this.bytes += MESSAGE_HEAD_BYTES + bytes;
  }

  /** Moves the next `bytes` into a frame; so many must be there. */
  moveTo(batch: FrameBatch, bytes: number): void {
    this.bytes -= bytes;
    for (let left = bytes; left > 0; ) {
      const piece = this.#pieces[this.#first] as Uint8Array;
      const end = Math.min(piece.length, this.#offset + left);
      batch.append(piece, this.#offset, end);
      left -= end - this.#offset;
      this.#offset = end;
      if (end === piece.length) this.#next();
    }
  }

  /** Forgets all. @returns Their bytes. */
  drop(): number {
    const { bytes } = this;
    this.bytes = 0;
    this.#pieces = [];
    this.#first = 0;
    this.#offset = 0;
    return bytes;
  }

  #next(): void {
    this.#offset = 0;
    this.#first += 1;
    // Pieces that went out are not held on to.
    if (this.#first === this.#pieces.length || this.#first >= 64) {
      this.#pieces.splice(0, this.#first);
      this.#first = 0;
    }
  }
}
