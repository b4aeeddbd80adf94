import { splitAddress } from '../domain/node-address.ts';

const ADDRESS_MESSAGE = 'must be host:port, for example 10.0.0.2:50051 or [::1]:50051';
/** Message for a malformed node address. */
export const NODE_MESSAGE = `${ADDRESS_MESSAGE}, or dns:///name:port for all addresses of a name`;

/** Address scheme of a protocol, with its texts for messages. */
export interface AddressScheme {
  /** The part before `://`. */
  readonly scheme: string;
  /** Text after such an address if only addresses without a scheme are allowed. */
  readonly notHere: string;
  /** Text after such an address if it is malformed. */
  readonly form: string;
  /** Suggestion after an unknown scheme, starting with a comma. @param target `host:port` */
  readonly inPlaceOf: (target: string) => string;
  /** Suggestion after an HTTP address, starting with a semicolon. */
  readonly inPlaceOfHttp: string;
  /** True for a protocol over HTTP. Default: it is over gRPC. */
  readonly isHttp?: boolean;
}

/** Schemes that an address may have. `areTaken`: all addresses of a list must have one of them. */
export interface AddressSchemes {
  /** Called when an address is read, since a program may add schemes. */
  readonly known: () => readonly AddressScheme[];
  readonly areTaken: boolean;
}

/**
 * Message for a wrong address, by the protocol that it seems to mean. @param taken Schemes that are
 * allowed.
 */
export function wrongAddress(value: string, taken: readonly AddressScheme[]): string {
  const [, scheme = '', rest = ''] = /^([a-z][a-z\d+.-]*):\/{1,3}(.*)$/i.exec(value) ?? [];
  const name = scheme.toLowerCase();
  // The port is not repeated: HTTP's port differs from gRPC's.
  if (/^(?:https?|wss?)$/.test(name)) {
    const others = taken.map(({ inPlaceOfHttp }) => inPlaceOfHttp).join('');
    const why = taken.some(({ isHttp }) => isHttp === true)
      ? 'does not name the protocol'
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
  return `has the scheme ${scheme}://, which is unknown: use ${shown} for a SUT node of longhaul${others}${tls}`;
}

/** True for `host:port` with a port above 0. */
export function isNodeAddress(value: string): boolean {
  return (splitAddress(value)?.port ?? 0) > 0;
}
