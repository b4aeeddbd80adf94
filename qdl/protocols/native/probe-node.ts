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
 * Probes one node: round trips, and its own description of itself and its machine. No load: a run
 * in progress there sees only a few calls.
 * @param settings Connection settings; the nodes are ignored.
 * @throws MlperfError if the node does not answer Name
 */
export async function probeNode(address: string, settings: DispatchSettings): Promise<NodeProbe> {
  const client = new ControlClient(address, settings);
  try {
    // The first call connects, so it is no round trip.
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
 * Identities seen on new connections: a load balancer shows itself if they differ. A failed
 * connection is left out, since the node has answered before.
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

/** Distinct identities; other software may have none. */
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

/** A node in a run does not read its machine; that is no failure here. */
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

/** A node runs all its tools to read its machine before it answers. */
const DESCRIBE_TIMEOUT_MS = 30_000;

/**
 * Facts of the nodes' machines, asked in parallel. A node that lacks the method, or whose operator
 * disabled it, is no error.
 * @param names The nodes' answers to Name, in the order of the settings.
 * @throws MlperfError of the first node that does not answer, is in a run (`ERR_SUT_REFUSED`), or
 * sends impossible values (`ERR_WIRE_PROTOCOL`)
 */
export async function askSystems(
  settings: DispatchSettings,
  names: readonly (string | null)[],
): Promise<Awaited<ReturnType<typeof askSystem>>[]> {
  const clients = settings.nodes.map((address) => new ControlClient(address, settings));
  try {
    const asked = clients.map((client, i) => askSystem(client, names[i] ?? '', settings));
    // Wait for every call, so that none outlives its connection.
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
  // A string is the reason for missing facts.
  if (typeof answer === 'string') return { ...node, system: null, whyMissing: answer };
  return { ...node, system: systemIn(address, answer), whyMissing: null };
}

/** The node's answer, or the reason for missing facts. */
async function answerOf(client: ControlClient): Promise<DescribeSystemResponse__Output | string> {
  try {
    const answer = await client.describeSystem(DESCRIBE_TIMEOUT_MS);
    return (
      answer ?? 'the node lacks the method DescribeSystem: it is an older release or other software'
    );
  } catch (error) {
    const cause = error instanceof MlperfError ? error.cause : undefined;
    if (errorCodeOf(cause) !== status.PERMISSION_DENIED) throw error;
    // The node's own message.
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
      /** Null if the node does not read its tuning. */
      tuning: tuning && fromWire(tuningFactsSchema, tuning),
    };
  } catch (error) {
    if (!(error instanceof ZodError)) throw error;
    const issue = error.issues[0];
    throw wrong(`a wrong value at ${issue?.path.join('.')}: ${issue?.message}`, error);
  }
}
