import type { DescribeResponse__Output } from '../../proto/gen/mlperf/network/v1/DescribeResponse.ts';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { NodeProbe, ProbedDescription } from '../../shared/evidence/node-probe.ts';
import { findConnectionEnds } from '../connect/connection-ends.ts';
import { measureTcpConnect, TCP_CONNECT_TIMEOUT_MS } from '../connect/tcp-connect.ts';
import type { DispatchSettings } from '../settings/dispatch-settings.ts';
import { ControlClient } from './node/control-client.ts';
import { askSystems, type NodeSystem } from './node-systems.ts';

const TCP_CONNECTS = 5;
const NAME_CALLS = 11;
const NEW_CONNECTIONS = 4;

/**
 * Looks at one node: round trips, what it says of itself and of its machine. No load; a run that goes on there is not
 * disturbed by more than the few calls.
 * @param settings Of them the connection's; the nodes are not used.
 * @throws MlperfError when the node does not answer Name
 */
export async function probeNode(address: string, settings: DispatchSettings): Promise<NodeProbe> {
  const client = new ControlClient(address, settings);
  try {
    // The first one connects, and is none of the round trips.
    const { name, identity, path } = await client.name();
    const nameRoundTripNs: number[] = [];
    for (let i = 0; i < NAME_CALLS; i += 1) nameRoundTripNs.push((await client.name()).roundTripNs);
    const tcpConnectNs = await tcpConnects(address);
    const description = await client.describe();
    const { localAddress, remoteAddress, system, whyMissing } = await systemOf(
      address,
      name,
      settings,
    );
    return {
      address,
      name,
      localAddress,
      remoteAddress,
      tcpConnectNs,
      nameRoundTripNs,
      path,
      identities: distinct([
        identity,
        description?.nodeIdentity ?? '',
        ...(await identitiesBeside(address, settings)),
      ]),
      description: description === undefined ? null : descriptionIn(description),
      system,
      whyNoSystem: whyMissing,
    };
  } finally {
    client.close();
  }
}

/**
 * Who answers on new connections: a load balancer shows itself where each may go to another node. One that fails is
 * left out: the node has answered before.
 */
async function identitiesBeside(address: string, settings: DispatchSettings): Promise<string[]> {
  const clients = Array.from(
    { length: NEW_CONNECTIONS },
    () => new ControlClient(address, settings),
  );
  try {
    const asked = await Promise.allSettled(clients.map((client) => client.name()));
    return asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value.identity] : []));
  } finally {
    for (const client of clients) client.close();
  }
}

/** Each once; a node of other make may have none. */
function distinct(identities: readonly string[]): string[] {
  return [...new Set(identities.filter((identity) => identity !== ''))];
}

async function tcpConnects(address: string): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < TCP_CONNECTS; i += 1) {
    const { connectNs } = await measureTcpConnect(address, TCP_CONNECT_TIMEOUT_MS);
    if (connectNs === null) break;
    times.push(connectNs);
  }
  return times;
}

/** A node in the middle of a run does not read its machine: that is no failure here. */
async function systemOf(
  address: string,
  name: string,
  settings: DispatchSettings,
): Promise<Pick<NodeSystem, 'localAddress' | 'remoteAddress' | 'system' | 'whyMissing'>> {
  try {
    const [system] = await askSystems({ ...settings, nodes: [address] }, [name]);
    if (system !== undefined) return system;
    throw new MlperfError('ERR_INTERNAL', 'one node was asked and none answered');
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    const ends = await findConnectionEnds(address, settings.callTimeoutMs);
    return { ...ends, system: null, whyMissing: error.message };
  }
}

function descriptionIn(answer: DescribeResponse__Output): ProbedDescription {
  const { host, limits } = answer;
  return {
    software: answer.software,
    softwareVersion: answer.softwareVersion,
    components: answer.components,
    protocolVersionMin: answer.protocolVersionMin,
    protocolVersionMax: answer.protocolVersionMax,
    benchmarks: [...new Set(answer.models.map(({ benchmark }) => benchmark))],
    operatingSystem: host?.operatingSystem ?? '',
    bootId: host?.bootId ?? '',
    streamWindowBytes: limits?.streamWindowBytes ?? 0,
    connectionWindowBytes: limits?.connectionWindowBytes ?? 0,
  };
}
