import { setTimeout as sleep } from 'node:timers/promises';
import { type DispatchSettings, probeNode, testLink } from '../../../qdl/index.ts';
import { splitAddress } from '../../../shared/domain/node-address.ts';
import type { LinkTestOutcome, NodeProbe } from '../../../shared/evidence/node-probe.ts';
import type { MachineSource } from '../../../shared/host/machine-source.ts';
import type { SystemFacts } from '../../../shared/host/system-facts.ts';
import type { TuningFacts } from '../../../shared/host/tuning-facts.ts';
import type { RunHost } from '../../run/host/host.ts';
import { linkFacts } from '../../submission/system/facts-file.ts';
import type { MeasuredLink, TcpInfo } from './link-findings.ts';

/** When, in a test, the kernel is asked for its connection: late enough that losses have come, early enough to be in it. */
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

function buffersOf(tuning: TuningFacts | null): MeasuredLink['buffers']['sut'] {
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
): Promise<TcpInfo | null> {
  const port = splitAddress(address)?.port;
  if (remoteAddress === null || port === undefined) return null;
  await sleep(waitMs);
  const host = remoteAddress.includes(':') ? `[${remoteAddress}]` : remoteAddress;
  const text = await source.output('ss', ['-tinHO', 'dst', `${host}:${port}`]);
  return text === null ? null : parseTcpInfo(text);
}

/**
 * Reads what `ss -tinHO` prints and takes the connection that has sent most: the one with the load. Null where there is
 * none. Source: ss(8) of iproute2.
 */
export function parseTcpInfo(text: string): TcpInfo | null {
  const lines = text.split('\n').filter((line) => /\bmss:\d+/.test(line));
  const sent = (line: string): number => Number(/\bbytes_sent:(\d+)/.exec(line)?.[1] ?? 0);
  const busiest = lines.reduce<string | null>(
    (best, line) => (best === null || sent(line) > sent(best) ? line : best),
    null,
  );
  if (busiest === null) return null;
  const pathMtu = Number(/\bpmtu:(\d+)/.exec(busiest)?.[1] ?? 0);
  return {
    pathMtu: pathMtu > 0 ? pathMtu : null,
    retransmitted: Number(/\bretrans:\d+\/(\d+)/.exec(busiest)?.[1] ?? 0),
  };
}
