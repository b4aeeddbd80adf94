import { isIPv6 } from 'node:net';
import { bareAddress } from '../../../shared/host/ip-addresses.ts';
import type { NicFacts, SystemFacts } from '../../../shared/host/system-facts.ts';
import type { FactsFile, LinkEnd, LinkFacts, SutNodeFacts } from './facts-file.ts';
import { isTodo, networkRateText, nicModelText, todo } from './field-text.ts';
import { linkRateMbps } from './link-facts.ts';

/** How the QDL speaks on its connections. */
export interface SessionFacts {
  readonly isTls: boolean;
}

/**
 * The 13 fields of the Network division: what OSI layers one to four of the links are. Source: submission_rules, "In the
 * Network division"; inference_rules v4.1, "System Topology".
 */
export function networkFields(file: FactsFile, session: SessionFacts): Record<string, string> {
  const { loadgen, sutNodes } = file;
  const links = sutNodes.map(({ link }) => link);
  const local = nicsOf(
    links.map((link) => link.loadgen),
    [loadgen.facts],
  );
  const fabric = fabricOf(file);
  return {
    // The official checkers want the text, not the truth value.
    is_network: 'True',
    network_type: fabric,
    network_media: media(fabric),
    network_rate: rateOf(links),
    nic_loadgen:
      local.text ?? todo(`card of the LoadGen node, "NVIDIA CX7"; ${whyNoCard(links, 'loadgen')}`),
    number_nic_loadgen: local.count ?? todo('cards of the LoadGen node that carry queries, "1"'),
    net_software_stack_loadgen: stackOf([loadgen.facts]),
    network_protocol: protocolOf(links, fabric, session),
    number_connections: `${links.reduce((sum, link) => sum + link.dataConnections, 0)}`,
    ...sutFields(sutNodes),
    network_topology: todo(
      `how LoadGen and the SUT nodes are connected, "Loadgen System connected to SUT through Switch and Load Balancer"`,
    ),
  };
}

function sutFields(nodes: readonly SutNodeFacts[]): Record<string, string> {
  const facts = nodes.map(({ gathered }) => gathered?.facts ?? null);
  const cards = nicsOf(
    nodes.map(({ link }) => link.sut),
    facts,
  );
  const links = nodes.map(({ link }) => link);
  return {
    nic_sut: cards.text ?? todo(`card of a SUT node, "NVIDIA CX7"; ${whyNoCard(links, 'sut')}`),
    number_nic_sut: cards.count ?? todo('cards of all SUT nodes that carry queries, "1"'),
    net_software_stack_sut: stackOf(facts),
  };
}

/** Cards of one side of the links. */
interface Cards {
  /** Models; null where one end is unknown. */
  readonly text: string | null;
  readonly count: string | null;
}

/**
 * @param ends One per link.
 * @param machines The machine of each end, or one for all of them.
 */
function nicsOf(ends: readonly LinkEnd[], machines: readonly (SystemFacts | null)[]): Cards {
  const found = new Map<string, NicFacts>();
  for (const [i, { nics }] of ends.entries()) {
    const index = machines.length === 1 ? 0 : i;
    const machine = machines[index];
    if (nics.length === 0 || machine === null || machine === undefined)
      return { text: null, count: null };
    for (const nic of machine.network.interfaces.filter(({ name }) => nics.includes(name))) {
      // Two nodes on one machine share its cards.
      found.set(`${machine.bootId ?? index} ${nic.name}`, nic);
    }
  }
  const models = [...new Set([...found.values()].map(nicModelText))];
  return { text: models.join(' + '), count: `${found.size}` };
}

function whyNoCard(links: readonly LinkFacts[], side: 'loadgen' | 'sut'): string {
  if (links.some(({ isSameMachine }) => isSameMachine === true)) {
    return 'the link stayed within one machine';
  }
  const key = side === 'loadgen' ? 'localAddress' : 'remoteAddress';
  const seen = links.map((link) => link[key]).filter((one) => one !== null);
  if (seen.length === 0) return 'no connection came about';
  return `no card of the machine is known to have the address ${seen.join(', ')}`;
}

