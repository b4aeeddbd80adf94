/** A header as HPACK carries it: name and value as bytes, here as latin1 text. */
export interface HeaderField {
  readonly name: string;
  readonly value: string;
}

/** Headers that both ends know, by index from 1. Rule: RFC 7541, appendix A. */
const STATIC_TABLE: readonly HeaderField[] = [
  [':authority', ''],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  [':status', '200'],
  [':status', '204'],
  [':status', '206'],
  [':status', '304'],
  [':status', '400'],
  [':status', '404'],
  [':status', '500'],
  ['accept-charset', ''],
  ['accept-encoding', 'gzip, deflate'],
  ['accept-language', ''],
  ['accept-ranges', ''],
  ['accept', ''],
  ['access-control-allow-origin', ''],
  ['age', ''],
  ['allow', ''],
  ['authorization', ''],
  ['cache-control', ''],
  ['content-disposition', ''],
  ['content-encoding', ''],
  ['content-language', ''],
  ['content-length', ''],
  ['content-location', ''],
  ['content-range', ''],
  ['content-type', ''],
  ['cookie', ''],
  ['date', ''],
  ['etag', ''],
  ['expect', ''],
  ['expires', ''],
  ['from', ''],
  ['host', ''],
  ['if-match', ''],
  ['if-modified-since', ''],
  ['if-none-match', ''],
  ['if-range', ''],
  ['if-unmodified-since', ''],
  ['last-modified', ''],
  ['link', ''],
  ['location', ''],
  ['max-forwards', ''],
  ['proxy-authenticate', ''],
  ['proxy-authorization', ''],
  ['range', ''],
  ['referer', ''],
  ['refresh', ''],
  ['retry-after', ''],
  ['server', ''],
  ['set-cookie', ''],
  ['strict-transport-security', ''],
  ['transfer-encoding', ''],
  ['user-agent', ''],
  ['vary', ''],
  ['via', ''],
  ['www-authenticate', ''],
].map(([name, value]) => ({ name, value }) as HeaderField);

/** What an entry takes beyond its name and value. Rule: RFC 7541, section 4.1. */
const ENTRY_OVERHEAD_BYTES = 32;

/** Bytes of a table, and of a header list, that a header takes. Rule: RFC 7541, section 4.1. */
export function sizeOf({ name, value }: HeaderField): number {
  return name.length + value.length + ENTRY_OVERHEAD_BYTES;
}

/** The headers that one direction of a connection remembers, behind the static ones. */
export class DynamicTable {
  /** Newest first. Never long: a table of 4 KiB holds 128 entries at most. */
  readonly #entries: HeaderField[] = [];
  #bytes = 0;
  #bytesMax: number;
  #changeCount = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Goes up with every change: as long as it stays, an index means the same. */
  get changeCount(): number {
    return this.#changeCount;
  }

  get bytesMax(): number {
    return this.#bytesMax;
  }

  /** Changes the size; the oldest entries go where it is too small for all. */
  resize(bytesMax: number): void {
    this.#changeCount += 1;
    this.#bytesMax = bytesMax;
    this.#evict(0);
  }

  /** Adds an entry; one that is larger than the table empties it. */
  add(field: HeaderField): void {
    this.#changeCount += 1;
    const bytes = sizeOf(field);
    this.#evict(bytes);
    if (bytes > this.#bytesMax) return;
    this.#entries.unshift(field);
    this.#bytes += bytes;
  }

  /** Entry of an index from 1, static ones first; undefined where there is none. */
  get(index: number): HeaderField | undefined {
    return index <= STATIC_TABLE.length
      ? STATIC_TABLE[index - 1]
      : this.#entries[index - STATIC_TABLE.length - 1];
  }

  /** Index of a header, 0 where neither table has it. @param value Undefined: the name is enough. */
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
