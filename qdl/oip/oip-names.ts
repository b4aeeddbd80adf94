import assert from 'node:assert';
import type { NameCall } from '../../shared/evidence/network-evidence.ts';
import type { NodeName } from '../connect/node-name.ts';
import { type Distinguish, NetworkNames } from '../dispatch/network-name.ts';
import type { DispatchSettings } from '../settings/dispatch-settings.ts';
import { OipControlClient } from './node/oip-control-client.ts';

/**
 * Names by which servers are told apart: their own where it is theirs alone, otherwise with the address as node key. Stock
 * servers of one fleet share a name, and nobody but their operator can change that.
 * Rule: inference_rules v4.1, Network division, "Each SUT Node must have a unique name".
 * @param note Told once per cause.
 */
export function distinguishByAddress(note: (text: string) => void): Distinguish {
  const told = new Set<string>();
  const tell = (text: string): void => {
    if (!told.has(text)) note(text);
    told.add(text);
  };
  return (names) => {
    const sharing = new Map<string, NodeName[]>();
    for (const one of names) sharing.set(one.name, [...(sharing.get(one.name) ?? []), one]);
    return names.map((one) => {
      const { name, address } = one;
      if (name.trim() === '') {
        tell(`the server at ${address} tells no name; it is known by its address`);
        return { ...one, name: address };
      }
      const others = sharing.get(name) as readonly NodeName[]; // It holds every name.
      if (others.length === 1) return one;
      const addresses = others.map((other) => other.address).join(', ');
      tell(
        `the servers at ${addresses} share the name "${name}"; the address was added to tell them apart`,
      );
      return { ...one, name: `${name} (${address})` };
    });
  };
}

/** As askNames, of nodes that speak the Open Inference Protocol. @param settings With `oip`. */
export async function askOipNames(settings: DispatchSettings): Promise<NameCall> {
  const { oip } = settings;
  assert(oip !== undefined, 'settings of the Open Inference Protocol are missing');
  const clients = settings.nodes.map((address) => new OipControlClient(address, settings, oip));
  const names = new NetworkNames(
    clients,
    settings.division,
    distinguishByAddress(() => {}),
  );
  try {
    await names.ask();
    return (await names.calls())[0] as NameCall; // There was one call.
  } finally {
    for (const client of clients) client.close();
  }
}
