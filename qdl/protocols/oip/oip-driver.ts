import assert from 'node:assert';
import type { ModelStatistics__Output } from '../../../proto/gen/inference/ModelStatistics.ts';
import {
  configInvalid,
  MlperfError,
  sutRefused,
} from '../../../shared/base/errors/mlperf-error.ts';
import type { CallPath, OwnSide } from '../../../shared/evidence/call-path.ts';
import type {
  NameCall,
  NodeEvidence,
  ServerEvidence,
  ServerGrowth,
  ServerTime,
} from '../../../shared/evidence/evidence-schema.ts';
import { ClaimBook } from '../../../shared/evidence/node-claims.ts';
import type { ProtocolEvidence } from '../../../shared/evidence/server-evidence.ts';
import type { OipModelFacts, OipRequestPlan } from '../../../shared/wire/oip/request-plan.ts';
import { callPathOf } from '../../connect/call-path.ts';
import type { ChannelEvents, ChannelPlace } from '../../dispatch/dispatch-channel.ts';
import { askOnce, distinguishByAddress, NetworkNames } from '../../dispatch/network-name.ts';
import type {
  ChannelCounts,
  OpenedChannels,
  ProtocolDriver,
  QdlNode,
} from '../../dispatch/query-dispatch-library.ts';
import type { WaitProgress } from '../../dispatch/ready-wait.ts';
import { evidenceOfOneEnd, HandOverCounter, RunLedgerCounter } from '../../dispatch/run-ledger.ts';
import type { DispatchSettings } from '../../settings/dispatch-settings.ts';
import { requireAgreement } from '../tensors/model-tensors.ts';
import { OipChannel, type OipConnectionEvents, OipConnections } from './channel/oip-channel.ts';
import { OipRequestEncoder, REQUEST_BYTES_MAX } from './channel/request-encoder.ts';
import { gathererOf, openWay, requestExtras } from './channel/request-way.ts';
import { askModelFacts, awaitModel } from './node/model-facts.ts';
import { OipControlClient } from './node/oip-control-client.ts';
import { checkOipSettings, OIP_NAME, type OipDispatch, oipOf } from './settings/oip-settings.ts';

/** Longest wait for a server to end its streams: everything is answered by then. */
const CLOSE_TIMEOUT_MS = 2_000;

/**
 * Default limit of samples outstanding at one node. Servers grant no credit and queue everything; a
 * sample that waits here costs only its id.
 */
const NODE_OUTSTANDING_MAX = 4_096;

/**
 * Connections whose first calls become evidence: a server may end each connection after a few
 * calls.
 */
const QUERY_PATHS_MAX = 256;

/** Driver of nodes that speak the Open Inference Protocol. */
export class OipDriver implements ProtocolDriver {
  readonly nodes: readonly OipNodeHandle[];
  readonly names: NetworkNames;
  readonly #settings: DispatchSettings;
  readonly #oip: OipDispatch;
  readonly #connections: OipConnections;
  readonly #notes: string[] = [];
  #facts: OipModelFacts | undefined;
  #channels: readonly OipChannel[] = [];

  /** @param settings Must hold a request plan if queries are sent. */
  constructor(settings: DispatchSettings) {
    this.#settings = settings;
    this.#oip = oipOf(settings);
    this.nodes = settings.nodes.map((address) => new OipNodeHandle(address, settings));
    this.#connections = new OipConnections(
      settings,
      // In range: one per address.
      (address) => this.nodes.find((node) => node.address === address) as OipNodeHandle,
    );
    this.names = new NetworkNames(
      this.nodes.map((node) => node.control),
      settings.division,
      distinguishByAddress((note) => this.#notes.push(note)),
    );
  }

