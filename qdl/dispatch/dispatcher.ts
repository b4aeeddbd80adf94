import type { BorrowedBytes } from '../../shared/base/bytes/borrowed-bytes.ts';
import { type MlperfError, sutLost } from '../../shared/base/errors/mlperf-error.ts';
import { asSaid } from '../../shared/base/text.ts';
import type {
  Query,
  ResponseSink,
  SampleFailure,
  SamplePayloads,
} from '../../shared/domain/system-under-test.ts';
import type { ClaimBook, ClaimKind } from '../../shared/evidence/node-claims.ts';
import type { NodeLossPolicy } from '../settings/dispatch-settings.ts';
import { BackPressure, type BackPressureTimes } from './back-pressure.ts';
import type {
  ChannelEvents,
  CompletedSample,
  DispatchChannel,
  OutgoingSample,
  UnsentRest,
} from './dispatch-channel.ts';
import { NOT_OUTSTANDING } from './outstanding-table.ts';
import { PartCutter, type PartLimits } from './part-cutter.ts';
import type { Router } from './router.ts';
import type { RunLedgerCounter } from './run-ledger.ts';
import type { NodeUsage, UsageSeries } from './usage-series.ts';
import { WaitingQueries } from './waiting-queries.ts';

/** Parts of a dispatcher. `onBreak` is called once, when the run cannot continue. */
export interface DispatcherParts {
  readonly payloads: SamplePayloads;
  readonly sink: ResponseSink;
  readonly onNodeLoss: NodeLossPolicy;
  /** Counts, one per node, by node index. */
  readonly ledgers: readonly RunLedgerCounter[];
  /** Impossible claims, one book per node. */
  readonly claims: readonly ClaimBook[];
  /** Reports on CPU and memory, one series per node. */
  readonly usages: readonly UsageSeries[];
  readonly onBreak: (error: MlperfError) => void;
}

/** The channels of a run, once all are open. */
export interface DispatcherChannels {
  readonly channels: readonly DispatchChannel[];
  readonly router: Router<DispatchChannel>;
  readonly limits: PartLimits;
}

/** A sample sent in part: it is outstanding, and waiting queries must not overtake it. */
interface HalfSent {
  readonly channel: DispatchChannel;
  readonly query: number;
  readonly wireId: number;
  readonly responseId: number;
  readonly rest: UnsentRest;
}

/**
 * The way of each query through the QDL and of each response back: waiting queries → part →
 * channel, channel → LoadGen. It only forwards and counts, and decides what the loss of a node
 * means.
 */
