import { status } from '@grpc/grpc-js';
import { FAILURE_CODES } from '../../../shared/wire/responses-codec.ts';
import type { SampleFault } from '../../inference/batcher/sut-model.ts';

/** How a stream ends: a gRPC status number and a sentence for people. */
export interface ServerCallEnd {
  readonly code: number;
  readonly details: string;
}

/** The end of a stream whose requests are all answered. */
export const STREAM_OK: ServerCallEnd = { code: status.OK, details: 'OK' };

/**
 * The end of a call with a compressed message but without the header grpc-encoding. A call with
 * this header was already refused. Rule: gRPC over HTTP/2, Compressed-Flag.
 */
export const COMPRESSED_MESSAGE: ServerCallEnd = {
  code: status.INTERNAL,
  details: 'a message is marked as compressed, but the call has no header grpc-encoding',
};

/** The end of a call that the peer ends inside a message. */
export const INCOMPLETE_MESSAGE: ServerCallEnd = {
  code: status.INTERNAL,
  details: 'the call ended inside a message',
};

/**
 * Thrown where a message cannot be accepted; ends only its stream, with the status. Not an
 * error of the node.
 */
export class StreamRefusal extends Error {
  readonly end: ServerCallEnd;

  constructor(code: number, details: string) {
    super(details);
    this.name = 'StreamRefusal';
    this.end = { code, details };
  }
}

/** The message breaks the protocol. */
export function invalidArgument(details: string): StreamRefusal {
  return new StreamRefusal(status.INVALID_ARGUMENT, details);
}

/** The node does not suit the peer, or cannot do what the peer requests. */
export function failedPrecondition(details: string): StreamRefusal {
  return new StreamRefusal(status.FAILED_PRECONDITION, details);
}

/** The peer sent more than it was granted, or there is no room for another stream. */
export function resourceExhausted(details: string): StreamRefusal {
  return new StreamRefusal(status.RESOURCE_EXHAUSTED, details);
}

/** The node does not serve now. */
export function unavailable(details: string): StreamRefusal {
  return new StreamRefusal(status.UNAVAILABLE, details);
}

/** The node does not have this model. */
export function notFound(details: string): StreamRefusal {
  return new StreamRefusal(status.NOT_FOUND, details);
}

/** FailureCode of a sample → gRPC's code; any other is the node's own fault. */
const CODE_OF_FAILURE: Readonly<Record<number, status>> = {
  [FAILURE_CODES['bad-sample']]: status.INVALID_ARGUMENT,
  [FAILURE_CODES.inference]: status.INTERNAL,
  [FAILURE_CODES.limit]: status.RESOURCE_EXHAUSTED,
  [FAILURE_CODES.draining]: status.UNAVAILABLE,
};

/** A request whose sample failed. @param row Place of the sample; undefined for a single one. */
export function sampleFailed({ code, text }: SampleFault, row: number | undefined): StreamRefusal {
  const where = row === undefined ? '' : `sample ${row} of the request: `;
  return new StreamRefusal(CODE_OF_FAILURE[code] ?? status.INTERNAL, `${where}${text}`);
}

/**
 * Longest text of a refusal: the text is sent in a header and can contain names from the peer.
 */
const DETAILS_MAX = 1_000;

/** The status of a refusal, as short as a header must be. */
export function shortEndOf({ end }: StreamRefusal): ServerCallEnd {
  if (end.details.length <= DETAILS_MAX) return end;
  // The cut must not split a character, because gRPC cannot encode half of one.
  const details = end.details.slice(0, DETAILS_MAX).replace(/[\uD800-\uDBFF]$/, '');
  return { code: end.code, details: `${details}...` };
}
