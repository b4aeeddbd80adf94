import { type BorrowedBytes, borrowedText } from '../base/bytes/borrowed-bytes.ts';
import { type MlperfError, wireError } from '../base/errors/mlperf-error.ts';

/** Bytes of an int64 below 0 as a varint. */
const NEGATIVE_BYTES = 10;

/** Message for a number that a double cannot hold exactly. */
const TOO_LARGE = 'a number is 2^53 or more; ids, lengths and times must be below';

/**
 * Reads protobuf wire format from a buffer, without copying: bytes are returned as views, borrowed
 * if the buffer is.
 *
 * Hot path: one reader per message is the only allocation. 64-bit integers are returned as numbers;
 * 2^53 and more is refused: ids, lengths and times of this protocol stay below.
 */
export class ProtoReader<Bytes extends BorrowedBytes = Uint8Array> {
  readonly #buffer: Bytes;
  readonly end: number;
  position: number;

  constructor(buffer: Bytes, start = 0, end: number = buffer.length) {
    this.#buffer = buffer;
    this.position = start;
    this.end = end;
  }

  /** Reads a varint as an unsigned number. */
  varint(): number {
    let result = 0;
    let factor = 1;
    for (;;) {
      if (this.position >= this.end) throw malformed('a number is cut off');
      const byte = this.#buffer[this.position++] as number; // In range: position < end.
      result += (byte & 0x7f) * factor;
      if (byte < 0x80) break;
      factor *= 128;
      if (factor > 2 ** 63) throw malformed('a number has more than 10 bytes');
    }
    if (result > Number.MAX_SAFE_INTEGER) throw malformed(TOO_LARGE);
    return result;
  }

  /** Reads an int64, which takes ten bytes below 0. */
  int64(): number {
    const start = this.position;
    let last = start;
    while (last < this.end && (this.#buffer[last] as number) >= 0x80) last += 1;
    if (last - start !== NEGATIVE_BYTES - 1 || last >= this.end) return this.varint();
    let value = 0n;
    for (let at = last; at >= start; at -= 1) {
      // In range: at <= last < end.
      value = (value << 7n) | BigInt((this.#buffer[at] as number) & 0x7f);
    }
    this.position = last + 1;
    return Number(BigInt.asIntN(64, value));
  }

  /** Reads a zigzag-coded (sint64) number. */
  zigzag(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** Reads a length and skips that many bytes; they are `[end - length, end)` of the result. */
  bytes(): Bytes {
    const stop = this.stopOfBytes();
    const view = this.#buffer.subarray(this.position, stop) as Bytes;
    this.position = stop;
    return view;
  }

  /** Reads a length-delimited string. */
  string(): string {
    return borrowedText(this.bytes());
  }

  /** A reader for an embedded message. */
  message(): ProtoReader<Bytes> {
    const stop = this.stopOfBytes();
    const reader = new ProtoReader(this.#buffer, this.position, stop);
    this.position = stop;
    return reader;
  }

  /** Skips an unknown field. @param tag Its number and wire type, as read. */
  skipField(tag: number): void {
    if (tag < 8 || tag >= 2 ** 32) throw malformed('a field has an invalid number');
    this.skip(tag % 8);
  }

  /** Skips the value of an unknown field, whatever a newer peer put there. */
  skip(wireType: number): void {
    switch (wireType) {
      case 0: {
        let byte = 0x80;
        while (this.position < this.end && byte >= 0x80) {
          byte = this.#buffer[this.position++] as number;
        }
        if (byte >= 0x80) throw malformed('a number is cut off');
        break;
      }
      case 1:
        this.position += 8;
        break;
      case 2:
        this.position = this.stopOfBytes();
        break;
      case 5:
        this.position += 4;
        break;
      default:
        throw malformed(`wire type ${wireType} is unknown`);
    }
    if (this.position > this.end) throw malformed('a field is cut off');
  }

  /** Reads a length; returns the position after that many bytes. */
  stopOfBytes(): number {
    const length = this.varint();
    const stop = this.position + length;
    if (stop > this.end) throw malformed('a field is cut off');
    return stop;
  }
}

/** The error of a message that breaks the wire format. */
export function malformed(what: string): MlperfError {
  return wireError(`malformed message: ${what}`);
}

/** Bytes of a varint. */
export function varintSize(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x200000) return 3;
  if (value < 0x10000000) return 4;
  if (value < 0x800000000) return 5;
  if (value < 0x40000000000) return 6;
  if (value < 0x2000000000000) return 7;
  return 8; // Up to 2^53.
}

/** Bytes of a length-delimited field of `length` bytes with a one-byte tag. */
export function fieldSize(length: number): number {
  return 1 + varintSize(length) + length;
}

/** Zigzag coding of a signed number (sint64). */
export function zigzag(value: number): number {
  return value >= 0 ? value * 2 : -value * 2 - 1;
}

/**
 * Writes protobuf wire format into a buffer of precomputed size: no allocation, one copy of the
 * payload.
 */
export class ProtoWriter {
  readonly buffer: Buffer;
  position: number;

  /** @param position Start of the message in the buffer. */
  constructor(buffer: Buffer, position = 0) {
    this.buffer = buffer;
    this.position = position;
  }

  varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      const next = Math.floor(rest / 128);
      this.buffer[this.position++] = rest - next * 128 + 128;
      rest = next;
    }
    this.buffer[this.position++] = rest;
  }

  /**
   * A varint field; `tag` is (field number << 3), wire type 0. Not written when 0 (proto3 default).
   */
  number(tag: number, value: number): void {
    if (value === 0) return;
    this.buffer[this.position++] = tag;
    this.varint(value);
  }

  /** Tag and length of a length-delimited field. */
  head(tag: number, length: number): void {
    this.buffer[this.position++] = tag;
    this.varint(length);
  }

  /** A bytes field. Not written when empty. */
  bytes(tag: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.head(tag, bytes.length);
    this.buffer.set(bytes, this.position);
    this.position += bytes.length;
  }
}

/** Bytes of a varint field with a one-byte tag; 0 for the default, which is left out. */
export function numberFieldSize(value: number): number {
  return value === 0 ? 0 : 1 + varintSize(value);
}

/** Bytes of a bytes field with a one-byte tag; 0 when empty and left out. */
export function bytesFieldSize(length: number): number {
  return length === 0 ? 0 : fieldSize(length);
}
