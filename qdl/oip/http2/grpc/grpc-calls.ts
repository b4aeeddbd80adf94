import type { BorrowedBytes } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import type { OwnSide } from '../../../../shared/evidence/call-path.ts';
import { ERROR_CODE } from '../frames/frames.ts';

/** What a call reports. No call comes from inside a call to the connection. */
export interface CallEvents {
  /** One message of the server, without gRPC's head. Of a call with one answer: when its status came, and it is OK. */
  readonly onMessage: (call: GrpcCall, message: BorrowedBytes) => void;
  /**
   * The call is over; called once, nothing comes after it.
   * @param code gRPC's status: 0 is OK, which says nothing about how many messages came. What the connection broke comes
   *   as UNAVAILABLE (14), what the peer reset as gRPC maps it, a server without the method as UNIMPLEMENTED (12).
   */
  onEnd(call: GrpcCall, code: number, details: string): void;
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
  /**
   * Sends one message, its pieces one behind the other; gRPC's head is added. The pieces must not change until
   * {@link ConnectionEvents.onWritten} has counted them; after {@link takeBackUnsent}, and on a call that is over, only the
   * socket still reads them: two writes at most, about 512 KiB each. Does nothing after {@link end} and on a call that
   * is over.
   */
  write(pieces: readonly Uint8Array[], bytes: number): void;
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

/** What a connection reports. No call comes from inside a call to it. */
export interface ConnectionEvents {
  /**
   * The socket took so many bytes of messages, gRPC's heads (5 bytes each) among them, or the peer gave room:
   * perhaps {@link GrpcCallConnection.hasRoom} or {@link GrpcCallConnection.takesCall} holds again. Bytes of calls that
   * ended before are not counted.
   */
  onWritten(bytes: number): void;
  /** The server's answer to the first call has begun: what this end knows of it. */
  onAccepted(own: OwnSide): void;
  /**
   * The server will take no new calls (GOAWAY) or the connection is gone; calls that are lost have ended before. Called
   * once at most, and not for {@link GrpcCallConnection.close}.
   */
  onClosed(reason: string): void;
}

/** One TCP or TLS connection that carries gRPC calls by HTTP/2. Made by `connectGrpc` (oip-connections.ts). */
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
   * Opens a call. It sends nothing before its first message, which goes out with the head in one write. Where the
   * peer takes no further call it waits; where the connection is gone it ends with UNAVAILABLE.
   * @param path `/package.Service/Method`.
   * @param answers Default: many.
   */
  call(path: string, events: CallEvents, answers?: Answers): GrpcCall;
  /** Ends all calls (CANCELLED) and the socket. Resolves when that is closed. */
  close(): Promise<void>;
}

/** gRPC's status numbers that this end gives by itself. */
export const GRPC_STATUS = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

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
  [400, GRPC_STATUS.INTERNAL],
  [401, GRPC_STATUS.UNAUTHENTICATED],
  [403, GRPC_STATUS.PERMISSION_DENIED],
  [404, GRPC_STATUS.UNIMPLEMENTED],
  [429, GRPC_STATUS.UNAVAILABLE],
  [502, GRPC_STATUS.UNAVAILABLE],
  [503, GRPC_STATUS.UNAVAILABLE],
  [504, GRPC_STATUS.UNAVAILABLE],
]);

/** Status of an answer that has none of gRPC's. */
export function statusOfHttp(httpStatus: number): number {
  return STATUS_OF_HTTP.get(httpStatus) ?? GRPC_STATUS.UNKNOWN;
}

/** Rule: gRPC, doc/PROTOCOL-HTTP2.md, "Errors". Codes that stand not here are INTERNAL. */
const STATUS_OF_RESET: ReadonlyMap<number, number> = new Map([
  [ERROR_CODE.REFUSED_STREAM, GRPC_STATUS.UNAVAILABLE],
  [ERROR_CODE.CANCEL, GRPC_STATUS.CANCELLED],
  [ERROR_CODE.ENHANCE_YOUR_CALM, GRPC_STATUS.RESOURCE_EXHAUSTED],
  [ERROR_CODE.INADEQUATE_SECURITY, GRPC_STATUS.PERMISSION_DENIED],
]);

/** Status of a call whose stream the peer reset. */
export function statusOfReset(errorCode: number): number {
  return STATUS_OF_RESET.get(errorCode) ?? GRPC_STATUS.INTERNAL;
}

/** Text of a `grpc-message`: bytes of UTF-8, those outside ASCII as `%XX`. What is not so stays as it is. */
export function decodeGrpcMessage(text: string): string {
  if (!text.includes('%')) return text;
  const plain = text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(plain, 'latin1').toString('utf8');
}
