import { isIPv4, isIPv6 } from 'node:net';

/**
 * True for a host that no other machine can reach or be: `localhost`, 127.0.0.0/8, `::1`. A name other
 * than `localhost` is none, whatever it resolves to today.
 */
export function isLoopback(host: string): boolean {
  const plain = host.toLowerCase().replace(/^\[|\]$/g, '');
  const mapped = plain.replace(/^::ffff:/, '');
  if (isIPv4(mapped)) return mapped.startsWith('127.');
  return plain === 'localhost' || (isIPv6(plain) && plain === '::1');
}
