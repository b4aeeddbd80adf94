import { setTimeout as sleep } from 'node:timers/promises';
import { type DispatchSettings, probeNode, testLink } from '../../../qdl/index.ts';
import { asOneLine, formatNs, hostAndPort, upperMedian } from '../../../shared/base/text.ts';
import { splitAddress } from '../../../shared/domain/node-address.ts';
import type { LinkTestOutcome, NodeProbe } from '../../../shared/evidence/node-probe.ts';
import type { MachineSource } from '../../../shared/host/machine-source.ts';
import type { NicFacts } from '../../../shared/host/network-facts.ts';
import type { SystemFacts } from '../../../shared/host/system-facts.ts';
import type { TuningFacts } from '../../../shared/host/tuning-facts.ts';
import { pathSigns } from '../../run/audit/path-rules.ts';
import type { RunHost } from '../../run/host/host.ts';
import { formatRate } from '../../samples/bandwidth-formulas.ts';
import { type LinkFacts, linkFacts, linkRateMbps } from '../../submission/system/facts-file.ts';
import { bytesText, type DoctorFinding, knownParts, subject } from './finding.ts';

/**
 * When, in a test, the kernel is asked for its connection: late enough that losses have come, early
 * enough to be in it.
 */
const ASKED_AT = 0.7;

/** The LoadGen node's own machine: how to read it, and its facts, read before any load. */
export interface LoadgenEnd {
  readonly source: MachineSource;
  readonly facts: SystemFacts;
  readonly tuning: TuningFacts;
}

/**
 * Looks at the link to a node and sends load over it, one way after the other.
 * @param durationMs Of the load, each way.
 * @throws MlperfError when the node does not answer
 */
export async function measureLink(
  address: string,
  settings: DispatchSettings,
  own: LoadgenEnd,
  durationMs: number,
  host: RunHost,
): Promise<MeasuredLink> {
  const onStep = (what: string): void => host.progress?.(`SUT node ${address}`, what);
  onStep('asking');
  const probe = await probeNode(address, settings);
  onStep('load to the SUT');
  const [toSut, tcp] = await Promise.all([
    testLink(address, settings, 'to-sut', durationMs),
    tcpInfo(probe, address, own.source, ASKED_AT * durationMs),
  ]);
  onStep('load from the SUT');
  const fromSut: LinkTestOutcome =
    toSut.whyMissing === null ? await testLink(address, settings, 'from-sut', durationMs) : toSut;
  const ends = { localAddress: probe.localAddress, remoteAddress: probe.remoteAddress };
  const sut = probe.system;
  return {
    probe,
    link: linkFacts({ ...ends, dataConnections: 1 }, own.facts, sut?.facts ?? null),
    loadgen: own.facts,
    loadgenWindowBytes: settings.receiveWindowBytes,
    toSut,
    fromSut,
    tcp: toSut.bitsPerSecond === null ? null : tcp,
    buffers: {
      loadgen: buffersOf(own.tuning),
      sut: buffersOf(sut?.tuning ?? null),
    },
  };
}

interface BufferSizes {
  readonly send: number | null;
  readonly receive: number | null;
}

/** A link as it was found, with its tests. */
export interface MeasuredLink {
  readonly probe: NodeProbe;
  readonly link: LinkFacts;
  readonly loadgen: SystemFacts;
  /** HTTP/2 receive window of this end, in bytes. */
  readonly loadgenWindowBytes: number;
  readonly toSut: LinkTestOutcome;
  readonly fromSut: LinkTestOutcome;
  /** Of the connection that sent load to the SUT. */
  readonly tcp: { readonly pathMtu: number | null; readonly retransmitted: number } | null;
  /** Largest socket buffers, in bytes; null unknown. */
  readonly buffers: Readonly<Record<'loadgen' | 'sut', BufferSizes>>;
}

function buffersOf(tuning: TuningFacts | null) {
  return {
    send: tuning?.tcpSendBytesMax ?? null,
    receive: tuning?.tcpReceiveBytesMax ?? null,
  };
}

