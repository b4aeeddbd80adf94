import { isIPv6 } from 'node:net';
import { protocolNamed } from '../../../qdl/protocols/index.ts';
import { at } from '../../../shared/base/at.ts';
import type { NicFacts } from '../../../shared/host/network-facts.ts';
import { bareAddress } from '../../../shared/host/network-facts.ts';
import type { SystemFacts } from '../../../shared/host/system-facts.ts';
import { isTodo } from '../tree/system-fields.ts';
import { type FactsFile, type LinkFacts, linkRateMbps } from './facts-file.ts';
import { networkRateText, nicModelText, present, todo } from './host-fields.ts';

/** Facts of the machine at one end of a link; null where it sent none. */
type EndMachine = SystemFacts | null;

/**
 * The 13 fields of the Network division: what OSI layers one to four of the links are. Source:
 * submission_rules, "In the Network division"; inference_rules v4.1, "System Topology".
 */
export function networkFields(
  { loadgen, sutNodes }: FactsFile,
  session: { readonly isTls: boolean },
): Record<string, string> {
  const links = sutNodes.map(({ link }) => link);
  const suts = sutNodes.map(({ gathered }) => gathered?.facts ?? null);
  const near = links.map((link): End => [link.loadgen.nics, loadgen.facts]);
  const far = links.map((link, i): End => [link.sut.nics, suts[i] ?? null]);
  const [local, remote] = [cardsOf(near), cardsOf(far)];
  const fabric = fabricText(near.flatMap((end, i) => [end, at(far, i)]));
  return {
    // The official checkers want the text, not the truth value.
    is_network: 'True',
    network_type: fabric,
    // No machine can see what a cable is made of; radio has no cable.
    network_media: /^(802\.11|3GPP)$/.test(fabric)
      ? 'Radio'
      : todo('what the links are made of, "Copper", "Fiber"'),
    network_rate: rateOf(links),
    nic_loadgen:
      local?.models ??
      todo(`card of the LoadGen node, "NVIDIA CX7"; ${whyNoCard(links, 'localAddress')}`),
    number_nic_loadgen: local?.count ?? todo('cards of the LoadGen node that carry queries, "1"'),
    net_software_stack_loadgen: stackOf([loadgen.facts]),
    network_protocol: protocolOf(links, fabric, session),
    number_connections: `${links.reduce((sum, link) => sum + link.dataConnections, 0)}`,
    nic_sut:
      remote?.models ??
      todo(`card of a SUT node, "NVIDIA CX7"; ${whyNoCard(links, 'remoteAddress')}`),
    number_nic_sut: remote?.count ?? todo('cards of all SUT nodes that carry queries, "1"'),
    net_software_stack_sut: stackOf(suts),
    network_topology: todo(
      `how LoadGen and the SUT nodes are connected, "Loadgen System connected to SUT through Switch and Load Balancer"`,
    ),
  };
}

/** Cards that a link goes through at one end, by name, and the machine that has them. */
type End = readonly [nics: readonly string[], machine: EndMachine];

function nicsAt([nics, machine]: End): NicFacts[] {
  return machine?.network.interfaces.filter(({ name }) => nics.includes(name)) ?? [];
}

/** Models and number of the cards of one side of the links; undefined where one end is unknown. */
function cardsOf(ends: readonly End[]) {
  const found = new Map<string, NicFacts>();
  for (const end of ends) {
    const [nics, machine] = end;
    if (nics.length === 0 || machine === null) return undefined;
    // Two nodes on one machine share its cards.
    const id = machine.bootId ?? ends.findIndex((one) => one[1] === machine);
    for (const nic of nicsAt(end)) found.set(`${id} ${nic.name}`, nic);
  }
  const models = new Set([...found.values()].map(nicModelText));
  return { models: [...models].join(' + '), count: `${found.size}` };
}

function whyNoCard(links: readonly LinkFacts[], end: 'localAddress' | 'remoteAddress'): string {
  if (links.some(({ isSameMachine }) => isSameMachine === true)) {
    return 'the link stayed within one machine';
  }
  const seen = present(links.map((link) => link[end]));
  if (seen.length === 0) return 'no connection came about';
  return `no card of the machine is known to have the address ${seen.join(', ')}`;
}

/** Fabric of all ends of all links. */
function fabricText(ends: readonly End[]): string {
  const fabrics = new Set(
    ends.map((end) => {
      const [only, ...others] = new Set(nicsAt(end).map(({ fabric }) => fabric));
      return others.length === 0 ? (only ?? null) : null;
    }),
  );
  const read = present([...fabrics]);
  if (fabrics.size === 1 && read.length === 1) return read.join();
  const seen =
    read.length === 0
      ? 'none could be read'
      : `only ${read.join(' and ')} could be read, and not at every end`;
  return todo(`fabric of the links, "Ethernet", "802.11", "InfiniBand" or "3GPP"; ${seen}`);
}

function rateOf(links: readonly LinkFacts[]): string {
  const rates = links.map(linkRateMbps).filter((rate) => rate !== null);
  if (rates.length === links.length && rates.length > 0) {
    return [...new Set(rates.map(networkRateText))].join(' and ');
  }
  const ends = links.flatMap(({ loadgen, sut }) => [
    { ...loadgen, what: 'the LoadGen node' },
    { ...sut, what: 'a SUT node' },
  ]);
  const texts = ends.map(
    ({ interface: name, speedMbps, what }) =>
      speedMbps && `${name} of ${what} has ${networkRateText(speedMbps)}`,
  );
  const seen = [...new Set(present(texts))].join(', ') || 'no card reports its rate';
  return todo(`rate of the links, "100G"; ${seen}`);
}

function protocolOf(
  links: readonly LinkFacts[],
  fabric: string,
  { isTls }: { readonly isTls: boolean },
): string {
  // Machines are described by SUT nodes, which speak longhaul's own protocol.
  const { transport } = protocolNamed().words.wire;
  const versions = new Set(
    links.map(({ remoteAddress }) => {
      if (remoteAddress === null) return null;
      return isIPv6(bareAddress(remoteAddress)) ? 'TCP/IPv6' : 'TCP/IPv4';
    }),
  );
  const read = present([...versions]);
  if (versions.has(null) || isTodo(fabric)) {
    const seen = read.length === 0 ? '' : `; read: gRPC over ${read.join(' and ')}`;
    return todo(`protocols of the links, "TCP/IPv4 over Ethernet"${seen}`);
  }
  const session = isTls ? `${transport} over TLS` : transport;
  return `${session} over ${read.sort().join(' and ')} over ${fabric}`;
}

/** Layers four to seven of the machines, from the kernel upwards. */
function stackOf(machines: readonly EndMachine[]): string {
  const texts = machines.map((facts) => (facts === null ? null : stackText(facts)));
  if (texts.includes(null)) return todo('network software, "Linux Kernel TCP stack v.XXX"');
  return [...new Set(texts)].join(' + ');
}

function stackText({ software, network }: SystemFacts): string | null {
  const { kernel, components } = software;
  if (kernel === null) return null;
  const layer = (what: string, name: string): string | null => {
    const component = components.find((one) => one.name === name);
    return component === undefined ? null : `${what} ${component.version}`;
  };
  const congestion = network.congestionControl;
  return present([
    `${kernel.replace(/^Linux /, 'Linux kernel TCP stack v')}${congestion === null ? '' : ` (${congestion})`}`,
    layer('HTTP/2 and gRPC of longhaul', 'longhaul'),
    layer('Node.js', 'node'),
    layer('control calls by grpc-js', '@grpc/grpc-js'),
  ]).join(', ');
}
