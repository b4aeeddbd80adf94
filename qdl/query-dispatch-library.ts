import assert from 'node:assert';
import { randomUUID } from 'node:crypto';
import type { Open } from '../proto/gen/mlperf/network/v1/Open.ts';
import type { Opened__Output } from '../proto/gen/mlperf/network/v1/Opened.ts';
import type { SamplePayloads } from '../shared/domain/query-sample-library.ts';
import type { Query, ResponseSink, SystemUnderTest } from '../shared/domain/system-under-test.ts';
import { MlperfError } from '../shared/errors/mlperf-error.ts';
import type { NetworkEvidence } from '../shared/evidence/network-evidence.ts';
import { settingsAsText } from '../shared/evidence/settings-text.ts';
import type { BackPressureTimes } from './back-pressure.ts';
import type { ChannelPlace } from './channel/dispatch-channel.ts';
import { GrpcConnections } from './channel/grpc-connections.ts';
import { GrpcTransport } from './channel/grpc-transport.ts';
import { type OpenTransport, SutChannel } from './channel/sut-channel.ts';
import { TransportThreads } from './channel/threads/transport-threads.ts';
import type { DispatchSettings } from './dispatch-settings.ts';
import { Dispatcher } from './dispatcher.ts';
import { ledgerObstacle } from './evidence/ledger-obstacle.ts';
import { NetworkNames } from './network-name.ts';
import { partLimits, requireOneNode } from './opened-channels.ts';
import { ResponseDecoder } from './response-decoder.ts';
import { createRouter } from './router/create-router.ts';
import { NodeLoad } from './router/node-load.ts';
import { SutNodeHandle, type WaitProgress } from './sut-node-handle.ts';

/** Longest wait for a node to end its stream after Close: everything is answered by then. */
const CLOSE_TIMEOUT_MS = 2_000;

/** What both ends counted, after the run. */
export interface LedgerReport {
  /** False when the run broke off, so that the counts need not agree. */
  readonly isCompared: boolean;
  /** Differences in words; empty when the two ends agree. */
  readonly differences: readonly string[];
}

/** What a node has to do at the moment, for those who look on. */
export interface NodeActivity {
  /** By itself; its address while it has not told one. */
  readonly name: string;
  /** Samples that are on the wire to it or that it has not answered. */
  readonly outstandingSamples: number;
  /** Samples that it answered since the run began, well or as failed. */
  readonly completedSamples: number;
  readonly failedSamples: number;
  readonly isLost: boolean;
}

/**
 * The Query Dispatch Library: a {@link SystemUnderTest} whose work is done by SUT nodes on the other
 * side of a network. It forwards; it never batches, pads, caches, reorders, pre- or post-processes
 * (rule: inference_rules v4.1, Network division, QDL constraints). A query goes out as it is, alone,
 * in one part where it fits.
 *
 * Order of calls: `connect`, `name`, `start`, `issueQuery`..., `stop`, `ledgerReport`.
 */
export class QueryDispatchLibrary implements SystemUnderTest {
  readonly runId: string = randomUUID();
  readonly nodes: readonly SutNodeHandle[];
  readonly #settings: DispatchSettings;
  readonly #payloads: SamplePayloads;
  readonly #connections: GrpcConnections;
  #channels: readonly SutChannel[] = [];
  #loads: readonly NodeLoad[] = [];
  #threads: TransportThreads | undefined;
  #dispatcher: Dispatcher | undefined;
  #sink: ResponseSink | undefined;
  #isStarted = false;
  readonly #names: NetworkNames;
  #ledgerReport: LedgerReport = { isCompared: false, differences: [] };

