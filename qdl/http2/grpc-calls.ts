import { status } from '@grpc/grpc-js';
import { type BorrowedBytes, copyOf } from '../../shared/base/bytes/borrowed-bytes.ts';
import { keptHeaders, type OwnSide, type SocketEnds } from '../../shared/evidence/call-path.ts';
import { ERROR_CODE, errorName } from '../../shared/http2/frames.ts';
import {
  type HeaderField,
  HpackDecoder,
  HpackEncoder,
  unindexedField,
} from '../../shared/http2/hpack.ts';
import type { KeepaliveSettings } from '../../shared/http2/keepalive.ts';
import { SETTING } from '../../shared/http2/outgoing.ts';
import type { ClientSecrets, ClientSecurity } from '../../shared/security/client-security.ts';
import { BODY_LIMIT, type ExpectedPeer } from '../../shared/security/connection-errors.ts';

/** Events of a call. No call comes from inside a call to the connection. */
export interface CallEvents {
  /** The head of the answer came. */
  readonly onHead?: (call: GrpcCall, head: ResponseHead) => void;
  /** One message of the server, without gRPC's head. Of a call with one answer: when its status came, and it is OK. */
  readonly onMessage: (call: GrpcCall, message: BorrowedBytes) => void;
  /**
   * The call is over; called once, as the last event.
   * @param code gRPC's status: 0 is OK, however many messages came. A broken connection is UNAVAILABLE (14), a reset by
   *   the peer as gRPC maps it, a server without the method UNIMPLEMENTED (12).
   */
  onEnd(call: GrpcCall, code: number, details: string): void;
  /**
   * The server handed the connection over and never processed the call, which may be made again: the connection that took
   * over takes it. In place of {@link onEnd}. Absent: the call ends as UNAVAILABLE.
   */
  readonly onUnprocessed?: (call: GrpcCall) => void;
}

/**
 * How many messages a call is answered with. `one`: as all clients of gRPC have it, the answer to a unary call is there when
 * its status is; a second message ends the call with INTERNAL.
 */
export type Answers = 'one' | 'many';

/** One gRPC call: unary, or a stream that stays open. */
export interface GrpcCall {
  /** Messages of the server that have begun. */
  readonly messageCount: number;
  /** Addresses of both ends of the connection that carries it; null while there is none. */
  readonly ends: SocketEnds | null;
  /** Times that the end of the answer had `grpc-status`; of more than one the first counts. */
  readonly statusCount: number;
  /** Bytes of messages, with gRPC's heads, that went into frames: the socket has them. */
  readonly sentBytes: number;
  /** Such bytes that wait, for the peer's windows or the socket. */
  readonly unsentBytes: number;
  /**
   * Sends one message, its pieces one behind the other; gRPC's head is added. The pieces must not change until
   * {@link ConnectionEvents.onWritten} has counted them; after {@link takeBackUnsent}, and on a call that is over, only the
   * socket still reads them: two writes at most, about 512 KiB each. No effect after {@link end} and on a call that
   * is over.
   */
  write(pieces: readonly Uint8Array[], bytes: number): void;
  /**
   * Sends messages that have gRPC's heads, in pieces one behind the other. They must not change until `onTaken`, which is
   * called when the socket has taken them, and never where the call ends before.
   */
  writeFramed(pieces: readonly Uint8Array[], bytes: number, onTaken: () => void): void;
  /**
   * Takes back the messages of which no byte is in a frame yet: they are never sent. Of one that has begun the rest goes
   * out, from a copy. @returns How many were taken back: those that were written last.
   */
  takeBackUnsent(): number;
  /** No more messages will come; what was written goes out first. */
  end(): void;
  /** Ends the call now: onEnd follows with CANCELLED (1). What is in no frame yet is dropped and never sent. */
  cancel(): void;
}

/** Events of a connection. No call comes from inside a call to it. */
export interface ConnectionEvents {
  /**
   * The socket took so many bytes of messages, gRPC's heads (5 bytes each) among them, or the peer gave room:
   * perhaps {@link GrpcCallConnection.hasRoom} or {@link GrpcCallConnection.takesCall} holds again. Bytes of calls that
   * ended before are not counted.
   */
  onWritten(bytes: number): void;
  /** The server's answer to the first call of a TCP connection has begun: what this end knows of it. */
  onAccepted(own: OwnSide): void;
  /**
   * The server gave up a TCP connection by plan, and another one takes over: new calls go there, and those that were begun
   * finish where they are. Calls that it never processed are told after this.
   */
  onHandOver?(reason: string): void;
  /** A TCP connection takes no new calls, and none has taken over. Calls that are lost have ended before. Not called for {@link GrpcCallConnection.close}. */
  onClosed(reason: string, end: ConnectionEnd): void;
}

/**
 * How a TCP connection ended. `lost`: closed or silent; the next call makes another. `given-up`: by GOAWAY with an error, or by
 * plan where no other can take over; calls that are open may still be answered. `broken`: the server broke HTTP/2.
 */
