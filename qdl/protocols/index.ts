import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import type { AddressScheme, AddressSchemes } from '../../shared/config/address-scheme.ts';
import { hasScheme } from '../../shared/domain/node-address.ts';
import type { Protocol } from '../dispatch/protocol.ts';
import { SERVER_OPTIONS } from '../settings/server-options.ts';
import { NATIVE_PROTOCOL } from './native/native-protocol.ts';
import { OIP_PROTOCOL } from './oip/oip-protocol.ts';

export type {
  OpenedSamples,
  Preparation,
  RunToPrepare,
  SampleInput,
} from '../dispatch/preparation.ts';
export type {
  Protocol,
  ProtocolRunValues,
  ProtocolTraits,
  ProtocolWords,
} from '../dispatch/protocol.ts';
export type { ProbedFacts, ServerProbe } from '../dispatch/server-probe.ts';

/** longhaul's protocols; addresses without a scheme belong to the first. */
const OWN = [NATIVE_PROTOCOL, OIP_PROTOCOL] as const;

/** longhaul's protocols and those added by callers. */
const protocols: [Protocol, ...Protocol[]] = [...OWN];

const servers = (): readonly Protocol[] =>
  protocols.filter(({ traits }) => traits.peer === 'server');

/** Schemes of server addresses, for the help of settings. */
export function serverSchemes(): string {
  return servers()
    .map(({ scheme }) => `${scheme}://`)
    .join(', ');
}

/** Forms of server addresses, for the help of settings. */
export function serverAddresses(): string {
  return servers()
    .map(({ scheme, title }) => `${scheme}://host:port for servers of ${title}`)
    .join('; ');
}

/** Schemes of servers that can be probed. */
export function probedSchemes(): readonly string[] {
  return servers().flatMap(({ scheme, probe }) => (probe === undefined ? [] : [`${scheme}://`]));
}

/** Protocols' own settings, as flags of `longhaul run`. */
export const PROTOCOL_OPTIONS = {
  ...joined('options'),
  model: { ...SERVER_OPTIONS.model, help: `${serverSchemes()}: ${SERVER_OPTIONS.model.help}` },
};

/** Those of {@link PROTOCOL_OPTIONS} that also apply to verbs that only ask for names. */
export const SERVICE_OPTIONS = joined('nameOptions');

/** Intersection of the members of a union. */
type Each<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer A) => void
  ? A
  : never;

function joined<K extends 'options' | 'nameOptions'>(key: K): Each<(typeof OWN)[number][K]> {
  return Object.assign({}, ...OWN.map((one) => one[key])); // The type of all arguments joined.
}

/** All protocols that addresses and files may name. */
export function knownProtocols(): readonly Protocol[] {
  return protocols;
}

/** Schemes of RFC 3986 in lower case; `dns` is reserved for node names. */
const SCHEME = /^(?!dns$)[a-z][a-z\d+.-]*$/;

/**
 * Adds a protocol of the caller, for addresses with its scheme.
 * @returns A function that removes it.
 * @throws MlperfError `ERR_CONFIG_INVALID` for a name or scheme already taken, and for a malformed
 * scheme
 */
export function addProtocol(protocol: Protocol): () => void {
  const { name, scheme } = protocol;
  if (scheme === null || !SCHEME.test(scheme)) {
    throw configInvalid(
      `addProtocol: scheme ${JSON.stringify(scheme)} must be a word in lower case other than dns, for example "lines"`,
    );
  }
  const same = protocols.find((one) => one.name === name || one.scheme === scheme);
  if (same !== undefined) {
    throw configInvalid(
      `addProtocol: ${same.title} already has the name "${name}" or the scheme "${scheme}"; choose others`,
    );
  }
  protocols.push(protocol);
  return () => {
    protocols.splice(protocols.indexOf(protocol), 1);
  };
}

/**
 * The protocol of this name.
 * @param name Default: longhaul's own.
 * @throws RangeError for an unknown name
 */
export function protocolNamed(name: string = NATIVE_PROTOCOL.name): Protocol {
  const found = protocols.find((one) => one.name === name);
  if (found === undefined) throw new RangeError(`no protocol is called "${name}"`);
  return found;
}

/** The protocol of an address, by its scheme. */
export function protocolOf(address: string): Protocol {
  const found = protocols.find(({ scheme }) => scheme !== null && hasScheme(address, scheme));
  return found ?? protocols[0];
}

/** An address without the scheme of its protocol. */
export function withoutScheme(address: string): string {
  const { scheme } = protocolOf(address);
  return scheme === null ? address : address.slice(scheme.length + '://'.length);
}

/** Addresses of any protocol; all addresses of a list must have the same protocol. */
export const ANY_PROTOCOL: AddressSchemes = { known: addressSchemes, areTaken: true };

/** Addresses of SUT nodes without a scheme only. */
export const NO_SCHEME: AddressSchemes = { known: addressSchemes, areTaken: false };

/** The schemes of all protocols. */
export function addressSchemes(): readonly AddressScheme[] {
  return protocols.flatMap(({ scheme, title, addressWords }) => {
    if (scheme === null) return [];
    const words = {
      notHere: `speaks ${title}, this verb longhaul's own protocol only`,
      form: `must be ${scheme}://host:port for ${title}`,
      inPlaceOf: (target: string) => `, or ${scheme}://${target} for ${title}`,
      inPlaceOfHttp: '',
      ...addressWords,
    };
    return [{ scheme, ...words }];
  });
}
