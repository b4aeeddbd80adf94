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

/** Events of a call, never called from inside a call to the connection. */
export interface CallEvents {
  /** The response headers came. */
  readonly onHead?: (call: GrpcCall, head: ResponseHead) => void;
  /**
   * One message of the server, without gRPC's 5-byte prefix. For a call with one response:
   * delivered when its status OK arrives.
   */
  readonly onMessage: (call: GrpcCall, message: BorrowedBytes) => void;
  /**
   * The call is over; called once, as the last event.
   * @param code gRPC status: 0 is OK, whatever the number of messages. UNAVAILABLE (14) for a
   * broken connection, gRPC's mapping for a reset by the peer, UNIMPLEMENTED (12) for a method that
   * the server lacks.
   */
  onEnd(call: GrpcCall, code: number, details: string): void;
  /**
   * The server gave up the connection and never processed the call, so it is safe to repeat: the
   * connection that took over sends it again. Replaces {@link onEnd}. Absent: the call ends as
   * UNAVAILABLE.
   */
  readonly onUnprocessed?: (call: GrpcCall) => void;
}

/**
 * Number of response messages of a call. `one`: deliver the message when the status arrives, as
 * every gRPC client does; a second message ends the call with INTERNAL.
 */
export type Answers = 'one' | 'many';

/** One gRPC call: unary, or a stream that stays open. */
export interface GrpcCall {
  /** Messages of the server that have begun. */
  readonly messageCount: number;
  /** Addresses of both ends of its connection; null without a connection. */
  readonly ends: SocketEnds | null;
  /** Number of `grpc-status` fields at the end of the response; the first one counts. */
  readonly statusCount: number;
  /** Bytes of messages with their prefixes that the socket has. */
  readonly sentBytes: number;
  /** Bytes of messages with their prefixes that wait for flow control or the socket. */
  readonly unsentBytes: number;
  /**
   * Sends one message, given in consecutive pieces; adds gRPC's prefix. The pieces must not change
   * until {@link ConnectionEvents.onWritten} has counted them. After {@link takeBackUnsent}, and on
   * a call that is over, only the socket still reads them: two writes at most, about 512 KiB each.
   * No effect after {@link end} and on a call that is over.
   */
  write(pieces: readonly Uint8Array[], bytes: number): void;
  /**
   * Sends messages that already have gRPC's prefixes, in consecutive pieces. The pieces must not
   * change until `onTaken`, called when the socket has taken them; it is never called if the call
   * ends before.
   */
  writeFramed(pieces: readonly Uint8Array[], bytes: number, onTaken: () => void): void;
  /**
   * Takes back the messages that no frame contains yet: they are never sent. A message already
   * begun is finished, from a copy. @returns How many were taken back: those written last.
   */
  takeBackUnsent(): number;
  /** Ends sending. Earlier messages go out first. */
  end(): void;
  /** Ends the call now: onEnd follows with CANCELLED (1). Bytes in no frame yet are dropped. */
  cancel(): void;
}

/** Events of a connection, never called from inside a call to it. */
export interface ConnectionEvents {
  /**
   * The socket took `bytes` of messages, prefixes included, or the peer gave room: {@link
   * GrpcCallConnection.hasRoom} or {@link GrpcCallConnection.takesCall} may be true again. Bytes of
   * calls that are over are not counted.
   */
  onWritten(bytes: number): void;
  /** The first response of a TCP connection has begun. @param own This end's view of the call. */
  onAccepted(own: OwnSide): void;
  /**
   * The server gave up a TCP connection by plan, and another one takes over: new calls go there,
   * calls already begun finish here. Calls that the server never processed are reported after this.
   */
  onHandOver?(reason: string): void;
  /**
   * A TCP connection takes no new calls, and none has taken over. Lost calls have already ended.
   * Not called for {@link GrpcCallConnection.close}.
   */
  onClosed(reason: string, end: ConnectionEnd): void;
}

/**
 * How a TCP connection ended. `lost`: closed or silent; the next call makes another. `given-up`: by
 * GOAWAY with an error, or by plan when no other can take over; open calls may still be answered.
 * `broken`: the server violated HTTP/2.
 */
export type ConnectionEnd = 'lost' | 'given-up' | 'broken';

