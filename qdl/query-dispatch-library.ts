import { randomUUID } from 'node:crypto';
import type { Open } from '../proto/gen/mlperf/network/v1/Open.ts';
import type { SamplePayloads } from '../shared/domain/query-sample-library.ts';
import type { Query, ResponseSink, SystemUnderTest } from '../shared/domain/system-under-test.ts';
import { MlperfError } from '../shared/errors/mlperf-error.ts';
import { messageOf } from '../shared/errors/to-mlperf-error.ts';
import { PROTOCOL_VERSION } from '../shared/wire/limits.ts';
import type { WireResponses } from '../shared/wire/responses-codec.ts';
import { failureWord } from '../shared/wire/responses-codec.ts';
import { type ChannelEvents, SutChannel } from './channel/sut-channel.ts';
import type { DispatchSettings } from './dispatch-settings.ts';
import { askNetworkName, type NetworkName } from './network-name.ts';
import { compareLedgers } from './node/run-ledger.ts';
import { PartCutter } from './part-cutter.ts';
import { RoundRobin } from './router/round-robin.ts';
import type { Router } from './router/router.ts';
import { SutNodeHandle, type WaitProgress } from './sut-node-handle.ts';
import { WaitingQueries } from './waiting-queries.ts';

/** Longest wait for a node to end its stream after Close: everything is answered by then. */
const CLOSE_TIMEOUT_MS = 2_000;

/** What both ends counted, after the run. */
export interface LedgerReport {
  /** False when the run broke off, so that the counts need not agree. */
  readonly isCompared: boolean;
  /** Differences in words; empty when the two ends agree. */
  readonly differences: readonly string[];
}

/**
 * The Query Dispatch Library: a {@link SystemUnderTest} whose work is done by SUT nodes on the other
 * side of a network. It forwards; it never batches, pads, caches, reorders, pre- or post-processes
 * (rule: inference_rules v4.1, Network division, QDL constraints). A query goes out as it is, alone,
 * in one part where it fits.
 *
 * Order of calls: `connect`, `name`, `start`, `issueQuery`..., `stop`, `ledgerReport`.
 */
export class QueryDispatchLibrary implements SystemUnderTest, ChannelEvents {
  readonly runId: string = randomUUID();
  readonly nodes: readonly SutNodeHandle[];
  readonly #settings: DispatchSettings;
  readonly #waiting = new WaitingQueries();
  readonly #cutter: PartCutter;
  #channels: readonly SutChannel[] = [];
  #router: Router = new RoundRobin([]);
  #sink: ResponseSink | undefined;
  #isBroken = false;
  #isStarted = false;
  /** From stop() on LoadGen waits for nothing: what still comes in is no news to it. */
  #isStopping = false;
  #lastName: NetworkName | undefined;
  #ledgerReport: LedgerReport = { isCompared: false, differences: [] };

  /** @param payloads The sample library's bytes; taken when a part is written, never kept. */
  constructor(settings: DispatchSettings, payloads: SamplePayloads) {
    this.#settings = settings;
    this.nodes = settings.nodes.map((address) => new SutNodeHandle(address, settings));
    this.#cutter = new PartCutter(this.#waiting, payloads);
  }

  /** What the nodes answered to the last {@link name}. */
  get lastName(): NetworkName | undefined {
    return this.#lastName;
  }

  /** The comparison made by {@link stop}. */
  get ledgerReport(): LedgerReport {
    return this.#ledgerReport;
  }

