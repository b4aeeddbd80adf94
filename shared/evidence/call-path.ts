import { isIPv6 } from 'node:net';
import { at } from '../base/at.ts';
import type { callPath, Evidence, header, socketEnds } from './evidence-schema.ts';

/** Headers that are kept of one call, and the characters of one. */
export const HEADERS_MAX = 32;
const HEADER_NAME_LENGTH_MAX = 64;
export const HEADER_VALUE_LENGTH_MAX = 128;

/** Headers whose values are not secret, and show what happened to a call. Of all others only the name is kept. */
const VALUES_TOLD: ReadonlySet<string> = new Set([
  'accept-encoding',
  'content-encoding',
  'content-type',
  'forwarded',
  'grpc-accept-encoding',
  'grpc-encoding',
  'grpc-timeout',
  'server',
  'te',
  'user-agent',
  'via',
  'x-envoy-attempt-count',
  'x-envoy-upstream-service-time',
  'x-forwarded-for',
  'x-forwarded-proto',
]);

/** A header of a call. */
export type HeaderEvidence = Evidence<typeof header>;

/** One end of a TCP connection as its socket has it: IP addresses and ports. */
export type SocketEnds = Evidence<typeof socketEnds>;

/** A call as both of its ends saw it: what shows whether something stands between them. */
export type CallPath = Evidence<typeof callPath>;

/** The LoadGen node's own view of a call. */
export type OwnSide = Pick<CallPath, 'loadgen' | 'responseHeaders'>;

/** Keeps headers in bounds and without secrets. Pseudo-headers, which begin with a colon, are left out. @returns `leftOut`: how many more there were. */
export function keptHeaders(headers: Iterable<readonly [name: string, value: unknown]>) {
  const kept: HeaderEvidence[] = [];
  let leftOut = 0;
  for (const [name, value] of headers) {
    if (name.startsWith(':')) continue;
    if (kept.length >= HEADERS_MAX) {
      leftOut += 1;
      continue;
    }
    const text = VALUES_TOLD.has(name) ? String(value) : '';
    kept.push({
      name: name.slice(0, HEADER_NAME_LENGTH_MAX),
      value: text.slice(0, HEADER_VALUE_LENGTH_MAX),
    });
  }
  return { headers: kept, leftOut };
}

/** An IP address in the one way in which two ends can compare it: without zone, an IPv4 address as such. */
export function plainAddress(address: string): string {
  const text = at(address.split('%'), 0).replace(/^::ffff:(?=\d+\.)/i, '');
  return isIPv6(text) ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text;
}
