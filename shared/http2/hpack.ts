import { type BorrowedBytes, borrowedText } from '../base/bytes/borrowed-bytes.ts';
import { Http2Error } from './frames.ts';
import { decodeHuffman } from './huffman.ts';

/** A header as HPACK carries it: name and value as bytes, here as latin1 text. */
export interface HeaderField {
  readonly name: string;
  readonly value: string;
}

/**
 * Headers that both ends know, as `name` or `name=value`, by index from 1. Rule: RFC 7541, appendix
 * A.
 */
const STATIC_TABLE: readonly HeaderField[] = (
  ':authority|:method=GET|:method=POST|:path=/|:path=/index.html|:scheme=http|:scheme=https|' +
  ':status=200|:status=204|:status=206|:status=304|:status=400|:status=404|:status=500|' +
  'accept-charset|accept-encoding=gzip, deflate|accept-language|accept-ranges|accept|' +
  'access-control-allow-origin|age|allow|authorization|cache-control|content-disposition|' +
  'content-encoding|content-language|content-length|content-location|content-range|content-type|' +
  'cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|if-range|' +
  'if-unmodified-since|last-modified|link|location|max-forwards|proxy-authenticate|' +
  'proxy-authorization|range|referer|refresh|retry-after|server|set-cookie|' +
  'strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate'
)
  .split('|')
  .map((entry) => {
    const [name = '', value = ''] = entry.split('=');
    return { name, value };
  });

/** Bytes of an entry beyond its name and value. Rule: RFC 7541, section 4.1. */
const ENTRY_OVERHEAD_BYTES = 32;

/** Size of a header in a table and in a header list. Rule: RFC 7541, section 4.1. */
function sizeOf({ name, value }: HeaderField): number {
  return name.length + value.length + ENTRY_OVERHEAD_BYTES;
}

/** The dynamic table of one direction; its indices follow the static table's. */
class DynamicTable {
  /** Newest first. Short: a table of 4 KiB holds 128 entries at most. */
  readonly #entries: HeaderField[] = [];
  #bytes = 0;
  #bytesMax: number;
  #changeCount = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Version: grows with every change. While it is equal, an index means the same header. */
  get changeCount(): number {
    return this.#changeCount;
  }

  get bytesMax(): number {
    return this.#bytesMax;
  }

  /** Changes the size; evicts the oldest entries if necessary. */
  resize(bytesMax: number): void {
    this.#changeCount += 1;
    this.#bytesMax = bytesMax;
    this.#evict(0);
  }

  /** Adds an entry; one larger than the table empties it. */
  add(field: HeaderField): void {
    this.#changeCount += 1;
    const bytes = sizeOf(field);
    this.#evict(bytes);
    if (bytes > this.#bytesMax) return;
    this.#entries.unshift(field);
    this.#bytes += bytes;
  }

  /** Entry of an index from 1, static ones first; undefined if there is none. */
  get(index: number): HeaderField | undefined {
    return index <= STATIC_TABLE.length
      ? STATIC_TABLE[index - 1]
      : this.#entries[index - STATIC_TABLE.length - 1];
  }

  /** Index of a header, 0 if neither table has it. @param value Undefined: match the name only. */
  indexOf(name: string, value?: string): number {
    const isWanted = (entry: HeaderField): boolean =>
      entry.name === name && (value === undefined || entry.value === value);
    const known = STATIC_TABLE.findIndex(isWanted);
    if (known >= 0) return known + 1;
    const remembered = this.#entries.findIndex(isWanted);
    return remembered < 0 ? 0 : remembered + STATIC_TABLE.length + 1;
  }

  #evict(bytesNeeded: number): void {
    while (this.#entries.length > 0 && this.#bytes + bytesNeeded > this.#bytesMax) {
      this.#bytes -= sizeOf(this.#entries.pop() as HeaderField);
    }
  }
}

/**
 * Largest table of this end, even if the peer allows more: requests of one client have few headers.
 */
const TABLE_BYTES_MAX = 4096;

/**
 * Encodes the header blocks of one connection. The first block spells every header, later ones use
 * one byte each. No Huffman coding: it would save bytes only once per connection.
 */
export class HpackEncoder {
  // Defaults until the peer's settings arrive. Rule: RFC 9113, section 6.5.2.
  readonly #table: DynamicTable;
  readonly #tableBytesMax: number;
  /** Smallest and last table size since the last block; the next block must state both. */
  #smallestBytesMax: number | undefined;

