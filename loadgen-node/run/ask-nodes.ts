import {
  askNames,
  askSystems,
  checkDispatchSettings,
  createQueryDispatchLibrary,
  type DispatchSettings,
  defaultDispatchSettings,
  probeNode,
  resolveNodeAddresses,
  servedBenchmarks,
  testLink,
} from '../../qdl/index.ts';
import { ANY_PROTOCOL, SERVICE_OPTIONS } from '../../qdl/protocols/index.ts';
import { configInvalid, MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { upperMedian } from '../../shared/base/text.ts';
import { addressList, type SettingValues } from '../../shared/config/setting.ts';
import type { NameCall } from '../../shared/evidence/evidence-schema.ts';
import { orAbort, type RunHost } from './host/host.ts';
import { CONNECTION_OPTIONS, toConnectionSettings } from './plan/connection-options.ts';
import { nodesOfRun } from './plan/model-options.ts';
import { onlyTarget } from './plan/target.ts';
import type { PreparedRun } from './prepare/prepare-run.ts';

/** Settings of `longhaul probe name`. */
export const NAME_SETTINGS = {
  sut: addressList('addresses of the SUT nodes', { schemes: ANY_PROTOCOL, required: true }),
  ...SERVICE_OPTIONS,
  ...CONNECTION_OPTIONS,
};

/**
 * Calls LoadGen's Name() on nodes without a run, and measures each node's round trip.
 * @throws MlperfError `ERR_CONFIG_INVALID`; or if a node does not answer
 */
export async function askNodeNames(values: SettingValues<typeof NAME_SETTINGS>): Promise<NameCall> {
  const { nodes, ...protocol } = nodesOfRun(values.sut, values);
  return await askNames(await askingSettings(nodes, values, protocol));
}

/** Connection settings for questions to nodes about their machines. */
interface AskingValues extends ConnectionValues {
  readonly streams: number;
  readonly connections: number;
}

/**
 * Asks SUT nodes for the facts of their machines, over the connections that a run would use. Names
 * are asked first, as in a run, which refuses two addresses of one node.
 * @returns The answers of all nodes, and whether the connections had TLS.
 * @throws MlperfError if a node does not answer
 */
export async function askNodeSystems(addresses: readonly string[], values: AskingValues) {
  const { streams: streamsPerNode, connections: connectionsPerNode } = values;
  const settings = await askingSettings(addresses, values, { streamsPerNode, connectionsPerNode });
  const names = (await askNames(settings)).nodes.map(({ name }) => name);
  return { nodes: await askSystems(settings, names), isTls: settings.security.tls === true };
}

type ConnectionValues = SettingValues<typeof CONNECTION_OPTIONS>;

/** Settings of a QDL that only asks nodes, with the addresses that their names resolve to. */
export async function askingSettings(
  nodes: readonly string[],
  values: ConnectionValues,
  others: Partial<DispatchSettings> = {},
): Promise<DispatchSettings> {
  const settings = {
    ...defaultDispatchSettings(await resolveNodeAddresses(nodes)),
    ...others,
    ...toConnectionSettings(values),
  };
  if (nodes.length > 0) checkDispatchSettings(settings);
  return settings;
}

/**
 * The benchmark for a run without one in its settings: the one that its first node serves.
 * @returns Undefined if the node does not report it
 * @throws MlperfError `ERR_CONFIG_INVALID` if the node serves several; or if it does not answer
 */
export async function askBenchmark(
  addresses: readonly string[],
  values: ConnectionValues,
): Promise<{ readonly address: string; readonly benchmark: string } | undefined> {
  const settings = await askingSettings(addresses, values);
  const [address = ''] = settings.nodes;
  const [benchmark, ...others] = await servedBenchmarks(address, settings);
  if (benchmark === undefined) return undefined;
  if (others.length === 0) return { address, benchmark };
  const all = [benchmark, ...others].join(', ');
  throw configInvalid(`SUT node ${address} serves ${all}: choose one by --benchmark`);
}

/** The parts of a prepared run that questions to its nodes need. */
type AskedRun = Pick<PreparedRun, 'plan' | 'store'>;

/**
 * Asks the nodes of a run for names, models and settings.
 * @returns Names (empty for a node without one), name and SHA-256 of each model (`none` if not
 *   reported), and its settings, in the order of the settings.
 * @throws MlperfError if a node is missing, or not ready
 */
export async function identifyNodes({ plan, store }: AskedRun) {
  const { dispatch } = onlyTarget(plan);
  const { nodes } = await askNames(dispatch);
  const qdl = await createQueryDispatchLibrary(dispatch, store);
  try {
    await qdl.connect(() => {});
    const told = qdl.nodes.map((node) => node.evidence().description);
    const settings = told.map((description) => description?.settings ?? {});
    const models = told.map((description) => {
      const { name, sha256 } = description?.model ?? { name: 'none', sha256: '' };
      return `${name} ${sha256}`.trim();
    });
    return { names: nodes.map(({ name }) => name ?? ''), models, settings };
  } finally {
    await qdl.stop();
  }
}

/**
 * Waits until the one node of a run is ready, then asks for its model and its configuration.
 * @returns Name as in LoadGen's Name(); machine facts, null if not reported; the model with the
 *   settings that change its results, as one text.
 * @throws MlperfError if it is not ready; `ERR_SUT_REFUSED` if it does not report these
 */
export async function describeNode({ plan, store }: AskedRun, host: RunHost) {
  const qdl = await createQueryDispatchLibrary(onlyTarget(plan).dispatch, store);
  try {
    await orAbort(
      host,
      qdl.connect((address, what) => host.progress?.(`waiting for SUT node ${address}`, what)),
    );
    const sutName = await orAbort(host, qdl.name());
    const [node] = (await qdl.evidence()).nodes;
    const description = node?.description;
    const configuration = description?.settings['configuration'];
    if (!description?.model || configuration === undefined) {
      throw new MlperfError(
        'ERR_SUT_REFUSED',
        `SUT node ${node?.address ?? ''} does not report its model and its configuration: efficiency compares only longhaul's own nodes`,
      );
    }
    const { name, sha256 } = description.model;
    return { sutName, host: description.host, model: { name, sha256, configuration } };
  } finally {
    await qdl.stop();
  }
}

/** Long enough for a stream to reach its full rate. */
const RATE_TEST_MS = 500;

/**
 * Measures the link to the first longhaul node.
 * @param isRateTested False: round trips only.
 * @returns Durations of answered TCP connects, in ns, and the rate of a stream to the node in
 *   bit/s (null without a test); null for another kind of server, and if the link allows no
 *   measurement
 */
export async function lookAtLink({ plan }: AskedRun, isRateTested: boolean) {
  const { dispatch, protocol } = onlyTarget(plan);
  const [address] = dispatch.nodes;
  if (address === undefined || protocol.traits.peer !== 'sut-node') {
    return null;
  }
  try {
    const { tcpConnectNs } = await probeNode(address, dispatch);
    const roundTripP50Ns = upperMedian(tcpConnectNs);
    if (roundTripP50Ns === undefined) return null;
    const rate = isRateTested
      ? await testLink(address, dispatch, 'to-sut', RATE_TEST_MS)
      : { bitsPerSecond: null };
    return {
      roundTripP50Ns,
      roundTripMaxNs: Math.max(...tcpConnectNs),
      bitsPerSecond: rate.bitsPerSecond,
    };
  } catch (error) {
    if (error instanceof MlperfError) return null;
    throw error;
  }
}
