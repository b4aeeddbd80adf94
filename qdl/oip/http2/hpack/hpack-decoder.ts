import { type BorrowedBytes, borrowedText } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import { Http2Error } from '../frames/http2-error.ts';
import { decodeHuffman } from './huffman.ts';
import { DynamicTable, type HeaderField, sizeOf } from './tables.ts';

/** Continuation bytes of an integer that are read: more than 28 bits are never meant. */
const INTEGER_SHIFT_MAX = 21;

/** Reads the header blocks of one connection, in the order in which they come. Rule: RFC 7541. */
export class HpackDecoder {
  readonly #table: DynamicTable;
  /** What this end told the peer; a block may ask for less. */
  readonly #tableBytesMax: number;
  readonly #listBytesMax: number;
  #block: BorrowedBytes = new Uint8Array(0);
  #at = 0;
  #end = 0;

  /**
   * @param tableBytesMax SETTINGS_HEADER_TABLE_SIZE of this end.
   * @param listBytesMax Bytes of one decoded block as RFC 7541, section 4.1, counts them: a block of few bytes
   *   can name a large entry many times.
   */
  constructor(tableBytesMax: number, listBytesMax: number) {
    this.#table = new DynamicTable(tableBytesMax);
    this.#tableBytesMax = tableBytesMax;
    this.#listBytesMax = listBytesMax;
  }

  /** Goes up with every change of the table: while it stays, the same bytes mean the same headers. */
  get changeCount(): number {
    return this.#table.changeCount;
  }

  /**
   * Reads one whole block, which lies in `[begin, end)`.
   * @throws Http2Error COMPRESSION_ERROR when it is damaged, ENHANCE_YOUR_CALM when it is too large.
   */
  decode(block: BorrowedBytes, begin = 0, end: number = block.length): HeaderField[] {
    this.#block = block;
    this.#at = begin;
    this.#end = end;
    const fields: HeaderField[] = [];
    let bytes = 0;
    while (this.#at < this.#end) {
      const field = this.#readField(fields.length === 0);
      if (field === undefined) continue;
      bytes += sizeOf(field);
      if (bytes > this.#listBytesMax) {
        const what = `headers of more than ${this.#listBytesMax} bytes`;
        throw new Http2Error('ENHANCE_YOUR_CALM', what);
      }
      fields.push(field);
    }
    return fields;
  }

  /** The next header; undefined for a change of the table's size. */
  #readField(isFirst: boolean): HeaderField | undefined {
    const first = this.#block[this.#at] as number;
    if (first >= 0x80) return this.#entry(this.#readInteger(7));
    if (first >= 0x40) {
      const field = this.#readLiteral(6);
      this.#table.add(field);
      return field;
    }
    // Without indexing, and never indexed: the same for an end that does not pass headers on.
    if (first < 0x20) return this.#readLiteral(4);
    const bytesMax = this.#readInteger(5);
    if (!isFirst) throw damaged('a change of the table size behind a header');
    if (bytesMax > this.#tableBytesMax) {
      throw damaged(`a table of ${bytesMax} bytes where ${this.#tableBytesMax} are allowed`);
    }
    this.#table.resize(bytesMax);
    return undefined;
  }

  #readLiteral(prefixBits: number): HeaderField {
    const index = this.#readInteger(prefixBits);
    const name = index === 0 ? this.#readText() : this.#entry(index).name;
    return { name, value: this.#readText() };
  }

  #entry(index: number): HeaderField {
    const field = this.#table.get(index);
    if (index === 0 || field === undefined) throw damaged(`no header has index ${index}`);
    return field;
  }

  #readText(): string {
    const isHuffman = ((this.#block[this.#at] ?? 0) & 0x80) !== 0;
    const length = this.#readInteger(7);
    const begin = this.#at;
    const end = begin + length;
    if (end > this.#end) throw damaged('a text is longer than its block');
    this.#at = end;
    if (isHuffman) return decodeHuffman(this.#block, begin, end);
    return borrowedText(this.#block, 'latin1', begin, end);
  }

  /** An integer whose first bits stand in the lower bits of the next byte. Rule: RFC 7541, section 5.1. */
  #readInteger(prefixBits: number): number {
    const mask = (1 << prefixBits) - 1;
    let value = this.#readByte() & mask;
    if (value < mask) return value;
    for (let shift = 0; shift <= INTEGER_SHIFT_MAX; shift += 7) {
      const byte = this.#readByte();
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw damaged('an integer of more than 28 bits');
  }

  #readByte(): number {
    if (this.#at >= this.#end) throw damaged('a block ends in the middle of a header');
    const byte = this.#block[this.#at] as number;
    this.#at += 1;
    return byte;
  }
}

function damaged(what: string): Http2Error {
  return new Http2Error('COMPRESSION_ERROR', `damaged headers: ${what}`);
}