export class Dispatcher implements ChannelEvents {
  readonly #parts: DispatcherParts;
  readonly #waiting = new WaitingQueries();
  readonly #cutter: PartCutter;
  #channels: readonly DispatchChannel[] = [];
  #router: Router<DispatchChannel> | undefined;
  #halfSent: HalfSent | undefined;
  #isBroken = false;
  #hasGivenUp = false;
  /** True once all outstanding samples were reported as lost, because a node was lost. */
  #hasGivenUpSent = false;
  #isStopped = false;
  /** True if every sample had its response at {@link stop}. */
  #wasComplete = false;
  readonly #lostNodes = new Set<number>();
  readonly #backPressure = new BackPressure();
  /** Queries and samples that LoadGen has issued. */
  issuedQueries = 0;
  issuedSamples = 0;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#cutter = new PartCutter(this.#waiting, parts.payloads);
  }

  /** True while no query waits, no sample is outstanding and no node was lost. */
  get isComplete(): boolean {
    return (
      !this.#isBroken &&
      !this.#hasGivenUp &&
      this.#halfSent === undefined &&
      this.#waiting.size === 0 &&
      this.#channels.every((channel) => channel.outstanding.count === 0)
    );
  }

  /** Indices of the nodes that were lost. */
  get lostNodes(): ReadonlySet<number> {
    return this.#lostNodes;
  }

  /** How long queries have waited so far, per reason. */
  get backPressure(): BackPressureTimes {
    return this.#backPressure.timesAt(this.#parts.sink.nowNs());
  }

  /** Starts sending queries. */
  begin({ channels, router, limits }: DispatcherChannels): void {
    this.#channels = channels;
    this.#router = router;
    this.#cutter.setLimits(limits);
  }

  /** Takes a query. Hot path. */
  issue(query: Query): void {
    this.issuedQueries += 1;
    this.issuedSamples += query.sampleCount;
    this.#waiting.push(query);
    if (this.#isBroken) this.#giveUpWaiting();
    else this.#dispatch(false);
  }

  /**
   * LoadGen stops waiting for issued queries: waiting ones must not ask for payloads that are about
   * to be unloaded.
   */
  giveUp(): void {
    this.#hasGivenUp = true;
    this.#halfSent = undefined;
    this.#cutter.reset();
    this.#waiting.drop(() => {});
    this.#noteNothingWaits();
    for (const channel of this.#channels) channel.dropUnsent();
  }

  /** LoadGen no longer waits for responses: later ones are not reported to it. */
  stop(): void {
    this.#wasComplete = this.isComplete;
    this.#isStopped = true;
    this.giveUp();
  }

  onRoom(): void {
    this.#dispatch(true);
  }

  nowNs(): number {
    return this.#parts.sink.nowNs();
  }

  onFirstToken(channel: DispatchChannel, id: number, payload: BorrowedBytes, atNs: number): void {
    if (this.#isStopped) this.#noteLate(channel);
    else this.#parts.sink.firstToken(channel.outstanding.find(id), payload, atNs);
  }

  /** For an id that is not outstanding the sink reports the fault. */
  onTokens(channel: DispatchChannel, id: number, count: number, atNs: number): void {
    if (this.#isStopped) this.#noteLate(channel);
    else this.#parts.sink.tokens(channel.outstanding.find(id), count, atNs);
  }

  /** An unusable response is lost, never reported as complete. */
  onCompleted(channel: DispatchChannel, id: number, sample: CompletedSample, atNs: number): void {
    if (this.#isStopped) {
      this.#noteLate(channel);
      return;
    }
    const { payload, tokenCount = 0, durations, fault, decodeNs = 0 } = sample;
    if (tokenCount < 0) {
      this.onClaim(channel, 'token-count', `reported ${tokenCount} tokens for a response`);
    }
    const { sink } = this.#parts;
    const ledger = this.#ledgerOf(channel);
    ledger.completedCount += 1;
    ledger.responseBytes += sample.receivedBytes ?? payload.length;
    const responseId = channel.outstanding.release(id);
    if (fault !== undefined) {
      sink.fail(responseId, ofNode(channel, fault));
      return;
    }
    sink.served(responseId, channel.place.nodeIndex, durations, decodeNs);
    sink.complete(responseId, payload, tokenCount, atNs);
  }

  onClaim(channel: DispatchChannel, kind: ClaimKind, text: string, count?: number): void {
    this.#parts.claims[channel.place.nodeIndex]?.add(kind, text, count);
  }

  /**
   * After a run was given up a node may still answer; after a complete run every response is an
   * error.
   */
  #noteLate(channel: DispatchChannel): void {
    if (!this.#wasComplete) return;
    const text = 'sent a response after Close, although every sample was already answered';
    this.onClaim(channel, 'late-response', text);
  }

  onFailed(channel: DispatchChannel, id: number, failure: SampleFailure): void {
    if (this.#isStopped) {
      this.#noteLate(channel);
      return;
    }
    this.#ledgerOf(channel).failedCount += 1;
    this.#parts.sink.fail(channel.outstanding.release(id), ofNode(channel, failure));
  }

  onUsage(channel: DispatchChannel, usage: NodeUsage): void {
    const { usages, sink } = this.#parts;
    const fault = usages[channel.place.nodeIndex]?.add(usage, sink.nowNs());
    if (fault !== undefined) this.onClaim(channel, 'usage', fault);
  }

  onDraining(channel: DispatchChannel, reason: string): void {
    if (this.#isStopped) return;
    const why = reason === '' ? '' : `: ${asSaid(reason)}`;
    // The lost node still answers its outstanding samples.
    if (this.#goesOnWithout(channel)) return;
    this.#break(sutLost(`SUT node ${channel.place.address} is shutting down${why}`));
  }

  onLost(channel: DispatchChannel, error: MlperfError): void {
    if (this.#isStopped) return;
    const lost = channel.releaseAll();
    channel.dropUnsent();
    if (this.#hasGivenUpSent) {
      this.#lostNodes.add(channel.place.nodeIndex);
      return;
    }
    this.#failAll(lost, { code: 'lost', text: error.message });
    const text = `${error.message} in the middle of the run, with ${lost.length} samples outstanding`;
    if (this.#goesOnWithout(channel)) {
      this.#dispatch(true);
      return;
    }
    this.#break(sutLost(text, error));
    if (this.#parts.onNodeLoss === 'drain') return;
    this.#giveUpOutstanding(`given up because ${error.message}`);
  }

  /**
   * Sends everything that can go now. Hot path.
   * @param isNews Something happened that a waiting query may wait for.
   */
  #dispatch(isNews: boolean): void {
    const router = this.#router;
    if (router === undefined || this.#isStopped) return;
    let nowNs = Number.NaN;
    while (this.#hasNext()) {
      const channel = this.#pick(router);
      if (channel === undefined) {
        // Without news the reason for the wait is unchanged: in an overload each issue ends here.
        if (isNews || this.#backPressure.shortage === 'none') this.#noteShortage();
        return;
      }
      // One clock reading for all parts sent now.
      if (Number.isNaN(nowNs)) {
        nowNs = this.#parts.sink.nowNs();
        this.#backPressure.change('none', nowNs);
      }
      if (this.#halfSent === undefined) this.#sendPart(channel, nowNs);
      else this.#sendRest(this.#halfSent, nowNs);
    }
    this.#noteNothingWaits();
  }

  /** True if something is left to send. First fails the samples that no node takes. */
  #hasNext(): boolean {
    if (this.#halfSent !== undefined) return true;
    while (this.#waiting.size > 0 && this.#cutter.isTooLarge) this.#refuseSample();
    return this.#waiting.size > 0;
  }

  #noteNothingWaits(): void {
    if (this.#backPressure.shortage === 'none') return;
    this.#backPressure.change('none', this.#parts.sink.nowNs());
  }

  /** Starts to count why the next part cannot go. */
  #noteShortage(): void {
    const { sampleCount, bytes } = this.#cutter;
    const half = this.#halfSent;
    const hasCredit =
      half === undefined
        ? this.#channels.some((channel) => channel.hasCreditFor(sampleCount, bytes))
        : half.channel.hasCreditFor(0, half.rest.nextBytes);
    const shortage = hasCredit ? 'socket' : 'credit';
    if (shortage === this.#backPressure.shortage) return;
    this.#backPressure.change(shortage, this.#parts.sink.nowNs());
  }

  #sendPart(channel: DispatchChannel, nowNs: number): void {
    const firstResponseId = this.#waiting.headResponseId(0);
    const stride = this.#waiting.headResponseIdStride;
    const part = this.#cutter.cut(channel.outstanding);
    const { query, samples, bytes } = part;
    const rest = channel.send(part);
    this.#ledgerOf(channel).countPart(query, samples.length, bytes - (rest?.bytes ?? 0));
    if (rest !== undefined) {
      const wireId = (samples[0] as OutgoingSample).id; // The part holds this sample only.
      this.#halfSent = { channel, query, wireId, responseId: firstResponseId, rest };
      return;
    }
    for (let i = 0; i < samples.length; i += 1) {
      this.#parts.sink.handedOver(firstResponseId + i * stride, nowNs);
    }
  }

  #sendRest({ channel, query, responseId, rest }: HalfSent, nowNs: number): void {
    this.#ledgerOf(channel).countPart(query, 0, rest.nextBytes);
    rest.sendNext();
    if (rest.bytes > 0) return;
    this.#halfSent = undefined;
    this.#parts.sink.handedOver(responseId, nowNs);
  }

  #refuseSample(): void {
    const responseId = this.#waiting.headResponseId(0);
    this.#cutter.reset();
    this.#waiting.advance(1);
    const text = 'the sample is larger than a SUT node takes (sampleBytesMax in its Describe)';
    this.#parts.sink.fail(responseId, { code: 'limit', text });
  }

  #pick(router: Router<DispatchChannel>): DispatchChannel | undefined {
    const half = this.#halfSent;
    if (half !== undefined) {
      return half.channel.canTake(0, half.rest.nextBytes) ? half.channel : undefined;
    }
    this.#cutter.plan();
    return router(this.#cutter.sampleCount, this.#cutter.bytes);
  }

  /**
   * Retires the channel's node if the run may continue with the others.
   * @returns False if it may not, or no node is left.
   */
  #goesOnWithout(channel: DispatchChannel): boolean {
    const { nodeIndex } = channel.place;
    this.#lostNodes.add(nodeIndex);
    if (this.#isBroken || this.#parts.onNodeLoss !== 'continue') return false;
    if (this.#halfSent?.channel.place.nodeIndex === nodeIndex) this.#giveUpHalfSent();
    for (const other of this.#channels) {
      if (other.place.nodeIndex === nodeIndex) other.retire();
    }
    return this.#channels.some((other) => !this.#lostNodes.has(other.place.nodeIndex));
  }

  /** Fails the sample once: here, unless it was answered or lost before. */
  #giveUpHalfSent(): void {
    const half = this.#halfSent;
    this.#halfSent = undefined;
    const responseId = half?.channel.outstanding.release(half.wireId) ?? NOT_OUTSTANDING;
    if (responseId === NOT_OUTSTANDING) return;
    const text = 'the SUT node was lost while the sample was being sent in pieces';
    this.#parts.sink.fail(responseId, { code: 'lost', text });
  }

  /**
   * LoadGen stops waiting for outstanding and half-sent samples. Ids of sent samples stay taken,
   * since the nodes still answer them.
   */
  #giveUpOutstanding(text: string): void {
    this.#hasGivenUpSent = true;
    for (const channel of this.#channels) {
      const givenUp = channel.outstanding.responseIds();
      channel.dropUnsent();
      this.#failAll(givenUp, { code: 'lost', text, isGivenUp: true });
    }
  }

  #failAll(responseIds: Float64Array, failure: SampleFailure): void {
    for (const responseId of responseIds) this.#parts.sink.fail(responseId, failure);
  }

  /**
   * Stops sending, once: in the Network division the SUT is all of its nodes or none. Later
   * failures follow from this one.
   */
  #break(error: MlperfError): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#giveUpHalfSent();
    this.#giveUpWaiting();
    this.#parts.onBreak(error);
  }

  #giveUpWaiting(): void {
    const failure = { code: 'not-sent', text: 'the SUT was lost before the sample could be sent' };
    this.#waiting.drop((responseId) => this.#parts.sink.fail(responseId, failure));
    this.#noteNothingWaits();
  }

  #ledgerOf(channel: DispatchChannel): RunLedgerCounter {
    // In range: one per node.
    return this.#parts.ledgers[channel.place.nodeIndex] as RunLedgerCounter;
  }
}

/** The failure, with the node in its text. */
function ofNode({ place }: DispatchChannel, { code, text }: SampleFailure): SampleFailure {
  return { code, text: `SUT node ${place.address}: ${text}` };
}