/**
 * Carries gRPC calls by HTTP/2 over TCP or TLS, over one connection after another. Made by
 * `connectGrpc` (connect-grpc.ts).
 */
export interface GrpcCallConnection {
  /**
   * Resolves when the server's SETTINGS arrived.
   * @throws MlperfError `ERR_SUT_UNREACHABLE` with cause and remedy; `onClosed` is not called in
   * this case.
   */
  readonly ready: Promise<void>;
  /**
   * False while enough bytes wait for the socket or for flow control. A single message may be
   * larger.
   */
  readonly hasRoom: boolean;
  /**
   * False while the peer's limit of open calls is reached, or if the connection takes no calls any
   * more.
   */
  readonly takesCall: boolean;
  /** Calls that are not over, including those that wait for the peer. */
  readonly callCount: number;
  /**
   * Opens a call. Its headers go out with the first message, in one write. The call waits while the
   * peer's limit is reached; it ends with UNAVAILABLE if no connection can be made.
   * @param path `/package.Service/Method`.
   * @param answers Default: many.
   * @param traceparent Header of this call only, which links the server's spans to a trace (W3C
   * Trace Context). Default: none.
   */
  call(path: string, events: CallEvents, answers?: Answers, traceparent?: string): GrpcCall;
  /** Ends all calls (CANCELLED) and closes every socket. Resolves when they are closed. */
  close(): Promise<void>;
}

/** Ends a call with this status; the connection and its other calls continue. */
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

/** Rule: gRPC, doc/PROTOCOL-HTTP2.md, "Errors". Codes not listed are INTERNAL. */
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

/** Default of nginx' client_max_body_size, which counts all bytes of a stream. */
const BODY_BYTES_MAX: number = 1024 * 1024;

/** Text for people. @param sentBytes Bytes sent of the call. */
export function resetText(errorCode: number, sentBytes: number): string {
  const text = `the server reset the call (${errorName(errorCode)})`;
  // Bytes already under way arrive after the limit was reached, so the count is inexact.
  if (sentBytes < BODY_BYTES_MAX || sentBytes >= 2 * BODY_BYTES_MAX) return text;
  return `${text} after ${sentBytes} bytes of it; ${BODY_LIMIT}`;
}

/**
 * Text of a `grpc-message`: UTF-8, with bytes outside ASCII as `%XX`. Malformed input stays
 * unchanged.
 */
function decodeGrpcMessage(text: string): string {
  if (!text.includes('%')) return text;
  const plain = text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(plain, 'latin1').toString('utf8');
}

interface MadeBlock {
  readonly bytes: Buffer;
  /**
   * Version of the HPACK table before the block was encoded: the block can be sent again while the
   * version is the same.
   */
  readonly changeCount: number;
}

/** Settings to make and keep a connection. */
export interface Http2ConnectionSettings extends KeepaliveSettings {
  /** `host:port`. */
  readonly address: string;
  readonly security: ClientSecurity;
  readonly secrets: ClientSecrets;
  /** Peer named in errors. Default: a SUT node. */
  readonly expected?: ExpectedPeer | undefined;
  readonly request: RequestFields;
  /** Largest message that the server may send, bytes. */
  readonly messageBytesMax: number;
  /** Receive window of this end, for every stream and for the connection. */
  readonly receiveWindowBytes: number;
  /** Longest wait for TCP, TLS and the server's SETTINGS together, ms. */
  readonly connectTimeoutMs: number;
}

/** Constant header fields of all requests of a connection. */
export interface RequestFields {
  readonly scheme: 'http' | 'https';
  readonly authority: string;
  readonly userAgent: string;
  /** Further headers: the authorization token. */
  readonly more: readonly HeaderField[];
}

/**
 * Header blocks of requests: once the peer knows a method's headers, one block serves all its
 * calls.
 */
export class RequestHeads {
  readonly #encoder = new HpackEncoder();
  readonly #made = new Map<string, MadeBlock>();
  readonly #fields: RequestFields;

  constructor(fields: RequestFields) {
    this.#fields = fields;
  }

  /** Sets the peer's SETTINGS_HEADER_TABLE_SIZE. */
  setPeerTableBytesMax(bytes: number): void {
    this.#encoder.setPeerTableBytesMax(bytes);
  }

