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
import { type LinkEnd, linkFacts, linkRateMbps } from '../../submission/system/facts-file.ts';
import { bytesText, type DoctorFinding, knownParts, subject } from './finding.ts';

/**
 * Point of a test, as a share of its duration, at which the kernel's connection data are read: late
 * enough for losses to occur, early enough to be within the test.
 */
const ASKED_AT = 0.7;

/** The LoadGen node's machine: access to it, and its facts, read before any load. */
export interface LoadgenEnd {
  readonly source: MachineSource;
  readonly facts: SystemFacts;
  readonly tuning: TuningFacts;
}

/**
 * Measures the link to a node under load, one direction after the other.
 * @param durationMs Duration of the load, per direction.
 * @throws MlperfError if the node does not answer
 */
export async function measureLink(
  address: string,
  settings: DispatchSettings,
  own: LoadgenEnd,
  durationMs: number,
  host: RunHost,
) {
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
  const { localAddress, remoteAddress, system } = probe;
  const ends = { localAddress, remoteAddress, dataConnections: 1 };
  return {
    probe,
    link: linkFacts(ends, own.facts, system?.facts ?? null),
    loadgen: own.facts,
    /** HTTP/2 receive window of this end, in bytes. */
    loadgenWindowBytes: settings.receiveWindowBytes,
    toSut,
    fromSut,
    /** Kernel data of the connection that sent load to the SUT. */
    tcp: toSut.bitsPerSecond === null ? null : tcp,
    /** Largest socket buffers, in bytes; null if unknown. */
    buffers: { loadgen: buffersOf(own.tuning), sut: buffersOf(system?.tuning ?? null) },
  };
}

/** A link with its measurements. */
export type MeasuredLink = Awaited<ReturnType<typeof measureLink>>;

function buffersOf(tuning: TuningFacts | null) {
  return { send: tuning?.tcpSendBytesMax ?? null, receive: tuning?.tcpReceiveBytesMax ?? null };
}

/** Kernel data of the node's connection that sent the most bytes; null without `ss` of iproute2. */
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
 * Parses output of `ss -tinHO`, and selects the connection that sent the most bytes: the one with
 * the load. Null without connections. Source: ss(8) of iproute2.
 */
export function parseTcpInfo(text: string) {
  const numberIn = (line: string, pattern: RegExp): number => Number(pattern.exec(line)?.[1] ?? 0);
  const sent = (line: string): number => numberIn(line, /\bbytes_sent:(\d+)/);
  const lines = text.split('\n').filter((line) => /\bmss:\d+/.test(line));
  const [busiest] = lines.sort((a, b) => sent(b) - sent(a));
  if (busiest === undefined) return null;
  return {
    /** Path MTU to the other end, in bytes. */
    pathMtu: numberIn(busiest, /\bpmtu:(\d+)/) || null,
    /** Retransmitted packets since the connection began. */
    retransmitted: numberIn(busiest, /\bretrans:\d+\/(\d+)/),
  };
}

/** Ratio of round trips from which a slow link or node counts as busy. */
const SPREAD = 3;
const SPREAD_NS = 500_000;

/** All findings about a link except its load: path, cards, packets, round trips. */
export function wayFindings(measured: MeasuredLink): DoctorFinding[] {
  const between = betweenFinding(measured.probe);
  if (measured.link.isSameMachine === true) {
    const way = subject('route', 'Way').warning(
      'within one machine (loopback, or one boot id): no network is measured',
      'measure from another machine; as a trial of settings it is fine',
    );
    return [way, between, roundTrip(measured)];
  }
  return [...cardFindings(measured), between, mtu(measured), roundTrip(measured)];
}

/**
 * Smallest round trip of a link in ns: of a TCP connect if measured, else of Name; null if unknown.
 */
export function linkRoundTripNs({ tcpConnectNs, nameRoundTripNs }: NodeProbe): number | null {
  return minimum(tcpConnectNs) ?? minimum(nameRoundTripNs);
}

/** Rate of a link's slower card in bit/s; null if unknown, or within one machine. */
export function cardRate({ link }: MeasuredLink): number | null {
  const both = linkRateMbps(link);
  const known = both ?? link.loadgen.speedMbps ?? link.sut.speedMbps;
  return known === null || link.isSameMachine === true ? null : known * 1e6;
}