  /**
   * @param tableBytesMax Size of the table; 0: blocks are independent and may be sent in any order.
   */
  constructor(tableBytesMax: number = TABLE_BYTES_MAX) {
    this.#table = new DynamicTable(tableBytesMax);
    this.#tableBytesMax = tableBytesMax;
    // A peer that allows less than before expects the size in the next block, even for an empty
    // table.
    if (tableBytesMax < TABLE_BYTES_MAX) this.#smallestBytesMax = tableBytesMax;
  }

  /** Version of the table: while it is equal, a block can be sent again. */
  get changeCount(): number {
    return this.#table.changeCount;
  }

  /** Sets the peer's SETTINGS_HEADER_TABLE_SIZE. */
  setPeerTableBytesMax(bytes: number): void {
    const bytesMax = Math.min(bytes, this.#tableBytesMax);
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

  /** Both sizes are stated if the table shrank and grew again. Rule: RFC 7541, section 4.2. */
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
    // A header larger than the table would empty it each time.
    const isKept = sizeOf(field) <= this.#table.bytesMax;
    const nameIndex = this.#table.indexOf(name);
    if (isKept) writeInteger(out, 0x40, 6, nameIndex);
    else writeInteger(out, 0x00, 4, nameIndex);
    if (nameIndex === 0) writeText(out, name);
    writeText(out, value);
    if (isKept) this.#table.add(field);
  }
}

/**
 * A header that neither end stores, to append to an encoder's block. Rule: RFC 7541, section 6.2.2.
 */
export function unindexedField({ name, value }: HeaderField): Buffer {
  const out: number[] = [0];
  writeText(out, name);
  writeText(out, value);
  return Buffer.from(out);
}

function writeText(out: number[], text: string): void {
  writeInteger(out, 0, 7, text.length);
  for (const byte of Buffer.from(text, 'latin1')) out.push(byte);
}

/**
 * @param form Upper bits of the first byte, which identify the representation. Rule: RFC 7541,
 * section 5.1.
 */
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

/** Largest shift of an integer's continuation bytes: no valid integer has more than 28 bits. */
const INTEGER_SHIFT_MAX = 21;

/** Decodes the header blocks of one connection, in order. Rule: RFC 7541. */
export class HpackDecoder {
  readonly #table: DynamicTable;
  /** Table size announced to the peer; a block may set a smaller one. */
  readonly #tableBytesMax: number;
  readonly #listBytesMax: number;
  #block: BorrowedBytes = new Uint8Array(0);
  #at = 0;
  #end = 0;

  /**
   * @param tableBytesMax SETTINGS_HEADER_TABLE_SIZE of this end.
   * @param listBytesMax Largest decoded block as RFC 7541, section 4.1, counts it: a short block
   * can refer to a large entry many times.
   */
  constructor(tableBytesMax: number, listBytesMax: number) {
    this.#table = new DynamicTable(tableBytesMax);
    this.#tableBytesMax = tableBytesMax;
    this.#listBytesMax = listBytesMax;
  }

  /** Version of the table: while it is equal, the same bytes mean the same headers. */
  get changeCount(): number {
    return this.#table.changeCount;
  }

  /**
   * Decodes one complete block in `[begin, end)`.
   * @throws Http2Error COMPRESSION_ERROR if it is malformed, ENHANCE_YOUR_CALM if it is too large.
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

  /** The next header; undefined for a table size update. */
  #readField(isFirst: boolean): HeaderField | undefined {
    const first = this.#block[this.#at] as number;
    if (first >= 0x80) return this.#entry(this.#readInteger(7));
    if (first >= 0x40) {
      const field = this.#readLiteral(6);
      this.#table.add(field);
      return field;
    }
    // Without indexing, and never indexed: equal for an end that does not forward headers.
    if (first < 0x20) return this.#readLiteral(4);
    const bytesMax = this.#readInteger(5);
    if (!isFirst) throw damaged('a table size update after a header');
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
    if (end > this.#end) throw damaged('a string is longer than its block');
    this.#at = end;
    if (isHuffman) return decodeHuffman(this.#block, begin, end);
    return borrowedText(this.#block, 'latin1', begin, end);
  }

  /** An integer that starts in the low bits of the next byte. Rule: RFC 7541, section 5.1. */
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
