import { setTimeout as sleep } from 'node:timers/promises';
import { type DispatchSettings, probeNode, testLink } from '../../../qdl/index.ts';
import { splitAddress } from '../../../shared/domain/node-address.ts';
import type { LinkTestOutcome, NodeProbe } from '../../../shared/evidence/node-probe.ts';
import type { MachineSource } from '../../../shared/host/machine-source.ts';
import type { SystemFacts } from '../../../shared/host/system-facts.ts';
import type { TuningFacts } from '../../../shared/host/tuning-facts.ts';
import type { RunHost } from '../../run/host/host.ts';
import { linkFacts } from '../../submission/system/facts-file.ts';
import type { MeasuredLink } from './link-findings.ts';
import { parseTcpInfo, type TcpInfo } from './tcp-info.ts';

/** When, in a test, the kernel is asked for its connection: late enough that losses have come, early enough to be in it. */
const ASKED_AT = 0.7;

/** What this end of the links is. */
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
