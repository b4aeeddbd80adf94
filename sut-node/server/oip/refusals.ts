import { status } from '@grpc/grpc-js';
import { FAILURE_CODES } from '../../../shared/wire/responses-codec.ts';
import type { SampleFault } from '../../inference/batcher/waiting-sample.ts';
import { type ServerCallEnd, StreamRefusal } from '../limits/call-end.ts';

/** There is no such model here. */
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

/** A request whose sample failed. @param row Which one; undefined where there is no other. */
export function sampleFailed({ code, text }: SampleFault, row: number | undefined): StreamRefusal {
  const where = row === undefined ? '' : `sample ${row} of the request: `;
  return new StreamRefusal(CODE_OF_FAILURE[code] ?? status.INTERNAL, `${where}${text}`);
}

/** Longest text of a refusal: it travels in a header, and names of the peer's choice stand in it. */
const DETAILS_MAX = 1_000;

/** The status of a refusal, as short as a header must be. */
export function shortEndOf({ end }: StreamRefusal): ServerCallEnd {
  if (end.details.length <= DETAILS_MAX) return end;
  // Not amid a character: gRPC could not encode the half of one.
  const details = end.details.slice(0, DETAILS_MAX).replace(/[\uD800-\uDBFF]$/, '');
  return { code: end.code, details: `${details}...` };
}