  /**
   * The block for the next HEADERS frame. Each block must be sent, in call order.
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

/** SETTINGS_HEADER_TABLE_SIZE of this end: HTTP/2's default, so it is not sent. */
const TABLE_BYTES = 4096;

/** SETTINGS_MAX_HEADER_LIST_SIZE of this end. */
const ANSWER_HEADER_BYTES_MAX: number = 64 * 1024;

/**
 * Largest frame that the server may send: larger than HTTP/2's default of 16 KiB, for less work per
 * byte.
 */
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

/** Cached blocks: headers, trailers, and those of another method. */
const KNOWN_MAX = 4;

/** Largest cached block: comparing a larger one would cost as much as decoding it. */
const KNOWN_BYTES_MAX = 256;

interface KnownBlock {
  readonly bytes: Uint8Array;
  /** Version of the HPACK table when the block was decoded; decoding left it unchanged. */
  readonly changeCount: number;
  readonly head: ResponseHead;
}

/**
 * Decodes response header blocks. Those of one method repeat byte for byte once both ends know the
 * headers. A block that did not change the table, read with the same table, means the same: it is
 * not decoded again.
 */
export class ResponseHeads {
  readonly #decoder = new HpackDecoder(TABLE_BYTES, ANSWER_HEADER_BYTES_MAX);
  readonly #known: KnownBlock[] = [];
  #next = 0;

  /**
   * Reads the block in `[begin, end)`; must get every block of the connection. @throws Http2Error
   * as the decoder.
   */
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

/** A decoded response header block: headers, trailers, or both in one. */
export interface ResponseHead {
  /** Undefined in trailers. */
  readonly httpStatus: number | undefined;
  readonly grpcStatus: number | undefined;
  readonly statusCount: number;
  readonly grpcMessage: string;
  readonly contentType: string | undefined;
  /** HTTP/2 violation in the block; undefined: none. */
  readonly fault: string | undefined;
  readonly fields: readonly HeaderField[];
}

/** gRPC status and message. */
export interface GrpcCallEnd {
  readonly code: number;
  readonly details: string;
}

/** The response headers that become evidence. */
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
 * Rule: RFC 9113, section 8.2.1. It also forbids a space at either end of a value; gRPC allows it
 * in `grpc-message`, and no reader misunderstands it.
 */
const NAME = /^[!-9;-@[-~]+$/;

/** Status of a call that ended without trailers. */
export const NO_STATUS: GrpcCallEnd = {
  code: status.UNKNOWN,
  details: 'the answer ended without grpc-status',
};

/** Decodes the fields of a header block. */
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

/** Status and message of a call whose last header block this is. */
export function callEndOf(head: ResponseHead): GrpcCallEnd {
  const { httpStatus, grpcStatus, grpcMessage, contentType } = head;
  if (grpcStatus !== undefined) return { code: grpcStatus, details: grpcMessage };
  if (httpStatus === undefined) return NO_STATUS;
  const type =
    contentType === undefined ? 'without content-type' : `with content-type ${contentType}`;
  const why = httpStatus === 413 ? `; ${BODY_LIMIT}` : '';
  const details = `HTTP status ${httpStatus} ${type} instead of a gRPC response${why}`;
  return { code: STATUS_OF_HTTP.get(httpStatus) ?? status.UNKNOWN, details };
}

function statusNumber(text: string): number {
  return /^\d{1,9}$/.test(text) ? Number(text) : status.UNKNOWN;
}

function faultOf(fields: readonly HeaderField[]): string | undefined {
  const firstPlain = fields.findIndex(({ name }) => !name.startsWith(':'));
  const pseudoCount = firstPlain < 0 ? fields.length : firstPlain;
  if (pseudoCount > 1) return `${pseudoCount} pseudo-headers; one is allowed`;
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
  if (name.startsWith(':')) return `${JSON.stringify(name)} after regular headers`;
  if (!NAME.test(name)) return `a header named ${JSON.stringify(name)}`;
  const forbidden = ['\0', '\r', '\n'].find((byte) => value.includes(byte));
  if (forbidden !== undefined) {
    return `${JSON.stringify(forbidden)} in the header ${name}, which HTTP/2 forbids`;
  }
  return FORBIDDEN.has(name) ? `the header ${name}, which HTTP/2 forbids` : undefined;
}
