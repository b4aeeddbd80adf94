import { type BorrowedBytes, copyOf } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import { type HeaderField, HpackDecoder, HpackEncoder } from '../hpack/hpack.ts';
import { decodeGrpcMessage, GRPC_STATUS, statusOfHttp } from './grpc-calls.ts';

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

/** SETTINGS_HEADER_TABLE_SIZE of this end: HTTP/2's default, so that it need not be said. */
const TABLE_BYTES = 4096;

/** Blocks that are known by their bytes: head, trailers, and those of another method. */
const KNOWN_MAX = 4;

/** Larger blocks are not known by their bytes: comparing them would cost as much as reading them. */
const KNOWN_BYTES_MAX = 256;

interface KnownBlock {
  readonly bytes: Uint8Array;
  /** State of the table that it was read with, and left as it was. */
  readonly changeCount: number;
  readonly head: ResponseHead;
}

/**
 * Reads the header blocks of the answers. Those of one method repeat byte for byte as soon as both ends know the
 * headers. A block that neither changed the table then nor finds it changed now means the same: it is not read again.
 */
export class ResponseHeads {
  readonly #decoder: HpackDecoder;
  readonly #known: KnownBlock[] = [];
  #next = 0;

  /** @param listBytesMax SETTINGS_MAX_HEADER_LIST_SIZE of this end. */
  constructor(listBytesMax: number) {
    this.#decoder = new HpackDecoder(TABLE_BYTES, listBytesMax);
  }

  /** The block in `[begin, end)`; every block of the connection must come by. @throws Http2Error as the decoder. */
  read(block: BorrowedBytes, begin: number, end: number): ResponseHead {
    const { changeCount } = this.#decoder;
    for (const known of this.#known) {
      if (known.changeCount === changeCount && isEqual(known.bytes, block, begin, end)) {
        return known.head;
      }
    }
    const head = readResponseHead(this.#decoder.decode(block, begin, end));
    const isRepeatable =
      this.#decoder.changeCount === changeCount && end - begin <= KNOWN_BYTES_MAX;
    if (isRepeatable) {
      this.#known[this.#next] = { bytes: copyOf(block, begin, end), changeCount, head };
      this.#next = (this.#next + 1) % KNOWN_MAX;
    }
    return head;
  }
}

function isEqual(bytes: Uint8Array, block: BorrowedBytes, begin: number, end: number): boolean {
  if (bytes.length !== end - begin) return false;
  for (let i = 0; i < bytes.length; i += 1) {
    if (bytes[i] !== block[begin + i]) return false;
  }
  return true;
}

/** A header block of an answer: its head, its trailers, or both in one. */
export interface ResponseHead {
  /** Undefined in trailers. */
  readonly httpStatus: number | undefined;
  /** gRPC's status; undefined where the block has none. */
  readonly grpcStatus: number | undefined;
  /** Text of the status, decoded. */
  readonly grpcMessage: string;
  readonly contentType: string | undefined;
  /** What is wrong with the block; undefined where it keeps to HTTP/2. */
  readonly fault: string | undefined;
  readonly fields: readonly HeaderField[];
}

/** gRPC's status, and its text. */
export interface GrpcCallEnd {
  readonly code: number;
  readonly details: string;
}

/** Headers that HTTP/2 forbids. Rule: RFC 9113, section 8.2.2. */
const FORBIDDEN: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/** How a call ends of which nobody says how it ended. */
export const NO_STATUS: GrpcCallEnd = {
  code: GRPC_STATUS.UNKNOWN,
  details: 'the answer ended without grpc-status',
};

/** What a header block says. */
function readResponseHead(fields: readonly HeaderField[]): ResponseHead {
  const firstOf = (wanted: string): string | undefined =>
    fields.find(({ name }) => name === wanted)?.value;
  const httpStatus = firstOf(':status');
  const grpcStatus = firstOf('grpc-status');
  return {
    httpStatus: httpStatus === undefined ? undefined : Number(httpStatus),
    grpcStatus: grpcStatus === undefined ? undefined : statusNumber(grpcStatus),
    grpcMessage: decodeGrpcMessage(firstOf('grpc-message') ?? ''),
    contentType: firstOf('content-type'),
    fault: faultOf(fields),
    fields,
  };
}

/** Status and text with which a call ends whose last header block this is. */
export function callEndOf(head: ResponseHead): GrpcCallEnd {
  const { httpStatus, grpcStatus, grpcMessage, contentType } = head;
  if (grpcStatus !== undefined) return { code: grpcStatus, details: grpcMessage };
  if (httpStatus === undefined) return NO_STATUS;
  const type = contentType === undefined ? 'without content-type' : `of ${contentType}`;
  const details = `HTTP status ${httpStatus} ${type} in place of an answer of gRPC`;
  return { code: statusOfHttp(httpStatus), details };
}

function statusNumber(text: string): number {
  return /^\d{1,9}$/.test(text) ? Number(text) : GRPC_STATUS.UNKNOWN;
}

function faultOf(fields: readonly HeaderField[]): string | undefined {
  const firstPlain = fields.findIndex(({ name }) => !name.startsWith(':'));
  const pseudoCount = firstPlain < 0 ? fields.length : firstPlain;
  if (pseudoCount > 1) return `${pseudoCount} headers that begin with a colon`;
  for (const [i, { name, value }] of fields.entries()) {
    const fault = i < pseudoCount ? pseudoFaultOf(name, value) : plainFaultOf(name);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function pseudoFaultOf(name: string, value: string): string | undefined {
  if (name !== ':status') return `the header ${name}`;
  return /^[1-9]\d\d$/.test(value) ? undefined : `:status ${value}`;
}

function plainFaultOf(name: string): string | undefined {
  if (name.startsWith(':')) return `${name} behind other headers`;
  if (name === '' || name !== name.toLowerCase()) return `a header named "${name}"`;
  return FORBIDDEN.has(name) ? `the header ${name}, which HTTP/2 forbids` : undefined;
}
