import { ERROR_CODE } from '../frames/http2-error.ts';

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
