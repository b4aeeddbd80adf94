import { isLoopback } from '../../../shared/domain/node-address.ts';
import type { NicFacts } from '../../../shared/host/network-facts.ts';
import { isAddress } from '../../../shared/host/network-facts.ts';
import type { SystemFacts } from '../../../shared/host/system-facts.ts';

/**
 * `NAME.facts.json` beside `NAME.json`: a system's machines as read by
 * `longhaul submission system describe`.
 */
export interface FactsFile {
  /** Format version of the file. */
  readonly schemaVersion: 1;
  /** Version of longhaul that wrote the file. */
  readonly longhaulVersion: string;
  /** The machine that ran the command: the LoadGen node, or with `--local` the only one. */
  readonly loadgen: GatheredFacts;
  /** The SUT nodes in the order of `--sut`; empty with `--local`. */
  readonly sutNodes: readonly SutNodeFacts[];
}

/** Facts of a machine and the time of reading. */
interface GatheredFacts {
  /** ISO 8601, by that machine's clock. */
  readonly gatheredAt: string;
  readonly facts: SystemFacts;
}

/** One SUT node, its machine and the link to it. */
export interface SutNodeFacts {
  /** `host:port` as used by the LoadGen node. */
  readonly address: string;
  /** Its answer to Name; null without one. */
  readonly name: string | null;
  /** Null if the node sent none. */
  readonly gathered: GatheredFacts | null;
  /** Why facts are missing; null if they are not. */
  readonly whyMissing: string | null;
  readonly link: LinkFacts;
}

/** Path of the facts of a description: `systems/a.json` → `systems/a.facts.json`. */
export function factsPathOf(descriptionPath: string): string {
  return `${descriptionPath.replace(/\.json$/i, '')}.facts.json`;
}

/** Name of a SUT node, or its address. */
export function nameOf({ name, address }: Pick<SutNodeFacts, 'name' | 'address'>): string {
  return name ?? address;
}

/** IP addresses of a connection's two ends, without ports; null if no connection was made. */
interface NodeConnection {
  readonly localAddress: string | null;
  readonly remoteAddress: string | null;
  /** TCP connections that carry queries to this node, by the QDL's settings. */
  readonly dataConnections: number;
}

/** One end of a link. */
export interface LinkEnd {
  /** Interface with the address. */
  readonly interface: string | null;
  /**
   * Network cards of the interface: itself, or the members of a bond, bridge or VLAN; empty if it
   * is only software.
   */
  readonly nics: readonly string[];
  /** Speed of the interface, in 10^6 bit/s; null if the kernel does not report it. */
  readonly speedMbps: number | null;
}

/** End of a link within one machine, or whose address no interface has. */
const NO_END: LinkEnd = { interface: null, nics: [], speedMbps: null };

/**
 * Interfaces of a link, and whether both ends are one machine (equal boot id, or a loopback
 * address). @param sut Null if the node sent no facts.
 */
export function linkFacts(
  connection: NodeConnection,
  loadgen: SystemFacts,
  sut: SystemFacts | null,
) {
  const { localAddress, remoteAddress } = connection;
  const bootIds = [loadgen.bootId, sut?.bootId ?? null];
  const isOneBoot = bootIds.includes(null) ? null : bootIds[0] === bootIds[1];
  const isSameMachine = remoteAddress !== null && isLoopback(remoteAddress) ? true : isOneBoot;
  const end = (facts: SystemFacts | null, address: string | null): LinkEnd =>
    // Traffic within a machine passes no network card, whichever card has the address.
    isSameMachine === true ? NO_END : linkEnd(facts?.network.interfaces ?? [], address);
  return {
    ...connection,
    loadgen: end(loadgen, localAddress),
    /** Unknown if the address is translated on the way. */
    sut: end(sut, remoteAddress),
    /** The QDL uses a separate connection for Name, Ready and Describe. */
    controlConnections: 1,
    isSameMachine,
  };
}

/** The link from the LoadGen node to one SUT node, as seen by the two machines. */
export type LinkFacts = Readonly<ReturnType<typeof linkFacts>>;

function linkEnd(interfaces: readonly NicFacts[], address: string | null): LinkEnd {
  const end = interfaces.find(
    ({ addresses }) => address !== null && addresses.some((one) => isAddress(one, address)),
  );
  if (end === undefined) return NO_END;
  const cards = cardsBehind(end, interfaces);
  // Some kernels report no speed for a VLAN or a bridge; with a single card it is that card's.
  const speedMbps = end.speedMbps ?? (cards.length === 1 ? (cards[0]?.speedMbps ?? null) : null);
  return { interface: end.name, nics: cards.map(({ name }) => name), speedMbps };
}

/** The distinct cards of an interface. @param seen Visited names, to end loops. */
function cardsBehind(
  one: NicFacts,
  all: readonly NicFacts[],
  seen: Set<string> = new Set(),
): NicFacts[] {
  if (seen.has(one.name)) return [];
  seen.add(one.name);
  if (isCard(one)) return [one];
  const below = all.filter(({ name }) => one.madeOf.includes(name));
  return below.flatMap((nic) => cardsBehind(nic, all, seen));
}

/** True for a network card by submission rules: hardware, or a hypervisor's device. */
export function isCard({ backing }: NicFacts): boolean {
  return backing === 'hardware' || backing === 'hypervisor';
}

/** The slower of the two ends, in 10^6 bit/s; null if one end is unknown. */
export function linkRateMbps({ loadgen, sut }: LinkFacts): number | null {
  if (loadgen.speedMbps === null || sut.speedMbps === null) return null;
  return Math.min(loadgen.speedMbps, sut.speedMbps);
}
