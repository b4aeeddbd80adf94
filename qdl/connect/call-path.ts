import { isIP } from 'node:net';
import type { Metadata } from '@grpc/grpc-js';
import type { CallSeen__Output } from '../../proto/gen/mlperf/network/v1/CallSeen.ts';
import { asOneLine } from '../../shared/base/text/one-line.ts';
import {
  type CallPath,
  HEADER_VALUE_LENGTH_MAX,
  HEADERS_MAX,
  type HeaderEvidence,
  keptHeaders,
  type OwnSide,
  plainAddress,
  type SocketEnds,
} from '../../shared/evidence/call-path.ts';

/** Headers of an answer as they are kept. @param metadata As grpc-js gives it. */
export function responseHeadersOf(metadata: Metadata): readonly HeaderEvidence[] {
  return keptHeaders(Object.entries(metadata.getMap())).headers;
}

/** A call from both ends. What the node tells may be anything: it is held to the same bounds as our own. */
export function callPathOf(own: OwnSide, seen: CallSeen__Output | null): CallPath {
  if (seen === null) {
    return { ...own, sut: null, requestHeaders: null, requestHeadersLeftOut: 0 };
  }
  const told = seen.headers
    .slice(0, HEADERS_MAX)
    .map(({ name, value }) => [lineOf(name.toLowerCase()), lineOf(value)] as const);
  const { headers } = keptHeaders(told);
  return {
    ...own,
    sut: endsOf(seen),
    requestHeaders: headers,
    requestHeadersLeftOut: seen.headersLeftOut + seen.headers.length - told.length,
  };
}

/** No longer than a header may be, in one line. */
function lineOf(text: string): string {
  return asOneLine(text.slice(0, HEADER_VALUE_LENGTH_MAX));
}

function endsOf({
  peerAddress,
  peerPort,
  nodeAddress,
  nodePort,
}: CallSeen__Output): SocketEnds | null {
  if (isIP(peerAddress) === 0 || isIP(nodeAddress) === 0) return null;
  return {
    localAddress: plainAddress(nodeAddress),
    localPort: nodePort,
    remoteAddress: plainAddress(peerAddress),
    remotePort: peerPort,
  };
}
