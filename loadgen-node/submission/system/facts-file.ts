import { isLoopback } from '../../../shared/domain/node-address.ts';
import type { NicFacts } from '../../../shared/host/network-facts.ts';
import { isAddress } from '../../../shared/host/network-facts.ts';
import type { SystemFacts } from '../../../shared/host/system-facts.ts';

/**
 * `NAME.facts.json` beside `NAME.json`: the machines of a system as `longhaul submission system describe` read
 * them.
 */
export interface FactsFile {
  /** Version of the form of the file. */
  readonly schemaVersion: 1;
  /** Version of longhaul that wrote the file. */
  readonly longhaulVersion: string;
  /** The machine on which the command ran: the LoadGen node, or with `--local` the only one. */
  readonly loadgen: GatheredFacts;
  /** The SUT nodes in the order of `--sut`; none with `--local`. */
  readonly sutNodes: readonly SutNodeFacts[];
}

/** Facts of a machine and when they were read. */
interface GatheredFacts {
  /** ISO 8601, by the clock of that machine. */
  readonly gatheredAt: string;
  readonly facts: SystemFacts;
}

/** One SUT node, its machine and the link to it. */
export interface SutNodeFacts {
  /** `host:port` as the LoadGen node reaches it. */
  readonly address: string;
  /** Its answer to Name; null without one. */
  readonly name: string | null;
  /** Null where the node sent none. */
  readonly gathered: GatheredFacts | null;
  /** Why there are no facts, in words; null where there are. */
  readonly whyMissing: string | null;
  readonly link: LinkFacts;
}

/** Path of the facts of a description: `systems/a.json` → `systems/a.facts.json`. */
export function factsPathOf(descriptionPath: string): string {
  return `${descriptionPath.replace(/\.json$/i, '')}.facts.json`;
}

/** Name of a SUT node, or where it is. */
export function nameOf({ name, address }: Pick<SutNodeFacts, 'name' | 'address'>): string {
  return name ?? address;
}

/** IP addresses of a connection's two ends, without ports; null where none came about. */
interface NodeConnection {
  readonly localAddress: string | null;
  readonly remoteAddress: string | null;
  /** TCP connections that carry queries to this node, by the settings of the QDL. */
  readonly dataConnections: number;
}

/** One end of a link. */
export interface LinkEnd {
  /** The interface that has the address. */
  readonly interface: string | null;
  /** The cards behind it: itself, or what a bond, bridge or VLAN is made of; none where it is software only. */
  readonly nics: readonly string[];
  /** Of the interface, in 10^6 bit/s; null where the kernel does not tell. */
  readonly speedMbps: number | null;
}

/** An end of a link that stays within one machine, or whose address no interface has. */
const NO_END: LinkEnd = { interface: null, nics: [], speedMbps: null };

/**
 * Which interfaces a link goes through, and whether both ends are one machine (equal boot id, or a
 * loopback address). @param sut Null where the node sent no facts.
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
    /** Unknown where an address is translated on the way. */
    sut: end(sut, remoteAddress),
    /** The QDL asks Name, Ready and Describe on one connection of their own. */
    controlConnections: 1,
    isSameMachine,
  };
}

/** The link from the LoadGen node to one SUT node, as far as the two machines can see it. */
export type LinkFacts = Readonly<ReturnType<typeof linkFacts>>;

function linkEnd(interfaces: readonly NicFacts[], address: string | null): LinkEnd {
  const end = interfaces.find(
    ({ addresses }) => address !== null && addresses.some((one) => isAddress(one, address)),
  );
  if (end === undefined) return NO_END;
  const cards = cardsBehind(end, interfaces);
  // Of a VLAN or a bridge some kernels tell no speed; over one card it is that card's.
  const speedMbps = end.speedMbps ?? (cards.length === 1 ? (cards[0]?.speedMbps ?? null) : null);
  return { interface: end.name, nics: cards.map(({ name }) => name), speedMbps };
}

/**
 * The cards that an interface is or is made of, each once. @param seen Names on the way: a loop
 * ends.
 */
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

/** True for what a submission counts as a network card: one of hardware, or of a hypervisor. */
export function isCard({ backing }: NicFacts): boolean {
  return backing === 'hardware' || backing === 'hypervisor';
}

/** The slower of the two ends, in 10^6 bit/s; null where one end is unknown. */
export function linkRateMbps({ loadgen, sut }: LinkFacts): number | null {
  if (loadgen.speedMbps === null || sut.speedMbps === null) return null;
  return Math.min(loadgen.speedMbps, sut.speedMbps);
}
