import { HpackEncoder } from '../hpack/hpack-encoder.ts';
import type { HeaderField } from '../hpack/tables.ts';

interface MadeBlock {
  readonly bytes: Buffer;
  /** State of the table before it was made: it can be sent again as it is, unless making it changed the table. */
  readonly changeCount: number;
}

/** What is the same in the heads of all requests of a connection. */
export interface RequestFields {
  readonly scheme: 'http' | 'https';
  readonly authority: string;
  readonly userAgent: string;
  /** Further headers: the token. */
  readonly more: readonly HeaderField[];
}

/** Header blocks of requests: once a method's headers are known to the peer, one block serves all its calls. */
export class RequestHeads {
  readonly #encoder = new HpackEncoder();
  readonly #made = new Map<string, MadeBlock>();
  readonly #fields: RequestFields;

  constructor(fields: RequestFields) {
    this.#fields = fields;
  }

  /** SETTINGS_HEADER_TABLE_SIZE of the peer. */
  setPeerTableBytesMax(bytes: number): void {
    this.#encoder.setPeerTableBytesMax(bytes);
  }

  /** The block for the next HEADERS frame. Every one that is taken must be sent, in this order. */
  take(path: string): Buffer {
    const made = this.#made.get(path);
    const before = this.#encoder.changeCount;
    if (made !== undefined && made.changeCount === before) return made.bytes;
    const bytes = this.#encoder.encode(this.#headOf(path));
    this.#made.set(path, { bytes, changeCount: before });
    return bytes;
  }

  #headOf(path: string): readonly HeaderField[] {
    const { scheme, authority, userAgent, more } = this.#fields;
    return [
      { name: ':method', value: 'POST' },
      { name: ':scheme', value: scheme },
      { name: ':path', value: path },
      { name: ':authority', value: authority },
      { name: 'te', value: 'trailers' },
      { name: 'content-type', value: 'application/grpc' },
      { name: 'user-agent', value: userAgent },
      { name: 'grpc-accept-encoding', value: 'identity' },
      ...more,
    ];
  }
}