export type ConnectionEnd = 'lost' | 'given-up' | 'broken';

/** Carries gRPC calls by HTTP/2 over TCP or TLS, over one connection after the other. Made by `connectGrpc` (connect-grpc.ts). */
export interface GrpcCallConnection {
  /**
   * Resolves when the server's settings are there.
   * @throws MlperfError `ERR_SUT_UNREACHABLE` with cause and remedy; `onClosed` is not called then.
   */
  readonly ready: Promise<void>;
  /** False while enough bytes wait for the socket or for the peer's windows. A single message may be larger. */
  readonly hasRoom: boolean;
  /** False while the peer takes no further call (its limit of open calls), or no call at all any more. */
  readonly takesCall: boolean;
  /** Calls that are not over, those that wait for the peer among them. */
  readonly callCount: number;
  /**
   * Opens a call. Its head goes out with the first message, in one write. Where the
   * peer takes no further call it waits; where no connection can be made it ends with UNAVAILABLE.
   * @param path `/package.Service/Method`.
   * @param answers Default: many.
   * @param traceparent Header of this call alone, by which the server's spans join a trace (W3C Trace Context). Default: none.
   */
  call(path: string, events: CallEvents, answers?: Answers, traceparent?: string): GrpcCall;
  /** Ends all calls (CANCELLED) and every socket. Resolves when they are closed. */
  close(): Promise<void>;
}

/** A call ends with this status; the connection and its other calls go on. */
export class GrpcCallError extends Error {
  readonly code: number;

  constructor(code: number, details: string) {
    super(details);
    this.name = 'GrpcCallError';
    this.code = code;
  }
}

/** Rule: gRPC, doc/http-grpc-status-mapping.md. */
const STATUS_OF_HTTP: ReadonlyMap<number, number> = new Map([
  [400, status.INTERNAL],
  [401, status.UNAUTHENTICATED],
  [403, status.PERMISSION_DENIED],
  [404, status.UNIMPLEMENTED],
  [429, status.UNAVAILABLE],
  [502, status.UNAVAILABLE],
  [503, status.UNAVAILABLE],
  [504, status.UNAVAILABLE],
]);

/** Rule: gRPC, doc/PROTOCOL-HTTP2.md, "Errors". Codes that stand not here are INTERNAL. */
const STATUS_OF_RESET: ReadonlyMap<number, number> = new Map([
  [ERROR_CODE.REFUSED_STREAM, status.UNAVAILABLE],
  [ERROR_CODE.CANCEL, status.CANCELLED],
  [ERROR_CODE.ENHANCE_YOUR_CALM, status.RESOURCE_EXHAUSTED],
  [ERROR_CODE.INADEQUATE_SECURITY, status.PERMISSION_DENIED],
]);

/** Status of a call whose stream the peer reset. */
export function statusOfReset(errorCode: number): number {
  return STATUS_OF_RESET.get(errorCode) ?? status.INTERNAL;
}

/** nginx' default of client_max_body_size, which counts all bytes of a stream. */
const BODY_BYTES_MAX: number = 1024 * 1024;

/** For people. @param sentBytes Of the call. */
export function resetText(errorCode: number, sentBytes: number): string {
  const text = `the server reset the call (${errorName(errorCode)})`;
  // What is under way by then goes out behind it.
  if (sentBytes < BODY_BYTES_MAX || sentBytes >= 2 * BODY_BYTES_MAX) return text;
  return `${text} after ${sentBytes} bytes of it; ${BODY_LIMIT}`;
}

/** Text of a `grpc-message`: bytes of UTF-8, those outside ASCII as `%XX`. What is not so stays as it is. */
function decodeGrpcMessage(text: string): string {
  if (!text.includes('%')) return text;
  const plain = text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(plain, 'latin1').toString('utf8');
}

interface MadeBlock {
  readonly bytes: Buffer;
  /** State of the table before it was made: it can be sent again as it is, unless making it changed the table. */
  readonly changeCount: number;
}

/** How a connection is made and kept. */
export interface Http2ConnectionSettings extends KeepaliveSettings {
  /** `host:port`. */
  readonly address: string;
  readonly security: ClientSecurity;
  readonly secrets: ClientSecrets;
  /** Who should be there, in errors. Default: a SUT node. */
  readonly expected?: ExpectedPeer | undefined;
  readonly request: RequestFields;
  /** Largest message that the server may send. */
  readonly messageBytesMax: number;
  /** Window of this end for every stream and for the connection. */
  readonly receiveWindowBytes: number;
  /** Longest wait for TCP, TLS and the server's settings together, in ms. */
  readonly connectTimeoutMs: number;
}