/** Fabric of all ends of all links. */
function fabricOf({ loadgen, sutNodes }: FactsFile): string {
  const ends = sutNodes.flatMap(({ link, gathered }) => [
    fabricAt(loadgen.facts, link.loadgen),
    fabricAt(gathered?.facts ?? null, link.sut),
  ]);
  const fabrics = new Set(ends);
  const [only] = fabrics;
  if (fabrics.size === 1 && only !== undefined && only !== null) return only;
  const read = [...fabrics].filter((one) => one !== null).join(' and ');
  const seen =
    read === '' ? 'none could be read' : `only ${read} could be read, and not at every end`;
  return todo(`fabric of the links, "Ethernet", "802.11", "InfiniBand" or "3GPP"; ${seen}`);
}

function fabricAt(facts: SystemFacts | null, end: LinkEnd): NicFacts['fabric'] {
  const nics = facts?.network.interfaces.filter(({ name }) => end.nics.includes(name)) ?? [];
  const fabrics = new Set(nics.map(({ fabric }) => fabric));
  const [only = null] = fabrics;
  return fabrics.size === 1 ? only : null;
}

/** What a cable is made of no machine can see; of radio there is no cable. */
function media(fabric: string): string {
  if (fabric === '802.11' || fabric === '3GPP') return 'Radio';
  return todo('what the links are made of, "Copper", "Fiber"');
}

function rateOf(links: readonly LinkFacts[]): string {
  const rates = links.map(linkRateMbps);
  const known = rates.filter((rate) => rate !== null);
  if (known.length === rates.length && known.length > 0) {
    return [...new Set(known.map(networkRateText))].join(' and ');
  }
  const ends = links
    .flatMap(({ loadgen, sut }) => [
      loadgen.speedMbps === null
        ? ''
        : `${loadgen.interface} of the LoadGen node has ${networkRateText(loadgen.speedMbps)}`,
      sut.speedMbps === null
        ? ''
        : `${sut.interface} of a SUT node has ${networkRateText(sut.speedMbps)}`,
    ])
    .filter((text) => text !== '');
  const seen = ends.length === 0 ? 'no card tells its rate' : [...new Set(ends)].join(', ');
  return todo(`rate of the links, "100G"; ${seen}`);
}

function protocolOf(links: readonly LinkFacts[], fabric: string, { isTls }: SessionFacts): string {
  const versions = new Set(
    links.map(({ remoteAddress }) =>
      remoteAddress === null ? null : isIPv6(bareAddress(remoteAddress)) ? 'IPv6' : 'IPv4',
    ),
  );
  if (versions.has(null) || isTodo(fabric)) {
    const read = [...versions].filter((one) => one !== null).map((one) => `TCP/${one}`);
    return todo(
      `protocols of the links, "TCP/IPv4 over Ethernet"${read.length === 0 ? '' : `; read: gRPC over ${read.join(' and ')}`}`,
    );
  }
  const session = isTls ? 'gRPC over HTTP/2 over TLS over' : 'gRPC over HTTP/2 over';
  return `${session} TCP/${[...versions].sort().join(' and TCP/')} over ${fabric}`;
}

/** Layers four to seven of the machines, from the kernel upwards. */
function stackOf(machines: readonly (SystemFacts | null)[]): string {
  const texts = machines.map((facts) => (facts === null ? null : stackText(facts)));
  if (texts.includes(null)) return todo('network software, "Linux Kernel TCP stack v.XXX"');
  return [...new Set(texts)].join(' + ');
}

function stackText({ software, network }: SystemFacts): string | null {
  const { kernel, components } = software;
  if (kernel === null) return null;
  const versionOf = (name: string): string | undefined =>
    components.find((one) => one.name === name)?.version;
  const congestion = network.congestionControl;
  const parts = [
    `${kernel.replace(/^Linux /, 'Linux kernel TCP stack v')}${congestion === null ? '' : ` (${congestion})`}`,
    versionOf('node') === undefined ? '' : `HTTP/2 of Node.js ${versionOf('node')}`,
    versionOf('@grpc/grpc-js') === undefined ? '' : `gRPC of grpc-js ${versionOf('@grpc/grpc-js')}`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}
