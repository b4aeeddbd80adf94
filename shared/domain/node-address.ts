import { lookup } from 'node:dns/promises';
import { isIPv4, isIPv6 } from 'node:net';
import { describeSystemError, sutUnreachable } from '../base/errors/mlperf-error.ts';

/** Longest name of a node, characters: it is logged in one line. Both ends refuse a longer one. */
export const NODE_NAME_LENGTH_MAX = 256;

/** A host (name, IPv4, or IPv6 in brackets) and a port. */
const ADDRESS_PATTERN = /^(\[[0-9a-fA-F:.]+\]|[^\s:,/]+):(\d{1,5})$/;

/** Splits `host:port`; undefined if malformed or the port is above 65535. */
export function splitAddress(address: string): { host: string; port: number } | undefined {
  const match = ADDRESS_PATTERN.exec(address);
  const port = Number(match?.[2]);
  if (match === null || port > 65_535) return undefined;
  return { host: (match[1] as string).replace(/^\[|\]$/g, ''), port };
}

/** True for `scheme://...`; upper case is the same. Rule: RFC 3986, 3.1. */
export function hasScheme(address: string, scheme: string): boolean {
  return address.slice(0, scheme.length + 3).toLowerCase() === `${scheme}://`;
}

const DNS_PREFIX = 'dns:///';

/**
 * Addresses for a text: itself, or for `dns:///name:port` one per machine behind the name,
 * ascending. If a name has IPv4 addresses, only those are used, since its IPv6 addresses lead to
 * the same machines.
 * @throws MlperfError `ERR_SUT_UNREACHABLE` for an unknown name
 */
export async function addressesBehind(address: string): Promise<readonly string[]> {
  if (!address.startsWith(DNS_PREFIX)) return [address];
  const target = address.slice(DNS_PREFIX.length);
  const colon = target.lastIndexOf(':');
  const name = target.slice(0, colon);
  const port = target.slice(colon + 1);
  let found: readonly { readonly address: string; readonly family: number }[];
  try {
    found = await lookup(name, { all: true });
  } catch (error) {
    const why = describeSystemError(error);
    throw sutUnreachable(`${address}: the name ${name} cannot be resolved (${why})`, error);
  }
  const hasIpv4 = found.some(({ family }) => family === 4);
  return found
    .filter(({ family }) => !hasIpv4 || family === 4)
    .map(({ address: ip, family }) => (family === 6 ? `[${ip}]:${port}` : `${ip}:${port}`))
    .sort();
}

/**
 * True for a host that only this machine can reach: `localhost`, 127.0.0.0/8, `::1`. Other names
 * are false, whatever they resolve to.
 */
export function isLoopback(host: string): boolean {
  const plain = host.toLowerCase().replace(/^\[|\]$/g, '');
  const mapped = plain.replace(/^::ffff:/, '');
  if (isIPv4(mapped)) return mapped.startsWith('127.');
  return plain === 'localhost' || (isIPv6(plain) && plain === '::1');
}
