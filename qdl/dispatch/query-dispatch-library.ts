import { randomUUID } from 'node:crypto';
import { MlperfError, sutLost } from '../../shared/base/errors/mlperf-error.ts';
import type {
  Query,
  ResponseSink,
  SamplePayloads,
  SutPart,
  SystemUnderTest,
} from '../../shared/domain/system-under-test.ts';
import type { NetworkEvidence, NodeEvidence } from '../../shared/evidence/evidence-schema.ts';
import { type ClaimBook, contradictsResult } from '../../shared/evidence/node-claims.ts';
import { otherWorkOf } from '../../shared/evidence/other-work.ts';
import type { ProtocolEvidence } from '../../shared/evidence/server-evidence.ts';
import { settingsAsText } from '../../shared/evidence/settings-text.ts';
import type { DispatchSettings } from '../settings/dispatch-settings.ts';
import type { BackPressureTimes } from './back-pressure.ts';
import type { ChannelEvents, ChannelPlace } from './dispatch-channel.ts';
import { Dispatcher, type DispatcherChannels } from './dispatcher.ts';
import { type NetworkNames, withNodeName } from './network-name.ts';
import type { WaitProgress } from './ready-wait.ts';
import { createRouter, NodeLoad } from './router.ts';
import type { RunLedgerCounter } from './run-ledger.ts';
import { type NodeMachine, type UsagePoint, UsageSeries } from './usage-series.ts';

/** Comparison of both ends' counts after the run. */
interface LedgerReport {
  /** False if the run was cut short, so the counts need not agree. */
  readonly isCompared: boolean;
  /** Differences, one text each; empty if the ends agree or only one end counts. */
  readonly differences: readonly string[];
}

/** How busy a node is, for progress and metrics. */
export interface NodeActivity {
  /** Its address until it has reported a name. */
  readonly name: string;
  /** Samples outstanding at the node. */
  readonly outstandingSamples: number;
  readonly completedSamples: number;
  readonly failedSamples: number;
  readonly isLost: boolean;
  /** Its last report; undefined if that is too old, or the node sends none. */
  readonly usage: UsagePoint | undefined;
}

/** A model input; element type by ONNX's name, in lower case. */
export interface ModelInput {
  readonly name: string;
  readonly elementType: string;
  /** Length per axis; -1 for a free axis. */
  readonly shape: readonly number[];
}

/** One SUT node as every QDL knows it, for any protocol. */
export interface QdlNode {
  readonly address: string;
  /** Counts of this end for the node. */
  readonly ledger: RunLedgerCounter;
  /**
   * Inputs of the node's model from Describe, after `connect`: length per axis, 0 for a free one.
   * Absent: not reported.
   */
  readonly modelInputs?: readonly ModelInput[];
  /** Cores and memory of the node from Describe, after `connect`. Absent: not reported. */
  readonly machine?: NodeMachine | undefined;
  /** Impossible claims of the node. */
  readonly claims: ClaimBook;
  /** Everything known about the node, as plain values. */
  evidence(): NodeEvidence;
}

/** Numbers of channels and connections of a run. */
export interface ChannelCounts {
  /** Channels per node, 1 or more, and the connections that they share. */
  readonly channelsPerNode: number;
  readonly connectionsPerNode: number;
  /** Largest number of samples outstanding at one node. */
  readonly nodeOutstandingMax: number;
}

/** The open channels of a run, with the values negotiated with the nodes. */
export type OpenedChannels = Omit<DispatcherChannels, 'router'>;

/**
 * A protocol as the QDL uses it. Order of calls: `connect`, `openChannels`, `closeChannels`,
 * `compareLedgers` if the run was complete, `close`.
 */
