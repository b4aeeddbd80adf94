/** Most characters of a node's name: it is printed and logged in one line. Both ends refuse a longer one. */
export const NODE_NAME_LENGTH_MAX = 256;

/** A host (name, IPv4, or IPv6 in brackets) and a port. */
const ADDRESS_PATTERN = /^(\[[0-9a-fA-F:.]+\]|[^\s:,/]+):(\d{1,5})$/;

/** Splits `host:port`; undefined when the text is not that or the port is above 65535. */
export function splitAddress(address: string): { host: string; port: number } | undefined {
  const match = ADDRESS_PATTERN.exec(address);
  const port = Number(match?.[2]);
  if (match === null || port > 65_535) return undefined;
  return { host: (match[1] as string).replace(/^\[|\]$/g, ''), port };
}

/** What stands before the address of a server that speaks the Open Inference Protocol. */
const OIP_SCHEME = 'oip://';

/** True for `oip://host:port`; of a scheme upper case is the same. Rule: RFC 3986, 3.1. */
export function isOipAddress(address: string): boolean {
  return address.slice(0, OIP_SCHEME.length).toLowerCase() === OIP_SCHEME;
}

/** The address behind the protocol, if one is said. */
export function withoutOipScheme(address: string): string {
  return isOipAddress(address) ? address.slice(OIP_SCHEME.length) : address;
}
