import type { HeaderField } from '../hpack/static-table.ts';
import { decodeGrpcMessage, GRPC_STATUS, statusOfHttp } from './grpc-status.ts';

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
export function readResponseHead(fields: readonly HeaderField[]): ResponseHead {
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
