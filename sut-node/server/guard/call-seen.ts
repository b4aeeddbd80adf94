import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Metadata } from '@grpc/grpc-js';
import type { CallSeen } from '../../../proto/gen/mlperf/network/v1/CallSeen.ts';
import { hostAndPort } from '../../../shared/base/text.ts';
import { keptHeaders, plainAddress } from '../../../shared/evidence/call-path.ts';
import type { ConnectionPeer } from './decoupled-socket.ts';

/**
 * Internal header between the gate and the handlers: the number of a call. grpc-js hides the
 * connection's address and half of the headers from a handler, but passes unknown headers.
 */
const CALL_KEY = 'longhaul-call';

/** Open calls, by number. */
const calls = new Map<string, CallSeen>();
let lastNumber = 0;

/**
 * Records the node's view of a call until it ends. Call before grpc-js sees the headers: one is
 * added, or replaced.
 */
export function lookAtCall(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  peer: ConnectionPeer,
): void {
  const seen = seenCall(headers, peer);
  lastNumber += 1;
  const number = `${lastNumber}`;
  headers[CALL_KEY] = number;
  calls.set(number, seen);
  stream.once('close', () => calls.delete(number));
}

/** A call as this end sees it. */
export function seenCall(headers: IncomingHttpHeaders, peer: ConnectionPeer): CallSeen {
  const { headers: kept, leftOut } = keptHeaders(Object.entries(headers));
  return {
    peerAddress: plainAddress(peer.remoteAddress ?? ''),
    peerPort: peer.remotePort ?? 0,
    nodeAddress: plainAddress(peer.localAddress ?? ''),
    nodePort: peer.localPort ?? 0,
    headers: kept,
    headersLeftOut: leftOut,
  };
}

/**
 * The node's view of a call; null if it was not recorded. @param metadata Metadata of the call,
 * from a handler.
 */
export function seenOf(metadata: Metadata): CallSeen | null {
  return calls.get(String(metadata.get(CALL_KEY)[0])) ?? null;
}

/**
 * The caller's address while the call is open: grpc-js does not know it for a connection that is no
 * socket (DecoupledSocket).
 */
export function callerOf(call: { readonly metadata: Metadata; getPeer(): string }): string {
  const seen = seenOf(call.metadata);
  return seen === null ? call.getPeer() : callerIn(seen);
}

/** The caller's address. */
export function callerIn({ peerAddress, peerPort }: CallSeen): string {
  return hostAndPort(peerAddress ?? '', peerPort ?? 0);
}