function cardFindings({ link, loadgen, probe }: MeasuredLink): DoctorFinding[] {
  const { system, whyNoSystem } = probe;
  return [
    cardFinding('LoadGen node', 'nic-loadgen', link.loadgen, loadgen),
    system === null
      ? subject('nic-sut', 'Card of the SUT node').unknown(
          whyNoSystem ?? 'not reported by the node',
        )
      : cardFinding('SUT node', 'nic-sut', link.sut, system.facts),
  ];
}

function cardFinding(
  end: string,
  id: string,
  { interface: name, nics, speedMbps }: LinkEnd,
  facts: SystemFacts,
): DoctorFinding {
  const bitsPerSecond = speedMbps && speedMbps * 1e6;
  const about = subject(id, `Card of the ${end}`, { bitsPerSecond });
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
  return bitsPerSecond === null
    ? about.unknown(`${parts}: the driver reports no speed, as in most virtual machines`)
    : about.ok(`${parts}, ${formatRate(bitsPerSecond)}`);
}

function cardText({ driver, model, duplex }: NicFacts): string {
  const parts = [model, driver && `driver ${driver}`, duplex && `${duplex} duplex`];
  return knownParts(parts) || 'a card without known properties';
}

function mtu({ link, loadgen, probe, tcp }: MeasuredLink): DoctorFinding {
  const mtuOf = (facts: SystemFacts | undefined, name: string | null): number | null =>
    facts?.network.interfaces.find((nic) => nic.name === name)?.mtu ?? null;
  const own = mtuOf(loadgen, link.loadgen.interface);
  const theirs = mtuOf(probe.system?.facts, link.sut.interface);
  const path = tcp?.pathMtu ?? null;
  const about = subject('mtu', 'MTU', { loadgen: own, sut: theirs, path });
  if (own === null && path === null) return about.unknown('neither interface nor path reports it');
  const text = knownParts([
    own && `${own} here`,
    theirs && `${theirs} there`,
    path && `${path} on the way`,
  ]);
  const known = new Set([own, theirs, path].filter((value) => value !== null));
  const advice = 'give both ends, and all switches between, the same: sudo ip link set DEV mtu N';
  const why = ': packets of the larger size are dropped or cut';
  return about.okIf(known.size === 1, text, advice, why);
}

function roundTrip({ probe }: MeasuredLink): DoctorFinding {
  const { tcpConnectNs, nameRoundTripNs } = probe;
  const figures = {
    tcpConnectMinNs: minimum(tcpConnectNs),
    tcpConnectMedianNs: upperMedian(tcpConnectNs) ?? null,
    nameMinNs: minimum(nameRoundTripNs),
    nameMedianNs: upperMedian(nameRoundTripNs) ?? null,
  };
  const { tcpConnectMinNs: tcp, nameMinNs: least, nameMedianNs: middle } = figures;
  const about = subject('round-trip', 'Round trip', figures);
  if (least === null || middle === null) return about.unknown('the node answered no call');
  const connect = tcp === null ? 'no plain TCP connect' : `TCP connect ${formatNs(tcp)}`;
  const seen = `${connect} at least; Name over gRPC ${formatNs(least)} at least, ${formatNs(middle)} in the middle`;
  const isSteady = middle <= SPREAD * least || middle - least <= SPREAD_NS;
  const advice = 'round trips vary: link or node are busy now; look again when they are not';
  return about.okIf(isSteady, seen, advice);
}

/** A window or a buffer as text, with the rate that it allows. */
export function boundText(bytes: number, bitsPerSecond: number): string {
  const rate = Number.isFinite(bitsPerSecond)
    ? `, at most ${formatRate(bitsPerSecond)} at this round trip`
    : '';
  return `${bytesText(bytes)}${rate}`;
}

/** The smallest value; null without values. */
function minimum(values: readonly number[]): number | null {
  return values.length === 0 ? null : Math.min(...values);
}

const GO_DIRECTLY =
  "name the node by an address of its own: the pod's in a headless Service, without sidecar, proxy or port forwarding " +
  '(docs/operate.md)';

/**
 * Signs of proxies, load balancers and changed headers between LoadGen and a node, from one Name
 * call and some new connections.
 */
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