/** Of the connection to the node that has sent most; null without `ss` of iproute2. */
async function tcpInfo(
  { remoteAddress }: NodeProbe,
  address: string,
  source: MachineSource,
  waitMs: number,
) {
  const port = splitAddress(address)?.port;
  if (remoteAddress === null || port === undefined) return null;
  await sleep(waitMs);
  const text = await source.output('ss', ['-tinHO', 'dst', hostAndPort(remoteAddress, port)]);
  return text === null ? null : parseTcpInfo(text);
}

/**
 * Reads what `ss -tinHO` prints and takes the connection that has sent most: the one with the load.
 * Null where there is none. Source: ss(8) of iproute2.
 */
export function parseTcpInfo(text: string) {
  const lines = text.split('\n').filter((line) => /\bmss:\d+/.test(line));
  const sent = (line: string): number => Number(/\bbytes_sent:(\d+)/.exec(line)?.[1] ?? 0);
  const busiest = lines.reduce<string | null>(
    (best, line) => (best === null || sent(line) > sent(best) ? line : best),
    null,
  );
  if (busiest === null) return null;
  const pathMtu = Number(/\bpmtu:(\d+)/.exec(busiest)?.[1] ?? 0);
  return {
    /** Largest packet that goes through to the other end, in bytes. */
    pathMtu: pathMtu > 0 ? pathMtu : null,
    /** Packets that were sent again since the connection began. */
    retransmitted: Number(/\bretrans:\d+\/(\d+)/.exec(busiest)?.[1] ?? 0),
  };
}

/** Round trips that differ by so much, and are so slow, tell of a link or a node that is busy. */
const SPREAD = 3;
const SPREAD_NS = 500_000;

/** Everything about a link but its load: way, cards, packets, round trips. */
export function wayFindings(measured: MeasuredLink): DoctorFinding[] {
  const { link } = measured;
  if (link.isSameMachine === true) {
    return [
      subject('route', 'Way').warning(
        'within one machine (loopback, or one boot id): no network is measured',
        'measure from another machine; as a trial of settings it is fine',
      ),
      betweenFinding(measured.probe),
      roundTrip(measured),
    ];
  }
  return [
    ...cardFindings(measured),
    betweenFinding(measured.probe),
    mtu(measured),
    roundTrip(measured),
  ];
}

/** Smallest round trip of a link in ns: a TCP connect where there was one, else of Name; null unknown. */
export function linkRoundTripNs({ tcpConnectNs, nameRoundTripNs }: NodeProbe): number | null {
  return minimum(tcpConnectNs) ?? minimum(nameRoundTripNs);
}

/** Rate of the slower card of a link in bit/s; null unknown, or within one machine. */
export function cardRate({ link }: MeasuredLink): number | null {
  const both = linkRateMbps(link);
  const known = both ?? link.loadgen.speedMbps ?? link.sut.speedMbps;
  return known === null || link.isSameMachine === true ? null : known * 1e6;
}

function cardFindings({ link, loadgen, probe }: MeasuredLink): DoctorFinding[] {
  const sut = probe.system?.facts ?? null;
  return [
    cardFinding('LoadGen node', 'nic-loadgen', link.loadgen, loadgen),
    sut === null
      ? subject('nic-sut', 'Card of the SUT node').unknown(
          probe.whyNoSystem ?? 'not reported by the node',
        )
      : cardFinding('SUT node', 'nic-sut', link.sut, sut),
  ];
}

function cardFinding(
  end: string,
  id: string,
  { interface: name, nics, speedMbps }: LinkFacts['loadgen'],
  facts: SystemFacts,
): DoctorFinding {
  const about = subject(id, `Card of the ${end}`, {
    bitsPerSecond: speedMbps === null ? null : speedMbps * 1e6,
  });
  if (name === null) return about.unknown('no interface of it has the address that the link uses');
  const cards = facts.network.interfaces.filter((nic) => nics.includes(nic.name));
  const way = nics.length === 0 || nics[0] === name ? name : `${name} over ${nics.join(', ')}`;
  const parts = [way, ...cards.map(cardText)].join(', ');
  const half = cards.find(({ duplex }) => duplex === 'half');
  if (half !== undefined) {
    return about.error(
      `${parts}: half duplex, so queries and responses wait for each other`,
      `sudo ethtool -s ${half.name} autoneg on, and look at cable and switch port`,
    );
  }
  return speedMbps === null
    ? about.unknown(`${parts}: the driver reports no speed, as in most virtual machines`)
    : about.ok(`${parts}, ${formatRate(speedMbps * 1e6)}`);
}

