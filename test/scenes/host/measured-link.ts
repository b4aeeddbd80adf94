import type { MeasuredLink } from '../../../loadgen-node/operate/doctor/link-findings.ts';
import { linkFacts } from '../../../loadgen-node/submission/system/facts-file.ts';
import type { LinkTestOutcome, NodeProbe } from '../../../shared/evidence/node-probe.ts';
import { machineAt } from '../../../shared/host/machine-source.ts';
import type { NicFacts } from '../../../shared/host/network-facts.ts';
import type { SystemFacts } from '../../../shared/host/system-facts.ts';
import { gatherSystemFacts } from '../../../shared/host/system-facts.ts';
import { directPath } from '../simulated-run/audit-facts.ts';
import { UNKNOWN_OS } from './machines.ts';

const MIB = 1024 ** 2;

const NOTHING_READ = gatherSystemFacts(
  machineAt('/nonexistent-machine', {
    ...UNKNOWN_OS,
    hostname: 'made-up',
    release: '6.1',
    threads: 8,
  }),
  [],
);

const CARD: NicFacts = {
  name: 'eth0',
  fabric: 'Ethernet',
  backing: 'hardware',
  madeOf: [],
  driver: 'mlx5_core',
  model: null,
  pciId: null,
  speedMbps: 10_000,
  duplex: 'full',
  mtu: 1500,
  linkState: 'up',
  addresses: [],
  hasRdma: false,
};

/** Differences from a good link of 10 Gbit/s and 1 ms. */
export interface LinkChange {
  readonly roundTripMs?: number;
  readonly sutWindowBytes?: number;
  readonly bufferBytes?: number | null;
  readonly toSut?: Partial<LinkTestOutcome>;
  readonly card?: Partial<NicFacts>;
  readonly sutCard?: Partial<NicFacts> | null;
  readonly isOneMachine?: boolean;
  readonly tcp?: Partial<NonNullable<MeasuredLink['tcp']>> | null;
  readonly probe?: Partial<NodeProbe>;
}

/** A link that was never there. */
export async function madeUpLink(change: LinkChange = {}): Promise<MeasuredLink> {
  const { roundTripMs = 1, sutWindowBytes: window = 16 * MIB, bufferBytes = 64 * MIB } = change;
  const { card = {}, sutCard = {}, isOneMachine = false, tcp = {} } = change;
  const ns = roundTripMs * 1e6;
  const loadgen = await machine('10.0.0.1/24', 'a', card);
  const sut =
    sutCard === null ? null : await machine('10.0.0.2/24', isOneMachine ? 'a' : 'b', sutCard);
  const ends = { localAddress: '10.0.0.1', remoteAddress: '10.0.0.2' };
  const probe: NodeProbe = {
    address: '10.0.0.2:50051',
    name: 'far',
    ...ends,
    tcpConnectNs: [ns, 1.1 * ns],
    nameRoundTripNs: [1.2 * ns, 1.3 * ns, 1.4 * ns],
    path: directPath(),
    identities: ['far'],
    description: {
      software: 'longhaul',
      softwareVersion: '0.1.0',
      components: [{ name: 'node', version: '20.20.2' }],
      protocolVersionMin: 1,
      protocolVersionMax: 1,
      benchmarks: ['null'],
      operatingSystem: 'Linux 6.1',
      bootId: 'b',
      streamWindowBytes: window,
      connectionWindowBytes: window,
    },
    system: sut === null ? null : { facts: sut, tuning: null },
    whyNoSystem: sut === null ? 'withheld' : null,
    ...change.probe,
  };
  const fromSut: LinkTestOutcome = {
    bitsPerSecond: 9.2e9,
    bytes: 1e9,
    loadgenBusyShare: 0.4,
    sutBusyShare: 0.4,
    whyMissing: null,
  };
  const buffers = { send: bufferBytes, receive: bufferBytes };
  const { localAddress, remoteAddress } = probe;
  return {
    probe,
    link: linkFacts({ localAddress, remoteAddress, dataConnections: 1 }, loadgen, sut),
    loadgen,
    loadgenWindowBytes: 16 * MIB,
    toSut: { ...fromSut, ...change.toSut },
    fromSut,
    tcp: tcp === null ? null : { pathMtu: 1500, retransmitted: 0, ...tcp },
    buffers: { loadgen: buffers, sut: buffers },
  };
}

async function machine(
  address: string,
  bootId: string,
  card: Partial<NicFacts>,
): Promise<SystemFacts> {
  const facts = await NOTHING_READ;
  const nic = { ...CARD, addresses: [address], ...card };
  return { ...facts, bootId, network: { congestionControl: 'cubic', interfaces: [nic] } };
}
