import { constants, type IncomingHttpHeaders } from 'node:http2';
import { status } from '@grpc/grpc-js';
import type { ServerCallEnd } from '../limits/call-end.ts';

/** The headers of a call as node:http2 gives them. */
export interface CallHeaders {
  readonly headers: IncomingHttpHeaders;
  /** Names and values by turns: `headers` has one content-type, whatever was sent. */
  readonly rawHeaders: readonly string[];
}

/** Headers that no call of gRPC has. */
export interface CallFault extends ServerCallEnd {
  /** For clients that speak no gRPC. */
  readonly httpStatus: number;
}

const CONTENT_TYPE = /^application\/grpc(?:[+;]|$)/i;

/** Rule: gRPC over HTTP/2, TimeoutValue: at most 8 digits. */
const TIMEOUT = /^\d{1,8}[HMSmun]$/;

/** What is wrong with the headers of a call that claims to be gRPC, which grpc-js (1.14) serves all the same. */
export function formFault({ headers, rawHeaders }: CallHeaders): CallFault | undefined {
  const { ':method': method, 'grpc-timeout': timeout } = headers;
  if (method !== 'POST') {
    const details = `the method of a gRPC call is POST, not ${method}`;
    return fault(constants.HTTP_STATUS_METHOD_NOT_ALLOWED, details);
  }
  const types = contentTypes(rawHeaders);
  const strange = types.length === 0 ? 'missing' : types.find((type) => !CONTENT_TYPE.test(type));
  if (strange !== undefined) {
    const details = `the content-type of a gRPC call is application/grpc; this one is ${strange}`;
    return fault(constants.HTTP_STATUS_UNSUPPORTED_MEDIA_TYPE, details);
  }
  if (timeout !== undefined && !TIMEOUT.test(String(timeout))) {
    const details = `grpc-timeout is 1 to 8 digits and one of H, M, S, m, u, n, not "${timeout}"`;
    return fault(constants.HTTP_STATUS_BAD_REQUEST, details);
  }
  return undefined;
}

function contentTypes(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_value, i) => i % 2 === 1 && rawHeaders[i - 1] === 'content-type');
}

function fault(httpStatus: number, details: string): CallFault {
  return { code: status.INTERNAL, details, httpStatus };
}
