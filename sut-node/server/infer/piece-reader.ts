import { malformed, TOO_LARGE } from '../../../shared/wire/proto-reader.ts';

/**
 * Reads protobuf wire format from a message that lies in several pieces, without copying: bytes come back
 * as views, one per piece that they touch. For large messages, of which nearly all is payload.
 *
 * Positions count from the start of the message. As ProtoReader, numbers of 2^53 and more are refused.
 */
export class PieceReader {
  readonly #pieces: readonly Uint8Array[];
  readonly end: number;
  position = 0;
  /** The piece in which `position` lies, and where in it. */
  #piece = 0;
  #offset = 0;

  constructor(pieces: readonly Uint8Array[]) {
    this.#pieces = pieces;
    this.end = pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  varint(): number {
    let result = 0;
    let factor = 1;
    for (;;) {
      const byte = this.#byte();
      result += (byte & 0x7f) * factor;
      if (byte < 0x80) break;
      factor *= 128;
      if (factor > 2 ** 63) throw malformed('a number has more than 10 bytes');
    }
    if (result > Number.MAX_SAFE_INTEGER) throw malformed(TOO_LARGE);
    return result;
  }

  /** Reads a length; returns the position behind so many bytes. */
  stopOfBytes(): number {
    const length = this.varint();
    const stop = this.position + length;
    if (stop > this.end) throw malformed('a field is cut off');
    return stop;
  }

  /** Reads a length and so many bytes, as views. */
  bytes(): Uint8Array[] {
    const stop = this.stopOfBytes();
    const views: Uint8Array[] = [];
    while (this.position < stop) {
      const piece = this.#current();
      const count = Math.min(piece.length - this.#offset, stop - this.position);
      views.push(piece.subarray(this.#offset, this.#offset + count));
      this.#offset += count;
      this.position += count;
    }
    return views;
  }

  /** Moves over the value of an unknown field, whatever a newer peer put there. */
  skip(wireType: number): void {
    if (wireType === 0) {
      while (this.#byte() >= 0x80);
    } else if (wireType === 1) {
      this.#skipTo(this.position + 8);
    } else if (wireType === 2) {
      this.#skipTo(this.stopOfBytes());
    } else if (wireType === 5) {
      this.#skipTo(this.position + 4);
    } else {
      throw malformed(`wire type ${wireType} is unknown`);
    }
  }

  /** @throws MlperfError when a field went beyond the message that holds it. */
  requireAt(position: number): void {
    if (this.position !== position) throw malformed('a field is cut off');
  }

  #skipTo(stop: number): void {
    if (stop > this.end) throw malformed('a field is cut off');
    while (this.position < stop) {
      const count = Math.min(this.#current().length - this.#offset, stop - this.position);
      this.#offset += count;
      this.position += count;
    }
  }

  #byte(): number {
    if (this.position >= this.end) throw malformed('a number is cut off');
    const byte = this.#current()[this.#offset] as number; // In range: position < end.
    this.#offset += 1;
    this.position += 1;
    return byte;
  }

  /** The piece in which `position`, below `end`, lies. */
  #current(): Uint8Array {
    let piece = this.#pieces[this.#piece] as Uint8Array;
    while (this.#offset >= piece.length) {
      this.#piece += 1;
      this.#offset = 0;
      piece = this.#pieces[this.#piece] as Uint8Array;
    }
    return piece;
  }
}