  /** @param payloads The sample library's bytes; taken when a part is written, never kept. */
  constructor(settings: DispatchSettings, payloads: SamplePayloads) {
    this.#settings = settings;
    this.#payloads = payloads;
    this.#connections = new GrpcConnections(settings);
    this.nodes = settings.nodes.map((address) => new SutNodeHandle(address, settings));
    this.#names = new NetworkNames(
      this.nodes.map((node) => node.control),
      settings.division,
    );
  }

  /** All that is known of the run over the network; resolves within a second, never rejects. */
  async evidence(): Promise<NetworkEvidence> {
    const { division, encoding, receiveWindowBytes } = this.#settings;
    return {
      runId: this.runId,
      division,
      encoding,
      settings: settingsAsText(this.#settings),
      receiveWindowBytes,
      issuedQueries: this.#dispatcher?.issuedQueries ?? 0,
      issuedSamples: this.#dispatcher?.issuedSamples ?? 0,
      isComplete: this.#ledgerReport.isCompared,
      nameCalls: await this.#names.calls(),
      nodes: this.nodes.map((node) => node.evidence()),
    };
  }

  /** How long queries waited in the QDL so far, and for what; nothing before {@link start}. */
  get backPressure(): BackPressureTimes {
    return this.#dispatcher?.backPressure ?? { socketNs: 0, creditNs: 0 };
  }

  /** The comparison made by {@link stop}. */
  get ledgerReport(): LedgerReport {
    return this.#ledgerReport;
  }

  /** How busy each node is, in the order of the settings; a few reads each. */
  activity(): NodeActivity[] {
    const names = this.#names.last?.nodes;
    return this.nodes.map(({ address, ledger }, i) => ({
      name: names?.[i]?.name ?? address,
      outstandingSamples: this.#loads[i]?.outstanding ?? 0,
      completedSamples: ledger.completedCount,
      failedSamples: ledger.failedCount,
      isLost: this.#dispatcher?.lostNodes.has(i) ?? false,
    }));
  }

  /**
   * Waits until every node is ready and checks that it fits the run. Untimed.
   * @throws MlperfError `ERR_SUT_UNREACHABLE`, `ERR_SUT_NOT_READY`, `ERR_SUT_REFUSED`
   */
  async connect(onWait: WaitProgress = () => {}): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.prepare(onWait)));
  }

  name(): Promise<string> {
    return this.#names.ask();
  }

  async start(sink: ResponseSink): Promise<void> {
    this.#sink = sink;
    const { callTimeoutMs, onNodeLoss, policy } = this.#settings;
    const ledgers = this.nodes.map((node) => node.ledger);
    const dispatcher = new Dispatcher({ payloads: this.#payloads, sink, onNodeLoss, ledgers });
    this.#dispatcher = dispatcher;
    const openTransport = this.#openTransport();
    this.#channels = this.#places().map(
      (place) => new SutChannel(place, openTransport, this.#open(place), dispatcher),
    );
    const opened = await Promise.all(
      this.#channels.map((channel) => channel.opened(callTimeoutMs)),
    );
    this.#channels.forEach((channel, i) => {
      const answer = opened[i] as Opened__Output; // One per channel.
      this.nodes[channel.place.nodeIndex]?.addOpened(answer, channel);
      channel.requireCredit();
    });
    requireOneNode(this.nodes, this.#settings.division, this.#names.last);
    dispatcher.begin({
      channels: this.#channels,
      router: createRouter(policy, this.#channels),
      limits: partLimits(this.#channels, opened, this.#settings),
      decoders: opened.map(({ responseEncodings: agreed }) => this.#decoder(agreed)),
    });
    this.#isStarted = true;
  }

  issueQuery(query: Query): void {
    this.#dispatcher?.issue(query);
  }

  /** Nothing is ever held back, so nothing is left to do. */
  flushQueries(): void {}

  giveUp(): void {
    this.#dispatcher?.giveUp();
  }

  async stop(): Promise<void> {
    const isComplete = this.#isStarted && this.#dispatcher?.isComplete === true;
    this.#dispatcher?.stop();
    await Promise.all(this.#channels.map((channel) => channel.close(CLOSE_TIMEOUT_MS)));
    if (isComplete) await this.#compareLedgers();
    this.#connections.close();
    await this.#threads?.stop();
    for (const node of this.nodes) node.control.close();
  }

  /** Where the gRPC work of the streams is done. */
  #openTransport(): OpenTransport {
    if (this.#settings.channelThreads === 0) {
      return ({ address, connection }, events) =>
        new GrpcTransport(this.#connections.to(address, connection), this.#payloads, events);
    }
    const { shared } = this.#payloads;
    assert(shared !== undefined, 'channel threads need payloads in shared memory');
    const threads = new TransportThreads(this.#settings, shared);
    this.#threads = threads;
    return (place, events) => threads.open(place, events);
  }

  /** The streams of the run: neighbours belong to different nodes, so that turns go round the nodes first. */
  #places(): ChannelPlace[] {
    const { nodes, streamsPerNode, connectionsPerNode, weights, nodeOutstandingMax } =
      this.#settings;
    const streamCount = nodes.length * streamsPerNode;
    const loads = nodes.map((_, i) => new NodeLoad(weights[i] ?? 1, nodeOutstandingMax));
    this.#loads = loads;
    return Array.from({ length: streamCount }, (_, streamIndex) => {
      const nodeIndex = streamIndex % nodes.length;
      const streamOfNode = Math.floor(streamIndex / nodes.length);
      return {
        address: nodes[nodeIndex] as string, // In range: a remainder.
        nodeIndex,
        streamOfNode,
        connection: streamOfNode % connectionsPerNode,
        streamIndex,
        streamCount,
        load: loads[nodeIndex] as NodeLoad,
      };
    });
  }

  /** What one end counted and the other did not makes the run INVALID: a fault, told before the end. */
  async #compareLedgers(): Promise<void> {
    const lost = this.#dispatcher?.lostNodes;
    const reached = this.nodes.filter((_, index) => lost?.has(index) !== true);
    const lists = await Promise.all(
      reached.map((node) => {
        const obstacle = ledgerObstacle(node, reached);
        if (obstacle === undefined) return node.compareLedgers(this.runId);
        node.skipLedger(obstacle);
        return [];
      }),
    );
    const differences = lists.flat();
    this.#ledgerReport = { isCompared: true, differences };
    if (differences.length === 0) return;
    const what = `the two ends counted differently: ${differences.join('; ')}`;
    this.#sink?.fault(new MlperfError('ERR_RULE', what));
  }

  /** A response is never larger, decompressed, than one that comes uncompressed may be. */
  #decoder(agreed: readonly number[]): ResponseDecoder {
    const { responseEncodings, messageBytesMax } = this.#settings;
    return new ResponseDecoder(responseEncodings, agreed, messageBytesMax);
  }

  #open({ nodeIndex, streamOfNode }: ChannelPlace): Open {
    const node = this.nodes[nodeIndex] as SutNodeHandle; // In range: places are made from the nodes.
    const { benchmark, division, encoding, responseEncodings, tokenLatencies } = this.#settings;
    return {
      protocolVersion: node.protocolVersion,
      runId: this.runId,
      benchmark,
      division: division === 'network' ? 'DIVISION_NETWORK' : 'DIVISION_OPEN',
      encodings: [encoding],
      responseEncodings: [...responseEncodings],
      features: node.features,
      digestPerMillion: node.digestPerMillion,
      streamIndex: streamOfNode,
      tokenLatencies,
    };
  }
}
