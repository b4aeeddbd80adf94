import { type ServiceError, status } from '@grpc/grpc-js';
import { ZodError } from 'zod';
import type { DescribeResponse__Output } from '../../../proto/gen/mlperf/network/v1/DescribeResponse.ts';
import type { DescribeSystemResponse__Output } from '../../../proto/gen/mlperf/network/v1/DescribeSystemResponse.ts';
import {
  errorCodeOf,
  internalError,
  MlperfError,
  wireError,
} from '../../../shared/base/errors/mlperf-error.ts';
import type { NodeProbe, ProbedDescription } from '../../../shared/evidence/node-probe.ts';
import { fromWire } from '../../../shared/host/fact-kinds.ts';
import { systemFactsSchema } from '../../../shared/host/system-facts.ts';
import { tuningFactsSchema } from '../../../shared/host/tuning-facts.ts';
import { measureTcpConnect } from '../../connect/call-path.ts';
import type { DispatchSettings } from '../../settings/dispatch-settings.ts';
import { ControlClient } from './node/control-client.ts';

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
    // The first call connects, and does not count as a round trip.
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
    const { connectNs } = await measureTcpConnect(address);
    if (connectNs === null) break;
    times.push(connectNs);
  }
  return times;
}

/** A node in the middle of a run does not read its machine: that is no failure here. */
async function systemOf(address: string, name: string, settings: DispatchSettings) {
  try {
    const [system] = await askSystems({ ...settings, nodes: [address] }, [name]);
    if (system !== undefined) return system;
    throw internalError('the node asked did not answer');
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    const { localAddress, remoteAddress } = await measureTcpConnect(
      address,
      settings.callTimeoutMs,
    );
    return { localAddress, remoteAddress, system: null, whyMissing: error.message };
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

/** A node reads its machine with all tools that it has before it answers. */
const DESCRIBE_TIMEOUT_MS = 30_000;

/**
 * Asks the nodes what machines they run on, all at once. A node that is older than the question, or whose operator
 * does not want it told, is no error.
 * @param names As the nodes answered Name, in the order of the settings.
 * @throws MlperfError of the first node that does not answer, is in the middle of a run (`ERR_SUT_REFUSED`), or
 *   answers with what cannot be (`ERR_WIRE_PROTOCOL`)
 */
export async function askSystems(
  settings: DispatchSettings,
  names: readonly (string | null)[],
): Promise<Awaited<ReturnType<typeof askSystem>>[]> {
  const clients = settings.nodes.map((address) => new ControlClient(address, settings));
  try {
    const asked = clients.map((client, i) => askSystem(client, names[i] ?? '', settings));
    // All of them, so that no call outlives its connection.
    await Promise.allSettled(asked);
    return await Promise.all(asked);
  } finally {
    for (const client of clients) client.close();
  }
}

async function askSystem(client: ControlClient, name: string, { callTimeoutMs }: DispatchSettings) {
  const { address } = client;
  const { localAddress, remoteAddress } = await measureTcpConnect(address, callTimeoutMs);
  const node = { localAddress, remoteAddress, address, name };
  const answer = await answerOf(client);
  // Either the facts, or why there are none.
  if (typeof answer === 'string') return { ...node, system: null, whyMissing: answer };
  return { ...node, system: systemIn(address, answer), whyMissing: null };
}

/** The node's answer, or why there is none. */
async function answerOf(client: ControlClient): Promise<DescribeSystemResponse__Output | string> {
  try {
    const answer = await client.describeSystem(DESCRIBE_TIMEOUT_MS);
    return (
      answer ?? 'the node does not know the call DescribeSystem: it is older, or of other make'
    );
  } catch (error) {
    const cause = error instanceof MlperfError ? error.cause : undefined;
    if (errorCodeOf(cause) !== status.PERMISSION_DENIED) throw error;
    // The node's own words.
    return (cause as ServiceError).details;
  }
}

function systemIn(address: string, { gatheredAt, facts, tuning }: DescribeSystemResponse__Output) {
  const wrong = (what: string, cause?: unknown): MlperfError =>
    wireError(`SUT node ${address} answers DescribeSystem with ${what}`, cause);
  const time = new Date(gatheredAt);
  if (Number.isNaN(time.getTime())) throw wrong('no time at which it read its machine');
  try {
    return {
      gatheredAt: time.toISOString(),
      facts: fromWire(systemFactsSchema, facts),
      /** Null where the node does not look at it. */
      tuning: tuning && fromWire(tuningFactsSchema, tuning),
    };
  } catch (error) {
    if (!(error instanceof ZodError)) throw error;
    const issue = error.issues[0];
    throw wrong(`a wrong value at ${issue?.path.join('.')}: ${issue?.message}`, error);
  }
}
