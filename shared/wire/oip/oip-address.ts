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
