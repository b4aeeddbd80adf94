import { isIPv6, SocketAddress } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';

/**
 * Addresses of an interface that may be told, with their prefix length. IPv6 addresses that are made of the MAC
 * address would tell it: of those the prefix is left, and addresses of the link alone are left out.
 */
export function toldAddresses(infos: readonly NetworkInterfaceInfo[]): string[] {
  return infos
    .filter(({ internal, address }) => !internal && !isLinkLocal(address))
    .map(({ address, cidr }) => {
      const length = cidr?.split('/')[1] ?? (isIPv6(address) ? '128' : '32');
      return holdsMac(address) ? `${prefixOf(address)}/64` : `${address}/${length}`;
    });
}

/**
 * Whether an address of a connection is this one of an interface: for one of which the prefix alone is told,
 * whether the prefix is.
 * @param told As {@link toldAddresses} tells it.
 */
export function isAddress(told: string, address: string): boolean {
  const [own = '', length] = told.split('/');
  const plain = bareAddress(address);
  if (own === plain) return true;
  const isPrefix = isIPv6(own) && length === '64' && own.endsWith('::');
  return isPrefix && isIPv6(plain) && prefixOf(plain) === own;
}

/** Without the zone of IPv6, and IPv4 as such where it came over an IPv6 socket. */
export function bareAddress(address: string): string {
  return address.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
}

function isLinkLocal(address: string): boolean {
  return /^fe[89ab]/i.test(address);
}

/** The eight groups of an IPv6 address, four hexadecimal digits each. */
function groupsOf(address: string): string[] {
  const { address: short } = new SocketAddress({ address: bareAddress(address), family: 'ipv6' });
  const [head = '', tail] = short.split('::');
  const split = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [before, after] = [split(head), split(tail ?? '')];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  const groups = tail === undefined ? before : [...before, ...zeros, ...after];
  return groups.map((group) => group.padStart(4, '0'));
}

/** An interface id made of the MAC address has ff:fe in its middle. Source: RFC 4291, appendix A. */
function holdsMac(address: string): boolean {
  if (!isIPv6(address) || address.includes('.')) return false;
  const groups = groupsOf(address);
  return groups[5]?.endsWith('ff') === true && groups[6]?.startsWith('fe') === true;
}

function prefixOf(address: string): string {
  if (address.includes('.')) return address;
  const groups = groupsOf(address).slice(0, 4);
  return `${groups.map((group) => group.replace(/^0{1,3}/, '')).join(':')}::`;
}
