import { isIPv6 } from 'node:net';
import { at } from '../base/at.ts';
import type { callPath, Evidence, header, socketEnds } from './evidence-schema.ts';

/** Most headers kept of one call, and most characters of a header. */
export const HEADERS_MAX = 32;
const HEADER_NAME_LENGTH_MAX = 64;
export const HEADER_VALUE_LENGTH_MAX = 128;

/**
 * Headers whose values are public and show what happened to a call. Only the names of other headers
 * are kept.
 */
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

/** One end of a TCP connection: IP address and port of its socket. */
export type SocketEnds = Evidence<typeof socketEnds>;

/** A call as both ends saw it: it reveals anything between them. */
export type CallPath = Evidence<typeof callPath>;

/** The LoadGen node's view of a call. */
export type OwnSide = Pick<CallPath, 'loadgen' | 'responseHeaders'>;

/**
 * Limits headers and removes secrets. Pseudo-headers, which begin with a colon, are left out.
 * @returns `leftOut`: number of headers beyond the limit.
 */
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

/** An IP address in a comparable form: without zone, IPv4-mapped addresses as IPv4. */
export function plainAddress(address: string): string {
  const text = at(address.split('%'), 0).replace(/^::ffff:(?=\d+\.)/i, '');
  return isIPv6(text) ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text;
}