export interface ProtocolDriver {
  /** SUT nodes in the order of the settings. */
  readonly nodes: readonly QdlNode[];
  readonly names: NetworkNames;
  /** See {@link QueryDispatchLibrary.connect}. */
  connect(onWait: WaitProgress): Promise<void>;
  channelCounts(): ChannelCounts;
  /** Opens the channels of the run at these places. @param events Receives their events. */
  openChannels(
    places: readonly ChannelPlace[],
    events: ChannelEvents,
    runId: string,
  ): Promise<OpenedChannels>;
  /** Ends the channels after all samples completed or were given up. Never throws. */
  closeChannels(): Promise<void>;
  /**
   * Compares what both ends counted, after a complete run.
   * @param lostNodes Indices of nodes that cannot be asked.
   * @returns Differences, one text each.
   */
  compareLedgers(lostNodes: ReadonlySet<number>, runId: string): Promise<readonly string[]>;
  /** Frees all other resources. */
  close(): Promise<void>;
  /** Its name and its own evidence. */
  evidence(): ProtocolEvidence;
}

/**
 * The Query Dispatch Library: a {@link SystemUnderTest} whose work is done by SUT nodes on the
 * other side of a network. It forwards; it never batches, pads, caches, reorders, pre- or
 * post-processes (rule: inference_rules v4.1, Network division, QDL constraints). A query goes out
 * as it is, alone, in one part where it fits. This class holds the lifecycle around the dispatcher,
 * equal for every protocol.
 *
 * Order of calls: `connect`, `name`, `start`, `issueQuery`..., `stop`, `ledgerReport`.
 */
export class QueryDispatchLibrary implements SystemUnderTest {
  /** Random; the same on all streams of the run. */
  readonly runId: string = randomUUID();
  /** SUT nodes in the order of the settings. */
  readonly nodes: readonly QdlNode[];
  /** Comparison made by `stop`. */
  ledgerReport: LedgerReport = { isCompared: false, differences: [] };
  readonly #settings: DispatchSettings;
  readonly #payloads: SamplePayloads;
  readonly #driver: ProtocolDriver;
  readonly #usages: readonly UsageSeries[];
  #loads: readonly NodeLoad[] = [];
  #dispatcher: Dispatcher | undefined;
  #sink: ResponseSink | undefined;
  #isStarted = false;

  /** @param payloads Bytes of the sample library; read when a part is cut, never kept. */
  constructor(settings: DispatchSettings, payloads: SamplePayloads, driver: ProtocolDriver) {
    this.#settings = settings;
    this.#payloads = payloads;
    this.#driver = driver;
    this.nodes = driver.nodes;
    this.#usages = driver.nodes.map((node) => new UsageSeries(() => node.machine));
  }

  /**
   * Waits until every node is ready and checks that it fits the run. Untimed.
   * @throws MlperfError `ERR_SUT_UNREACHABLE`, `ERR_SUT_NOT_READY`, `ERR_SUT_REFUSED`
   */
  connect(onWait: WaitProgress = () => {}): Promise<void> {
    return this.#driver.connect(onWait);
  }

