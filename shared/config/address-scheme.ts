import { splitAddress } from '../domain/node-address.ts';

const ADDRESS_MESSAGE = 'must be host:port, for example 10.0.0.2:50051 or [::1]:50051';
/** A node's address, as it should be. */
export const NODE_MESSAGE = `${ADDRESS_MESSAGE}, or dns:///name:port for all addresses of a name`;

/** A protocol whose addresses have a scheme, with what messages say of them. */
export interface AddressScheme {
  /** Before `://`. */
  readonly scheme: string;
  /** After an address of it where only addresses without a scheme are taken. */
  readonly notHere: string;
  /** After an address of it that is malformed. */
  readonly form: string;
  /** Use of it in place of a scheme that is unknown, with the comma before. @param target `host:port` */
  readonly inPlaceOf: (target: string) => string;
  /** Use of it in place of HTTP, with the semicolon before. */
  readonly inPlaceOfHttp: string;
  /** True for a protocol over HTTP. Default: it is over gRPC. */
  readonly isHttp?: boolean;
}

/** Schemes that an address may begin with. `areTaken`: then all addresses of a list must begin with it. */
export interface AddressSchemes {
  /** Asked when an address is read: a program may add some. */
  readonly known: () => readonly AddressScheme[];
  readonly areTaken: boolean;
}

/** Message for a wrong address, by the protocol that it seems to mean. @param taken Schemes that would be right. */
export function wrongAddress(value: string, taken: readonly AddressScheme[]): string {
  const [, scheme = '', rest = ''] = /^([a-z][a-z\d+.-]*):\/{1,3}(.*)$/i.exec(value) ?? [];
  const name = scheme.toLowerCase();
  // No port is repeated: that of HTTP is another than that of gRPC.
  if (/^(?:https?|wss?)$/.test(name)) {
    const others = taken.map(({ inPlaceOfHttp }) => inPlaceOfHttp).join('');
    const why = taken.some(({ isHttp }) => isHttp === true)
      ? 'does not say the protocol'
      : 'longhaul does not speak (no REST, no OpenAI API), only gRPC';
    return `is an address of HTTP, which ${why}: use host:port of a SUT node${others}`;
  }
  const [, meant = ''] = /^([a-z][a-z\d+.-]*)[:/]/i.exec(value) ?? [];
  const form = taken.find((one) => one.scheme === meant.toLowerCase())?.form;
  if (form !== undefined) return form;
  if (scheme === '' || name === 'dns') return NODE_MESSAGE;
  const address = rest.replace(/[/?#].*$/, '');
  const shown = isNodeAddress(address) ? address : 'host:port';
  const tls = name === 'grpcs' ? ', with --tls' : '';
  const others = taken.map(({ inPlaceOf }) => inPlaceOf(shown)).join('');
  return `has the scheme ${scheme}://, which longhaul does not know: use ${shown} for a SUT node of longhaul${others}${tls}`;
}

/** True for `host:port` with a port above 0. */
export function isNodeAddress(value: string): boolean {
  return (splitAddress(value)?.port ?? 0) > 0;
}