  /**
   * @throws MlperfError `ERR_SUT_REFUSED` also if the nodes differ, or do not fit the plan;
   * `ERR_CONFIG_INVALID` for settings that the plan's method does not use
   */
  async connect(onWait: WaitProgress): Promise<void> {
    checkOipSettings(this.#settings);
    const facts = await Promise.all(this.nodes.map((node) => node.prepare(onWait)));
    requireAgreement(facts);
    this.#facts = facts[0];
    const { plan } = this.#oip;
    if (plan !== undefined && this.#facts !== undefined) requireUsable(plan, this.#facts);
  }

  evidence(): ProtocolEvidence {
    const { service, plan, notes = [] } = this.#oip;
    const server = { service, plan: plan ?? null, notes: [...notes, ...this.#notes] };
    return { protocol: OIP_NAME, server };
  }

  channelCounts(): ChannelCounts {
    const { streamsPerNode, connectionsPerNode, nodeOutstandingMax } = this.#settings;
    // Unary calls need no streams: a channel is a connection.
    const isStream = this.#oip.plan?.method === 'stream';
    return {
      channelsPerNode: isStream ? streamsPerNode : connectionsPerNode,
      connectionsPerNode,
      nodeOutstandingMax: Number.isFinite(nodeOutstandingMax)
        ? nodeOutstandingMax
        : NODE_OUTSTANDING_MAX,
    };
  }

  async openChannels(
    places: readonly ChannelPlace[],
    events: ChannelEvents,
  ): Promise<OpenedChannels> {
    const { plan } = this.#oip;
    if (plan === undefined) {
      throw configInvalid('oip: the settings hold no request plan');
    }
    for (const { address, connection } of places) this.#connections.to(address, connection);
    await this.#connections.ready();
    await Promise.all(this.nodes.map((node) => node.beginStatistics()));
    // No await from here until the dispatcher has the channels, which report every later loss.
    this.#connections.requireOpen();
    this.#channels = places.map((place) => this.#channel(place, plan, events));
    const { nodeOutstandingMax } = this.#settings;
    return {
      channels: this.#channels,
      limits: {
        bytesMax: REQUEST_BYTES_MAX,
        samplesMax: Math.min(plan.samplesPerRequest, nodeOutstandingMax),
        sampleBytesMax: REQUEST_BYTES_MAX,
      },
    };
  }

  async closeChannels(): Promise<void> {
    await Promise.all(this.#channels.map((channel) => channel.close(CLOSE_TIMEOUT_MS)));
  }

  /** Servers keep no counts to compare. Reads their own statistics instead. */
  async compareLedgers(lostNodes: ReadonlySet<number>): Promise<readonly string[]> {
    const reached = this.nodes.filter((_, index) => !lostNodes.has(index));
    await Promise.all(reached.map((node) => node.endStatistics()));
    return [];
  }

  async close(): Promise<void> {
    await this.#connections.close();
    for (const node of this.nodes) node.control.close();
  }

  #channel(place: ChannelPlace, plan: OipRequestPlan, events: ChannelEvents): OipChannel {
    assert(this.#facts !== undefined, 'start before connect');
    const facts = this.#facts;
    const { service } = this.#oip;
    const connection = this.#connections.to(place.address, place.connection);
    const gatherer = gathererOf(plan, facts, {
      bytesMax: this.#settings.messageBytesMax,
      room: connection.room,
    });
    const channel = new OipChannel(
      place,
      {
        encoder: new OipRequestEncoder(plan, requestExtras(plan, facts)),
        tokenLatencies: this.#settings.tokenLatencies,
        // In range: places are made from the nodes.
        handOvers: (this.nodes[place.nodeIndex] as OipNodeHandle).handOvers,
        traceparentOf: this.#settings.traceparentOf,
        openWay: (toChannel) =>
          openWay(plan.method, {
            connection: connection.calls,
            service,
            gatherer,
            events: toChannel,
          }),
      },
      events,
    );
    connection.add(channel);
    return channel;
  }
}

/**
 * Refuses a plan that the model cannot answer.
 * @throws MlperfError `ERR_SUT_REFUSED`
 */
function requireUsable(plan: OipRequestPlan, facts: OipModelFacts): void {
  const { name, isDecoupled, hasStream, batchSizeMax } = facts;
  if (plan.method === 'unary' && isDecoupled === true) {
    throw refusal(
      `model "${name}" is decoupled: a request may have any number of responses, which only a stream can carry; ` +
        'use --oip-method stream',
    );
  }
  if (plan.method !== 'unary' && hasStream === false) {
    throw refusal(`the server at ${facts.address} lacks ModelStreamInfer; use --oip-method unary`);
  }
  if (isDecoupled === true && plan.samplesPerRequest > 1) {
    throw refusal(
      `model "${name}" is decoupled: its responses do not identify one of ${plan.samplesPerRequest} samples; ` +
        'use --oip-batch 1',
    );
  }
  if (batchSizeMax !== undefined && plan.samplesPerRequest > Math.max(1, batchSizeMax)) {
    throw refusal(
      `model "${name}" takes at most ${Math.max(1, batchSizeMax)} samples in a request; ` +
        `--oip-batch is ${plan.samplesPerRequest}`,
    );
  }
}

function refusal(what: string): MlperfError {
  return sutRefused(what);
}

/** askNames for nodes that speak the Open Inference Protocol. */
export function askOipNames(settings: DispatchSettings): Promise<NameCall> {
  const clients = settings.nodes.map((address) => new OipControlClient(address, settings));
  const distinguish = distinguishByAddress(() => {});
  return askOnce(clients, new NetworkNames(clients, settings.division, distinguish));
}

/** One node that speaks the Open Inference Protocol: control connection, answers, counts. */
class OipNodeHandle implements QdlNode, OipConnectionEvents {
  readonly address: string;
  readonly control: OipControlClient;
  readonly ledger: RunLedgerCounter = new RunLedgerCounter();
  readonly claims: ClaimBook = new ClaimBook();
  readonly handOvers: HandOverCounter = new HandOverCounter();
  readonly #settings: DispatchSettings;
  readonly #oip: OipDispatch;
  readonly #queryPaths: CallPath[] = [];
  #facts: OipModelFacts | undefined;
  #before: ServerGrowth | null = null;
  #statistics: ServerGrowth | null = null;

  constructor(address: string, settings: DispatchSettings) {
    this.address = address;
    this.#settings = settings;
    this.#oip = oipOf(settings);
    this.control = new OipControlClient(address, settings);
  }

  /**
   * Waits until the node's model is ready and returns its facts. Untimed.
   * @throws MlperfError `ERR_SUT_UNREACHABLE`, `ERR_SUT_NOT_READY`, `ERR_SUT_REFUSED`
   */
  async prepare(onWait: WaitProgress): Promise<OipModelFacts> {
    const { model } = this.#oip;
    await awaitModel(this.control, model, this.#settings.readyTimeoutMs, onWait);
    this.#facts = await askModelFacts(this.control, model);
    return this.#facts;
  }

  /** Stores the server's own statistics before the run. */
  async beginStatistics(): Promise<void> {
    if (this.#facts?.hasStatistics === true) this.#before = await this.#askStatistics();
  }

  /** Stores the growth of the server's own statistics. */
  async endStatistics(): Promise<void> {
    const before = this.#before;
    if (before === null) return;
    const after = await this.#askStatistics();
    this.#statistics = after === null ? null : growth(before, after);
  }

  /** The first response on a query connection came. @param own This end's view of the call. */
  onAccepted(own: OwnSide): void {
    if (this.#queryPaths.length < QUERY_PATHS_MAX) this.#queryPaths.push(callPathOf(own, null));
  }

  onHandOver(reason: string): void {
    this.handOvers.addConnection(reason);
  }

  evidence(): NodeEvidence {
    const missing = 'the Open Inference Protocol has no counts: only the LoadGen node counts';
    return {
      ...evidenceOfOneEnd(this.address, this, missing),
      queryPaths: [...this.#queryPaths],
      ...this.handOvers.evidence(),
      ...(this.#facts === undefined ? {} : { server: this.#evidenceOf(this.#facts) }),
    };
  }

  #evidenceOf(facts: OipModelFacts): ServerEvidence {
    const { server, name, versions, platform, sha256, inputs, outputs } = facts;
    return {
      serverName: server.name,
      serverVersion: server.version,
      extensions: server.extensions,
      modelName: name,
      modelVersions: versions,
      platform,
      ...(sha256 !== undefined && { modelSha256: sha256 }),
      inputs,
      outputs: outputs.length > 0 ? outputs : (this.#oip.answeredOutputs ?? []),
      // A part is one request.
      requestCount: this.ledger.partCount,
      trialCount: this.#oip.trialCount ?? 0,
      statistics: this.#statistics,
    };
  }

  /** Statistics only explain a run: a server that no longer reports them is no fault. */
  async #askStatistics(): Promise<ServerGrowth | null> {
    try {
      const versions = await this.control.modelStatistics(this.#oip.model);
      return versions === undefined ? null : sumOfVersions(versions);
    } catch (error) {
      if (error instanceof MlperfError) return null;
      throw error;
    }
  }
}

const DURATIONS = [
  'success',
  'fail',
  'queue',
  'computeInput',
  'computeInfer',
  'computeOutput',
] as const satisfies readonly (keyof ServerGrowth)[];

/** Statistics with every number from the same source. */
function statisticsBy(
  count: (of: 'inferenceCount' | 'executionCount') => number,
  duration: (of: (typeof DURATIONS)[number], what: 'count' | 'ns') => number,
): ServerGrowth {
  const durations = DURATIONS.map((name): [string, ServerTime] => [
    name,
    { count: duration(name, 'count'), ns: duration(name, 'ns') },
  ]);
  return {
    inferenceCount: count('inferenceCount'),
    executionCount: count('executionCount'),
    ...(Object.fromEntries(durations) as Record<(typeof DURATIONS)[number], ServerTime>),
  };
}

/** Statistics of a model, summed over the reported versions. */
export function sumOfVersions(versions: readonly ModelStatistics__Output[]): ServerGrowth {
  const sumOf = (tell: (one: ModelStatistics__Output) => number): number =>
    versions.reduce((sum, one) => sum + tell(one), 0);
  return statisticsBy(
    (of) => sumOf((one) => one[of]),
    (of, what) => sumOf((one) => one.inferenceStats?.[of]?.[what] ?? 0),
  );
}

/** Growth of statistics; null if a count fell: the server restarted in between. */
export function growth(before: ServerGrowth, after: ServerGrowth): ServerGrowth | null {
  const grown = statisticsBy(
    (of) => after[of] - before[of],
    (of, what) => after[of][what] - before[of][what],
  );
  const counts = [grown, ...DURATIONS.map((name) => grown[name])].flatMap((one) =>
    'count' in one ? [one.count] : [one.inferenceCount, one.executionCount],
  );
  return counts.some((count) => count < 0) ? null : grown;
}