  /** Everything known about the run's network; resolves within a second, never rejects. */
  async evidence(): Promise<NetworkEvidence> {
    const { division, encoding, receiveWindowBytes } = this.#settings;
    return {
      runId: this.runId,
      division,
      encoding,
      settings: settingsAsText(named(this.#settings)),
      receiveWindowBytes,
      issuedQueries: this.#dispatcher?.issuedQueries ?? 0,
      issuedSamples: this.#dispatcher?.issuedSamples ?? 0,
      isComplete: this.ledgerReport.isCompared,
      nameCalls: await this.#driver.names.calls(),
      nodes: this.nodes.map((node) => node.evidence()),
      ...this.#driver.evidence(),
    };
  }

  /** How long queries have waited in the QDL, per reason; zeros before `start`. */
  get backPressure(): BackPressureTimes {
    return this.#dispatcher?.backPressure ?? { socketNs: 0, creditNs: 0 };
  }

  /**
   * First call: the performance run begins now; earlier reports on CPU and memory do not belong to
   * it.
   */
  beginUsage(): void {
    for (const series of this.#usages) series.begin(this.#sink?.nowNs() ?? 0);
  }

  /**
   * Reports on CPU and memory since {@link beginUsage}, one list per node in the order of the
   * settings; empty if a node reports none.
   */
  usage(): readonly (readonly UsagePoint[])[] {
    return this.#usages.map((series) => series.points());
  }

  /** How busy each node is, in the order of the settings. Cheap. */
  activity(): NodeActivity[] {
    const names = this.#driver.names.last?.nodes;
    return this.nodes.map(({ address, ledger }, i) => ({
      name: names?.[i]?.name ?? address,
      outstandingSamples: this.#loads[i]?.outstanding ?? 0,
      completedSamples: ledger.completedCount,
      failedSamples: ledger.failedCount,
      isLost: this.#dispatcher?.lostNodes.has(i) ?? false,
      usage: this.#usages[i]?.latest(this.#sink?.nowNs() ?? 0),
    }));
  }

  name(): Promise<string> {
    return this.#driver.names.ask();
  }

  parts(): SutPart[] {
    return this.nodes.map((node) => ({
      name: `SUT node ${node.address}`,
      otherWork: otherWorkOf(node.evidence()),
    }));
  }

  async start(sink: ResponseSink): Promise<void> {
    this.#sink = sink;
    const { onNodeLoss } = this.#settings;
    const ledgers = this.nodes.map((node) => node.ledger);
    const claims = this.nodes.map((node) => node.claims);
    const dispatcher = new Dispatcher({
      payloads: this.#payloads,
      sink,
      onNodeLoss,
      ledgers,
      claims,
      usages: this.#usages,
      onBreak: (error) => {
        const nodes = this.#driver.names.last?.nodes ?? [];
        sink.fault(sutLost(withNodeName(error.message, nodes), error));
      },
    });
    this.#dispatcher = dispatcher;
    const opened = await this.#driver.openChannels(this.#places(), dispatcher, this.runId);
    const router = createRouter(this.#settings.policy, opened.channels);
    dispatcher.begin({ ...opened, router });
    this.#isStarted = true;
  }

  issueQuery(query: Query): void {
    this.#dispatcher?.issue(query);
  }

  /** Queries are never held back, so there is nothing to flush. */
  flushQueries(): void {}

  giveUp(): void {
    this.#dispatcher?.giveUp();
  }

  async stop(): Promise<void> {
    const isComplete = this.#isStarted && this.#dispatcher?.isComplete === true;
    this.#dispatcher?.stop();
    await this.#driver.closeChannels();
    if (isComplete) await this.#compare();
    this.#judgeClaims();
    await this.#driver.close();
  }

  /**
   * The channels of the run. Neighbours belong to different nodes, so turns pass from node to node.
   */
  #places(): ChannelPlace[] {
    const { nodes, weights } = this.#settings;
    const { channelsPerNode, connectionsPerNode, nodeOutstandingMax } =
      this.#driver.channelCounts();
    const streamCount = nodes.length * channelsPerNode;
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

  /** Claims that contradict the result make the run INVALID, like a broken contract. */
  #judgeClaims(): void {
    const contradictions = this.nodes.flatMap(({ address, claims }) =>
      claims
        .toClaims()
        .filter(contradictsResult)
        .map(({ text, count }) => `SUT node ${address} ${text} (${count} in all)`),
    );
    if (contradictions.length === 0) return;
    this.#sink?.fault(new MlperfError('ERR_RULE', contradictions.join('; ')));
  }

  /**
   * Counts that differ between the ends make the run INVALID; the fault is reported before the end.
   */
  async #compare(): Promise<void> {
    const lostNodes = this.#dispatcher?.lostNodes ?? new Set();
    const differences = await this.#driver.compareLedgers(lostNodes, this.runId);
    this.ledgerReport = { isCompared: true, differences };
    if (differences.length === 0) return;
    const what = `the two ends counted differently: ${differences.join('; ')}`;
    this.#sink?.fault(new MlperfError('ERR_RULE', what));
  }
}

/** The settings, with the protocol's own below its name. */
function named(settings: DispatchSettings): object {
  const { name, ...own } = settings.protocol;
  return Object.fromEntries(
    Object.entries(settings).map((one) => (one[1] === settings.protocol ? [name, own] : one)),
  );
}
