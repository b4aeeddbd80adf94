import { DynamicTable, type HeaderField, sizeOf } from './tables.ts';

/** The table of this end is no larger, whatever the peer allows: requests of one client have few headers. */
const TABLE_BYTES_MAX = 4096;

/**
 * Writes the header blocks of one connection. The first block names every header, later ones say one byte for each.
 * No Huffman code: what it would save is sent once per connection.
 */
export class HpackEncoder {
  // What holds before the peer's settings came. Rule: RFC 9113, section 6.5.2.
  readonly #table = new DynamicTable(TABLE_BYTES_MAX);
  /** Smallest and last size since the last block, both to be told in the next one. */
  #smallestBytesMax: number | undefined;

  /** Goes up with every change of the table: while it stays, a block can be sent again as it is. */
  get changeCount(): number {
    return this.#table.changeCount;
  }

  /** SETTINGS_HEADER_TABLE_SIZE of the peer. */
  setPeerTableBytesMax(bytes: number): void {
    const bytesMax = Math.min(bytes, TABLE_BYTES_MAX);
    if (bytesMax === this.#table.bytesMax) return;
    this.#table.resize(bytesMax);
    this.#smallestBytesMax = Math.min(this.#smallestBytesMax ?? bytesMax, bytesMax);
  }

  /** The block of these headers, for the next HEADERS frame. */
  encode(fields: readonly HeaderField[]): Buffer {
    const out: number[] = [];
    this.#writeSizeUpdates(out);
    for (const field of fields) this.#writeField(out, field);
    return Buffer.from(out);
  }

  /** Both sizes are told where the table was made smaller and larger again. Rule: RFC 7541, section 4.2. */
  #writeSizeUpdates(out: number[]): void {
    const smallest = this.#smallestBytesMax;
    if (smallest === undefined) return;
    this.#smallestBytesMax = undefined;
    const { bytesMax } = this.#table;
    if (smallest < bytesMax) writeInteger(out, 0x20, 5, smallest);
    writeInteger(out, 0x20, 5, bytesMax);
  }

  #writeField(out: number[], field: HeaderField): void {
    const { name, value } = field;
    const index = this.#table.indexOf(name, value);
    if (index > 0) {
      writeInteger(out, 0x80, 7, index);
      return;
    }
    // One that does not fit would empty the table each time.
    const isKept = sizeOf(field) <= this.#table.bytesMax;
    const nameIndex = this.#table.indexOf(name);
    if (isKept) writeInteger(out, 0x40, 6, nameIndex);
    else writeInteger(out, 0x00, 4, nameIndex);
    if (nameIndex === 0) writeText(out, name);
    writeText(out, value);
    if (isKept) this.#table.add(field);
  }
}

function writeText(out: number[], text: string): void {
  writeInteger(out, 0, 7, text.length);
  for (const byte of Buffer.from(text, 'latin1')) out.push(byte);
}

/** @param form Upper bits of the first byte, which say what the integer is. Rule: RFC 7541, section 5.1. */
function writeInteger(out: number[], form: number, prefixBits: number, value: number): void {
  const mask = (1 << prefixBits) - 1;
  if (value < mask) {
    out.push(form | value);
    return;
  }
  out.push(form | mask);
  let rest = value - mask;
  for (; rest >= 0x80; rest >>>= 7) out.push((rest & 0x7f) | 0x80);
  out.push(rest);
}
