import type { Protocol } from '../dispatch/protocol.ts';
import { NATIVE_PROTOCOL } from './native/native-protocol.ts';
import { OIP_PROTOCOL } from './oip/oip-protocol.ts';

export type { Protocol, ProtocolTraits } from '../dispatch/protocol.ts';

/** All protocols; the first one is that of addresses without a scheme. */
const protocols: Protocol[] = [NATIVE_PROTOCOL, OIP_PROTOCOL];

/** All protocols that addresses and files may name. */
export function knownProtocols(): readonly Protocol[] {
  return protocols;
}

/**
 * Adds a protocol of the caller.
 * @returns Takes it out again.
 * @throws RangeError for a name or scheme that another one has
 */
export function addProtocol(protocol: Protocol): () => void {
  const same = protocols.find(
    ({ name, scheme }) => name === protocol.name || scheme === protocol.scheme,
  );
  if (same !== undefined) {
    throw new RangeError(`protocol ${protocol.name}: ${same.name} has its name or scheme`);
  }
  protocols.push(protocol);
  return () => {
    protocols.splice(protocols.indexOf(protocol), 1);
  };
}

/**
 * The protocol with this name.
 * @param name Absent in files of older builds, all of longhaul's own.
 * @throws RangeError for a name that none has
 */
export function protocolNamed(name: string = NATIVE_PROTOCOL.name): Protocol {
  const found = protocols.find((one) => one.name === name);
  if (found === undefined) throw new RangeError(`no protocol is called "${name}"`);
  return found;
}

/** The protocol of an address, by its scheme; upper case is the same (RFC 3986, 3.1). */
export function protocolOf(address: string): Protocol | undefined {
  const [, scheme] = /^([a-z][a-z\d+.-]*):\/\/(?!\/)/i.exec(address) ?? [];
  const name = scheme?.toLowerCase() ?? null;
  return protocols.find((one) => one.scheme === name);
}