  /**
   * Waits until every node is ready and checks that it fits the run. Untimed.
   * @throws MlperfError `ERR_SUT_UNREACHABLE`, `ERR_SUT_NOT_READY`, `ERR_SUT_REFUSED`
   */
  async connect(onWait: WaitProgress = () => {}): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.prepare(onWait)));
  }

  async name(): Promise<string> {
    this.#lastName = await askNetworkName(this.nodes.map((node) => node.control));
    return this.#lastName.name;
  }

  async start(sink: ResponseSink): Promise<void> {
    this.#sink = sink;
    const { nodes, streamsPerNode, callTimeoutMs } = this.#settings;
    const streamCount = nodes.length * streamsPerNode;
    this.#channels = Array.from({ length: streamCount }, (_, streamIndex) => {
      // Neighbours belong to different nodes, so that turns go round the nodes first.
      const nodeIndex = streamIndex % nodes.length;
      const streamOfNode = Math.floor(streamIndex / nodes.length);
      const address = nodes[nodeIndex] as string;
      const place = { address, nodeIndex, streamOfNode, streamIndex, streamCount };
      return new SutChannel(place, this.#settings, this.#open(streamOfNode), this);
    });
    this.#router = new RoundRobin(this.#channels);
    const opened = await Promise.all(
      this.#channels.map((channel) => channel.opened(callTimeoutMs)),
    );
    for (const channel of this.#channels) channel.requireCredit();
    const credits = this.#channels.map((channel) => channel.initialCredit);
    this.#cutter.setLimits({
      bytesMax: Math.min(
        this.#settings.partBytesMax,
        ...opened.map((answer) => answer.limits?.partBytesMax || Number.POSITIVE_INFINITY),
        ...credits.map((credit) => credit.bytes),
      ),
      samplesMax: Math.min(
        this.#settings.partSamplesMax,
        ...credits.map((credit) => credit.samples),
      ),
      sampleBytesMax: Math.min(
        ...opened.map((answer) => answer.limits?.sampleBytesMax || Number.POSITIVE_INFINITY),
      ),
    });
    this.#isStarted = true;
  }

  issueQuery(query: Query): void {
    this.#waiting.push(query);
    if (this.#isBroken) this.#giveUpWaiting();
    else this.#dispatch();
  }

  /** Nothing is ever held back, so nothing is left to do. */
  flushQueries(): void {}

  async stop(): Promise<void> {
    this.#isStopping = true;
    const isComplete =
      this.#isStarted &&
      !this.#isBroken &&
      this.#waiting.size === 0 &&
      this.#channels.every((channel) => channel.outstandingCount === 0);
    await Promise.all(this.#channels.map((channel) => channel.close(CLOSE_TIMEOUT_MS)));
    if (isComplete) await this.#compareLedgers();
    for (const node of this.nodes) node.control.close();
  }

  onRoom(): void {
    this.#dispatch();
  }

  onResponses(channel: SutChannel, responses: WireResponses): void {
    if (this.#isStopping) return;
    const sink = this.#sink as ResponseSink; // Set before the first stream was opened.
    const atNs = sink.nowNs();
    const { ledger } = this.nodes[channel.place.nodeIndex] as SutNodeHandle;
    for (const { id, payload } of responses.firstTokens) {
      sink.firstToken(channel.findId(id), payload, atNs);
    }
    for (const sample of responses.completed) {
      ledger.completedCount += 1;
      ledger.responseBytes += sample.payload.length;
      const responseId = channel.releaseId(sample.id);
      sink.complete(responseId, sample.payload, sample.tokenCount ?? 0, atNs);
    }
    for (const { id, code, text } of responses.failed) {
      ledger.failedCount += 1;
      const failure = {
        code: failureWord(code),
        text: `SUT node ${channel.place.address}: ${text}`,
      };
      sink.fail(channel.releaseId(id), failure);
    }
    this.#dispatch();
  }

  onDraining(channel: SutChannel, reason: string): void {
    if (this.#isStopping) return;
    this.#break(
      new MlperfError(
        'ERR_SUT_LOST',
        `SUT node ${channel.place.address} is shutting down${reason === '' ? '' : `: ${reason}`}`,
      ),
    );
  }

  onLost(channel: SutChannel, error: MlperfError): void {
    if (this.#isStopping) return;
    const lost = channel.releaseAll();
    const failure = { code: 'lost', text: error.message };
    for (const responseId of lost) this.#sink?.fail(responseId, failure);
    this.#break(
      new MlperfError(
        'ERR_SUT_LOST',
        `${error.message} in the middle of the run, with ${lost.length} samples outstanding`,
        { cause: error },
      ),
    );
  }

  /** Sends what can go now. Hot path. */
  #dispatch(): void {
    while (this.#waiting.size > 0) {
      if (this.#cutter.isTooLarge) {
        this.#refuseSample();
        continue;
      }
      this.#cutter.plan();
      const { sampleCount, bytes } = this.#cutter;
      const channel = this.#pick(sampleCount, bytes);
      if (channel === undefined) return;
      const query = this.#waiting.headQueryId;
      const querySampleCount = this.#waiting.headSampleCount;
      const samples = this.#cutter.cut(channel);
      const { ledger } = this.nodes[channel.place.nodeIndex] as SutNodeHandle;
      ledger.countPart(query, sampleCount, bytes);
      channel.send(query, querySampleCount, samples, bytes);
    }
  }

  #refuseSample(): void {
    const responseId = this.#waiting.headResponseId(0);
    this.#cutter.reset();
    this.#waiting.advance(1);
    const text = 'the sample is larger than a SUT node takes (sampleBytesMax in its Describe)';
    this.#sink?.fail(responseId, { code: 'limit', text });
  }

  #pick(sampleCount: number, bytes: number): SutChannel | undefined {
    const bound = this.#cutter.boundChannel;
    if (bound === undefined) return this.#router.pick(sampleCount, bytes);
    return bound.canTake(sampleCount, bytes) ? bound : undefined;
  }

  /** Ends the run's sending: in the Network division the SUT is all of its nodes or none. */
  #break(error: MlperfError): void {
    this.#isBroken = true;
    // A half-sent sample is on the wire and waits at once. It fails once: with the wire, if that is lost.
    const isHalfSentLost = this.#cutter.giveUpPiece();
    if (isHalfSentLost) this.#waiting.advance(1);
    this.#giveUpWaiting();
    this.#sink?.fault(error);
  }

  #giveUpWaiting(): void {
    const failure = { code: 'not-sent', text: 'the SUT was lost before the sample could be sent' };
    this.#waiting.drop((responseId) => this.#sink?.fail(responseId, failure));
  }

  /** What one end counted and the other did not makes the run INVALID: a fault, told before the end. */
  async #compareLedgers(): Promise<void> {
    const lists = await Promise.all(
      this.nodes.map(async (node) => {
        try {
          const theirs = await node.control.ledger(this.runId);
          return compareLedgers(node.address, node.ledger, theirs);
        } catch (error) {
          return [`SUT node ${node.address} did not tell its ledger: ${messageOf(error)}`];
        }
      }),
    );
    const differences = lists.flat();
    this.#ledgerReport = { isCompared: true, differences };
    if (differences.length === 0) return;
    const what = `the two ends counted differently: ${differences.join('; ')}`;
    this.#sink?.fault(new MlperfError('ERR_RULE', what));
  }

  #open(streamOfNode: number): Open {
    const { benchmark, division, encoding } = this.#settings;
    return {
      protocolVersion: PROTOCOL_VERSION,
      runId: this.runId,
      benchmark,
      division: division === 'network' ? 'DIVISION_NETWORK' : 'DIVISION_OPEN',
      encodings: [encoding],
      responseEncodings: [{ form: 'raw', compression: 'identity' }],
      features: [],
      digestPerMillion: 0,
      streamIndex: streamOfNode,
      tokenLatencies: false,
    };
  }
}
