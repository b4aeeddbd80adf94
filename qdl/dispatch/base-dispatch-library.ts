import { randomUUID } from 'node:crypto';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { SamplePayloads } from '../../shared/domain/query-sample-library.ts';
import type { Query, ResponseSink } from '../../shared/domain/system-under-test.ts';
import type { NetworkEvidence } from '../../shared/evidence/network-evidence.ts';
import { contradictsResult } from '../../shared/evidence/node-claims.ts';
import { settingsAsText } from '../../shared/evidence/settings-text.ts';
import type { DispatchSettings } from '../settings/dispatch-settings.ts';
import type { BackPressureTimes } from './back-pressure.ts';
import type { ChannelPlace } from './dispatch-channel.ts';
import { Dispatcher, type DispatcherChannels } from './dispatcher.ts';
import type { NetworkNames } from './network-name.ts';
import type {
  LedgerReport,
  NodeActivity,
  QdlNode,
  QueryDispatchLibrary,
  WaitProgress,
} from './query-dispatch-library.ts';
import { NodeLoad } from './router/node-load.ts';

/** How the channels of a run lie over nodes and connections. */
export interface ChannelCounts {
  /** To each node, 1 or more, and the connections that they share. */
  readonly channelsPerNode: number;
  readonly connectionsPerNode: number;
  /** Most samples outstanding on one node. */
  readonly nodeOutstandingMax: number;
}

/** The life of a QDL around its dispatcher, as far as it is the same for every protocol. */
export abstract class BaseDispatchLibrary implements QueryDispatchLibrary {
  readonly runId: string = randomUUID();
  abstract readonly nodes: readonly QdlNode[];
  protected readonly settings: DispatchSettings;
  protected readonly payloads: SamplePayloads;
  protected abstract readonly names: NetworkNames;
  #loads: readonly NodeLoad[] = [];
  #dispatcher: Dispatcher | undefined;
  #sink: ResponseSink | undefined;
  #isStarted = false;
  #ledgerReport: LedgerReport = { isCompared: false, differences: [] };

  /** @param payloads The sample library's bytes; taken when a part is written, never kept. */
  constructor(settings: DispatchSettings, payloads: SamplePayloads) {
    this.settings = settings;
    this.payloads = payloads;
  }

  abstract connect(onWait?: WaitProgress): Promise<void>;

  /** Opens the channels of the run at these places; what they report goes to the dispatcher. */
  protected abstract openChannels(
    places: readonly ChannelPlace[],
    dispatcher: Dispatcher,
  ): Promise<DispatcherChannels>;

  /** How many channels there are. */
  protected abstract channelCounts(): ChannelCounts;

  /** Ends the channels: nothing is outstanding any more, or nobody waits for it. Never throws. */
  protected abstract closeChannels(): Promise<void>;

  /**
   * After a run that came to its end: what the other ends counted.
   * @param lostNodes Indices of the nodes that cannot be asked.
   * @returns Differences in words.
   */
  protected abstract compareLedgers(lostNodes: ReadonlySet<number>): Promise<readonly string[]>;

  /** Frees everything else. */
  protected abstract close(): Promise<void>;

  async evidence(): Promise<NetworkEvidence> {
    const { division, encoding, receiveWindowBytes } = this.settings;
    return {
      runId: this.runId,
      division,
      encoding,
      settings: settingsAsText(this.settings),
      receiveWindowBytes,
      issuedQueries: this.#dispatcher?.issuedQueries ?? 0,
      issuedSamples: this.#dispatcher?.issuedSamples ?? 0,
      isComplete: this.#ledgerReport.isCompared,
      nameCalls: await this.names.calls(),
      nodes: this.nodes.map((node) => node.evidence()),
    };
  }

  get backPressure(): BackPressureTimes {
    return this.#dispatcher?.backPressure ?? { socketNs: 0, creditNs: 0 };
  }

  get ledgerReport(): LedgerReport {
    return this.#ledgerReport;
  }

  activity(): NodeActivity[] {
    const names = this.names.last?.nodes;
    return this.nodes.map(({ address, ledger }, i) => ({
      name: names?.[i]?.name ?? address,
      outstandingSamples: this.#loads[i]?.outstanding ?? 0,
      completedSamples: ledger.completedCount,
      failedSamples: ledger.failedCount,
      isLost: this.#dispatcher?.lostNodes.has(i) ?? false,
    }));
  }

  name(): Promise<string> {
    return this.names.ask();
  }

  async start(sink: ResponseSink): Promise<void> {
    this.#sink = sink;
    const { onNodeLoss } = this.settings;
    const ledgers = this.nodes.map((node) => node.ledger);
    const claims = this.nodes.map((node) => node.claims);
    const dispatcher = new Dispatcher({
      ...{ payloads: this.payloads, sink, onNodeLoss, ledgers, claims },
    });
    this.#dispatcher = dispatcher;
    dispatcher.begin(await this.openChannels(this.#places(), dispatcher));
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
    await this.closeChannels();
    if (isComplete) await this.#compare();
    this.#judgeClaims();
    await this.close();
  }

  /** The channels of the run: neighbours belong to different nodes, so that turns go round the nodes first. */
  #places(): ChannelPlace[] {
    const { nodes, weights } = this.settings;
    const { channelsPerNode, connectionsPerNode, nodeOutstandingMax } = this.channelCounts();
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

  /** What contradicts the result makes the run INVALID, as a broken contract does. */
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

  /** What one end counted and the other did not makes the run INVALID: a fault, told before the end. */
  async #compare(): Promise<void> {
    const differences = await this.compareLedgers(this.#dispatcher?.lostNodes ?? new Set());
    this.#ledgerReport = { isCompared: true, differences };
    if (differences.length === 0) return;
    const what = `the two ends counted differently: ${differences.join('; ')}`;
    this.#sink?.fault(new MlperfError('ERR_RULE', what));
  }
}