/** Constant fields in the heads of all requests of a connection. */
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

  /**
   * The block for the next HEADERS frame. Every one that is taken must be sent, in this order.
   * @param traceparent Undefined: the call has none.
   */
  take(path: string, traceparent?: string): Buffer {
    const block = this.#blockOf(path);
    if (traceparent === undefined) return block;
    return Buffer.concat([block, unindexedField({ name: 'traceparent', value: traceparent })]);
  }

  #blockOf(path: string): Buffer {
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

/** SETTINGS_HEADER_TABLE_SIZE of this end: HTTP/2's default, so that it need not be sent. */
const TABLE_BYTES = 4096;

/** SETTINGS_MAX_HEADER_LIST_SIZE of this end. */
const ANSWER_HEADER_BYTES_MAX: number = 64 * 1024;

/** Largest frame that the server may send: larger than HTTP/2's 16 KiB, less work per byte. */
export const ANSWER_FRAME_BYTES_MAX: number = 256 * 1024;

/** SETTINGS of this end. */
export function ownSettings(receiveWindowBytes: number) {
  return [
    [SETTING.enablePush, 0],
    [SETTING.initialWindowSize, receiveWindowBytes],
    [SETTING.maxFrameSize, ANSWER_FRAME_BYTES_MAX],
    [SETTING.maxHeaderListSize, ANSWER_HEADER_BYTES_MAX],
  ] as const;
}

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
  readonly #decoder = new HpackDecoder(TABLE_BYTES, ANSWER_HEADER_BYTES_MAX);
  readonly #known: KnownBlock[] = [];
  #next = 0;

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
  readonly grpcStatus: number | undefined;
  readonly statusCount: number;
  readonly grpcMessage: string;
  readonly contentType: string | undefined;
  /** Breach of HTTP/2 in the block; undefined: none. */
  readonly fault: string | undefined;
  readonly fields: readonly HeaderField[];
}

/** gRPC's status, and its text. */
export interface GrpcCallEnd {
  readonly code: number;
  readonly details: string;
}

/** The headers of an answer that are kept as evidence. */
export function headersOf({ fields }: ResponseHead): OwnSide['responseHeaders'] {
  return keptHeaders(fields.map(({ name, value }) => [name, value] as const)).headers;
}

/** Headers that HTTP/2 forbids. Rule: RFC 9113, section 8.2.2. */
const FORBIDDEN: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Rule: RFC 9113, section 8.2.1. Of values it also forbids space at an end; gRPC lets `grpc-message` have it, and no reader
 * takes it for anything else.
 */
const NAME = /^[!-9;-@[-~]+$/;

/** Status of a call that ended without trailers. */
export const NO_STATUS: GrpcCallEnd = {
  code: status.UNKNOWN,
  details: 'the answer ended without grpc-status',
};

/** Reads the fields of a header block. */
function readResponseHead(fields: readonly HeaderField[]): ResponseHead {
  const firstOf = (wanted: string): string | undefined =>
    fields.find(({ name }) => name === wanted)?.value;
  const httpStatus = firstOf(':status');
  const grpcStatus = firstOf('grpc-status');
  return {
    httpStatus: httpStatus === undefined ? undefined : Number(httpStatus),
    grpcStatus: grpcStatus === undefined ? undefined : statusNumber(grpcStatus),
    statusCount: fields.filter(({ name }) => name === 'grpc-status').length,
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
  const why = httpStatus === 413 ? `; ${BODY_LIMIT}` : '';
  const details = `HTTP status ${httpStatus} ${type} in place of an answer of gRPC${why}`;
  return { code: STATUS_OF_HTTP.get(httpStatus) ?? status.UNKNOWN, details };
}

function statusNumber(text: string): number {
  return /^\d{1,9}$/.test(text) ? Number(text) : status.UNKNOWN;
}

function faultOf(fields: readonly HeaderField[]): string | undefined {
  const firstPlain = fields.findIndex(({ name }) => !name.startsWith(':'));
  const pseudoCount = firstPlain < 0 ? fields.length : firstPlain;
  if (pseudoCount > 1) return `${pseudoCount} headers that begin with a colon`;
  for (const [i, { name, value }] of fields.entries()) {
    const fault = i < pseudoCount ? pseudoFaultOf(name, value) : plainFaultOf(name, value);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function pseudoFaultOf(name: string, value: string): string | undefined {
  if (name !== ':status') return `the header ${name}`;
  return /^[1-9]\d\d$/.test(value) ? undefined : `:status ${value}`;
}

function plainFaultOf(name: string, value: string): string | undefined {
  if (name.startsWith(':')) return `${JSON.stringify(name)} behind other headers`;
  if (!NAME.test(name)) return `a header named ${JSON.stringify(name)}`;
  const forbidden = ['\0', '\r', '\n'].find((byte) => value.includes(byte));
  if (forbidden !== undefined) {
    return `${JSON.stringify(forbidden)} in the header ${name}, which HTTP/2 forbids`;
  }
  return FORBIDDEN.has(name) ? `the header ${name}, which HTTP/2 forbids` : undefined;
}
