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

/** Bytes of a length-delimited field of `length` bytes whose tag takes one byte. */
export function fieldSize(length: number): number {
  return 1 + varintSize(length) + length;
}

/** Zigzag coding of a signed number (sint64). */
export function zigzag(value: number): number {
  return value >= 0 ? value * 2 : -value * 2 - 1;
}

/**
 * Writes protobuf wire format into a buffer whose size the caller computed before: no allocation, one
 * copy of the payload.
 */
export class ProtoWriter {
  readonly buffer: Buffer;
  position: number;

  /** @param position Where the message begins in the buffer. */
  constructor(buffer: Buffer, position = 0) {
    this.buffer = buffer;
    this.position = position;
  }

  varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.buffer[this.position++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.buffer[this.position++] = rest;
  }

  /** A varint field; `tag` is (field number << 3), wire type 0. Not written when 0 (proto3 default). */
  number(tag: number, value: number): void {
    if (value === 0) return;
    this.buffer[this.position++] = tag;
    this.varint(value);
  }

  /** Head of a length-delimited field. */
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

/** Bytes of a varint field with a one-byte tag; 0 when the value is the default and is left out. */
export function numberFieldSize(value: number): number {
  return value === 0 ? 0 : 1 + varintSize(value);
}

/** Bytes of a bytes field with a one-byte tag; 0 when empty and left out. */
export function bytesFieldSize(length: number): number {
  return length === 0 ? 0 : fieldSize(length);
}
