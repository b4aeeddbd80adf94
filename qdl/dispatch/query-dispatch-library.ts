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

/** Comparison of both ends' counts, after the run. */
interface LedgerReport {
  /** False when the run broke off, so that the counts need not agree. */
  readonly isCompared: boolean;
  /** Differences in words; empty when the two ends agree, and where only one end counts. */
  readonly differences: readonly string[];
}

/** How busy a node is, for progress and metrics. */
export interface NodeActivity {
  /** Its address before it has told a name. */
  readonly name: string;
  /** Samples that are on the wire to it or that it has not answered. */
  readonly outstandingSamples: number;
  readonly completedSamples: number;
  readonly failedSamples: number;
  readonly isLost: boolean;
  /** Its last report, unless that is long ago; undefined also for a node that reports none. */
  readonly usage: UsagePoint | undefined;
}

/** A tensor that a model takes; ONNX's name of its element type, in lower case. */
export interface ModelInput {
  readonly name: string;
  readonly elementType: string;
  /** Length per axis; -1 for one that takes any. */
  readonly shape: readonly number[];
}

/** One SUT node as all QDLs know it, whatever protocol it speaks. */
export interface QdlNode {
  readonly address: string;
  /** Counts of this end for the node. */
  readonly ledger: RunLedgerCounter;
  /** Inputs of the node's model as its Describe tells them, after `connect`: length per axis, 0 for a free one. Absent: not reported. */
  readonly modelInputs?: readonly ModelInput[];
  /** Cores and memory of the node, as its Describe tells, after `connect`. Absent: not reported. */
  readonly machine?: NodeMachine | undefined;
  /** Claims of the node that cannot be true. */
  readonly claims: ClaimBook;
  /** All that is known of the node, as plain values. */
  evidence(): NodeEvidence;
}

/** How the channels of a run lie over nodes and connections. */
export interface ChannelCounts {
  /** To each node, 1 or more, and the connections that they share. */
  readonly channelsPerNode: number;
  readonly connectionsPerNode: number;
  /** Most samples outstanding on one node. */
  readonly nodeOutstandingMax: number;
}

/** The channels of a run, all open, and what they agreed on with the nodes. */
export type OpenedChannels = Omit<DispatcherChannels, 'router'>;

/**
 * A protocol, as a QDL uses it. Order of calls: `connect`, then `openChannels`, `closeChannels`, `compareLedgers`
 * where the run came to its end, `close`.
 */
export interface ProtocolDriver {
  /** In the order of the settings. */
  readonly nodes: readonly QdlNode[];
  readonly names: NetworkNames;
  /** As {@link QueryDispatchLibrary.connect}. */
  connect(onWait: WaitProgress): Promise<void>;
  channelCounts(): ChannelCounts;
  /** Opens the channels of the run at these places. @param events Takes what they report. */
  openChannels(
    places: readonly ChannelPlace[],
    events: ChannelEvents,
    runId: string,
  ): Promise<OpenedChannels>;
  /** Ends the channels, after all samples completed or were given up. Never throws. */
  closeChannels(): Promise<void>;
  /**
   * Compares what both ends counted, after a run that came to its end.
   * @param lostNodes Indices of the nodes that cannot be asked.
   * @returns Differences in words.
   */
  compareLedgers(lostNodes: ReadonlySet<number>, runId: string): Promise<readonly string[]>;
  /** Frees everything else. */
  close(): Promise<void>;
  /** Its name, and evidence that only this protocol has. */
  evidence(): ProtocolEvidence;
}

/**
 * The Query Dispatch Library: a {@link SystemUnderTest} whose work is done by SUT nodes on the other
 * side of a network. It forwards; it never batches, pads, caches, reorders, pre- or post-processes
 * (rule: inference_rules v4.1, Network division, QDL constraints). A query goes out as it is, alone,
 * in one part where it fits. Here is its life around the dispatcher, the same for every protocol.
 *
 * Order of calls: `connect`, `name`, `start`, `issueQuery`..., `stop`, `ledgerReport`.
 */
export class QueryDispatchLibrary implements SystemUnderTest {
  /** Random, the same on all streams of the run to all nodes. */
  readonly runId: string = randomUUID();
  /** In the order of the settings. */
  readonly nodes: readonly QdlNode[];
  /** The comparison made by `stop`. */
  ledgerReport: LedgerReport = { isCompared: false, differences: [] };
  readonly #settings: DispatchSettings;
  readonly #payloads: SamplePayloads;
  readonly #driver: ProtocolDriver;
  readonly #usages: readonly UsageSeries[];
  #loads: readonly NodeLoad[] = [];
  #dispatcher: Dispatcher | undefined;
  #sink: ResponseSink | undefined;
  #isStarted = false;

  /** @param payloads The sample library's bytes; taken when a part is cut, never kept. */
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

  /** All that is known of the run over the network; resolves within a second, never rejects. */
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

  /** How long queries waited in the QDL so far, and for what; zeros before `start`. */
  get backPressure(): BackPressureTimes {
    return this.#dispatcher?.backPressure ?? { socketNs: 0, creditNs: 0 };
  }

  /** The first call: the performance run begins now, and what nodes told of their machines before is no part of it. */
  beginUsage(): void {
    for (const series of this.#usages) series.begin(this.#sink?.nowNs() ?? 0);
  }

  /** Reports of the nodes on their machines since {@link beginUsage}, in the order of the settings; empty for one that reports none. */
  usage(): readonly (readonly UsagePoint[])[] {
    return this.#usages.map((series) => series.points());
  }

  /** How busy each node is, in the order of the settings; a few reads each. */
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

  /** The channels of the run: neighbours belong to different nodes, so that turns go round the nodes first. */
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

  /** Claims that contradict the result make the run INVALID, as a broken contract does. */
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

  /** Counts that differ between the ends make the run INVALID: a fault, reported before the end. */
  async #compare(): Promise<void> {
    const lostNodes = this.#dispatcher?.lostNodes ?? new Set();
    const differences = await this.#driver.compareLedgers(lostNodes, this.runId);
    this.ledgerReport = { isCompared: true, differences };
    if (differences.length === 0) return;
    const what = `the two ends counted differently: ${differences.join('; ')}`;
    this.#sink?.fault(new MlperfError('ERR_RULE', what));
  }
}

/** The settings, those of the protocol below its name. */
function named(settings: DispatchSettings): object {
  const { name, ...own } = settings.protocol;
  return Object.fromEntries(
    Object.entries(settings).map((one) => (one[1] === settings.protocol ? [name, own] : one)),
  );
}