function cardText({ driver, model, duplex }: NicFacts): string {
  const parts = [
    model,
    driver === null ? null : `driver ${driver}`,
    duplex === null ? null : `${duplex} duplex`,
  ];
  return knownParts(parts) || 'a card without known properties';
}

function mtu({ link, loadgen, probe, tcp }: MeasuredLink): DoctorFinding {
  const mtuOf = (facts: SystemFacts | undefined, name: string | null): number | null =>
    facts?.network.interfaces.find((nic) => nic.name === name)?.mtu ?? null;
  const own = mtuOf(loadgen, link.loadgen.interface);
  const theirs = mtuOf(probe.system?.facts, link.sut.interface);
  const path = tcp?.pathMtu ?? null;
  const about = subject('mtu', 'MTU', { loadgen: own, sut: theirs, path });
  if (own === null && path === null) return about.unknown('neither interface nor path tell it');
  const text = knownParts([
    own === null ? null : `${own} here`,
    theirs === null ? null : `${theirs} there`,
    path === null ? null : `${path} on the way`,
  ]);
  const known = [own, theirs, path].filter((value) => value !== null);
  return known.every((value) => value === known[0])
    ? about.ok(text)
    : about.warning(
        `${text}: packets of the larger size are dropped or cut`,
        'give both ends, and all switches between, the same: sudo ip link set DEV mtu N',
      );
}

function roundTrip({ probe }: MeasuredLink): DoctorFinding {
  const { tcpConnectNs, nameRoundTripNs } = probe;
  const least = minimum(nameRoundTripNs);
  const middle = upperMedian(nameRoundTripNs) ?? null;
  const tcp = minimum(tcpConnectNs);
  const figures = {
    tcpConnectMinNs: tcp,
    tcpConnectMedianNs: upperMedian(tcpConnectNs) ?? null,
    nameMinNs: least,
    nameMedianNs: middle,
  };
  const about = subject('round-trip', 'Round trip', figures);
  if (least === null || middle === null) return about.unknown('the node answered no call');
  const connect = tcp === null ? 'no plain TCP connect' : `TCP connect ${formatNs(tcp)}`;
  const seen = `${connect} at least; Name over gRPC ${formatNs(least)} at least, ${formatNs(middle)} in the middle`;
  return middle > SPREAD * least && middle - least > SPREAD_NS
    ? about.warning(
        seen,
        'round trips vary: link or node are busy now; look again when they are not',
      )
    : about.ok(seen);
}

/** A window or a buffer in words, with the rate that it allows. */
export function boundText(bytes: number, bitsPerSecond: number): string {
  const rate = Number.isFinite(bitsPerSecond)
    ? `, at most ${formatRate(bitsPerSecond)} at this round trip`
    : '';
  return `${bytesText(bytes)}${rate}`;
}

/** The smallest; null of none. */
function minimum(values: readonly number[]): number | null {
  return values.length === 0 ? null : Math.min(...values);
}

const GO_DIRECTLY =
  "name the node by an address of its own: the pod's in a headless Service, without sidecar, proxy or port forwarding " +
  '(docs/operate.md)';

/** Proxies, load balancers and changed headers between LoadGen and a node, seen by one call of Name and some new connections. */
export function betweenFinding({ path, identities }: NodeProbe): DoctorFinding {
  const about = subject('between', 'What stands between');
  if (identities.length > 1) {
    const seen = `${identities.length} SUT nodes answer at this address: a load balancer (ClusterIP, virtual IP, proxy)`;
    return about.error(seen, GO_DIRECTLY);
  }
  const signs = pathSigns(path);
  const text = asOneLine(signs.map((sign) => sign.text).join('; '));
  if (signs.some(({ kind }) => kind === 'repeated' || kind === 'compressed')) {
    return about.error(text, `switch that off there, or ${GO_DIRECTLY}`);
  }
  if (signs.some(({ kind }) => kind === 'proxy' || kind === 'address')) {
    return about.warning(text, GO_DIRECTLY);
  }
  return signs.length > 0
    ? about.unknown(text, 'install the same longhaul on both machines')
    : about.ok('direct: both ends have the same addresses and ports, and no header was added');
}
