import { status } from '@grpc/grpc-js';
import type { Open } from '../../../../proto/gen/mlperf/network/v1/Open.ts';
import type { Opened__Output } from '../../../../proto/gen/mlperf/network/v1/Opened.ts';
import { Deferred } from '../../../../shared/base/async.ts';
import {
  grpcToMlperfError,
  MlperfError,
  messageOf,
  sutLost,
  sutRefused,
  wireError,
} from '../../../../shared/base/errors/mlperf-error.ts';
import type { SamplePayloads } from '../../../../shared/domain/system-under-test.ts';
import type { OwnSide } from '../../../../shared/evidence/call-path.ts';
import type { StreamEvidence } from '../../../../shared/evidence/evidence-schema.ts';
import { lossReason } from '../../../../shared/security/connection-errors.ts';
import {
  decodeResponses,
  isResponses,
  type WireResponses,
} from '../../../../shared/wire/responses-codec.ts';
import {
  decodeSutMessage,
  encodeLoadGenMessage,
  USAGE_FEATURE,
} from '../../../../shared/wire/sut-contract.ts';
import type {
  ChannelEvents,
  ChannelPlace,
  DispatchChannel,
  OutgoingPart,
  UnsentRest,
} from '../../../dispatch/dispatch-channel.ts';
import { OutstandingTable } from '../../../dispatch/outstanding-table.ts';
import type { DigestedLedger } from './digested-ledger.ts';
import { GrantedCredit, type Reopening, ReopenLimit } from './one-stream.ts';
import type { PartTransport, TransportEnd, TransportEvents } from './part-transport.ts';
import type { ResponseDecoder } from './response-decoder.ts';
import { ResponseReader } from './response-reader.ts';
import {
  begunCount,
  hasLastByte,
  LargeSample,
  type SentPart,
  type SentSample,
} from './sent-part.ts';

const NO_CREDIT = { samples: 0, bytes: 0 };

/** Makes the stream of a channel; it connects at once. */
export type OpenTransport = (place: ChannelPlace, events: TransportEvents) => PartTransport;

/** Parts of a channel. */
export interface SutChannelParts {
  readonly openTransport: OpenTransport;
  readonly open: Open;
  /** Ledger of the node: takes digests of what is sent. */
  readonly ledger: DigestedLedger;
  readonly payloads: SamplePayloads;
  /** Bytes of one token in a response; absent: taken from the first token. */
  readonly tokenBytes?: number | undefined;
  /** Absent: any end of the stream is a loss. */
  readonly reopening?: Reopening;
}

/**
 * One long-lived Infer stream to one SUT node (state machine: qdl/README.md).
 *
 *     opening ──Opened──► open ──close()──► closing ──status OK──► closed
 *        │ ▲                 │
 *        │ └─── ended idle ──┤ (nothing outstanding: another stream, if there is a Reopening)
 *        └───────────────────┴─ status ≠ OK, bad message ─────────► closed
 */
export class SutChannel implements DispatchChannel, TransportEvents {
  readonly place: ChannelPlace;
  readonly outstanding: OutstandingTable;
  /** Result of the check that the node does not compress messages by gRPC. Set after Opened. */
  compressionCheck: StreamEvidence['compressionCheck'] = 'unknown';
  /** This end's view of the stream's call. Set after Opened. */
  own: OwnSide = { loadgen: null, responseHeaders: [] };
  readonly #parts: SutChannelParts;
  #transport: PartTransport;
  readonly #events: ChannelEvents;
  /** Resolves when the stream is open again, or lost. */
  #whenReopened: Promise<void> | undefined;
  #streamCount = 1;
  readonly #reopenLimit = new ReopenLimit();
  /** True once the loss was reported. */
  #isLost = false;
  /** The node takes no more queries and will end the stream. */
  isDraining = false;
  /** Protocol version sent in Open. */
  readonly #protocolVersion: number | undefined;
  readonly #takesUsage: boolean;
  readonly #reader: ResponseReader;
  /** Largest payload of a message, bytes. */
  #partBytesMax = Number.POSITIVE_INFINITY;
  #state: 'opening' | 'open' | 'retired' | 'closing' | 'closed' = 'opening';
  #credit = new GrantedCredit();
  /**
   * Stream offset of the end of the last sample queued for the socket; infinite between the pieces
   * of one.
   */
  #framedBytes = 0;
  /** Close was sent after every sample had its response: the node only has to end the stream. */
  #isAllAnswered = false;
  #opened: Opened__Output | undefined;
  #whenOpened = new Deferred<Opened__Output>();
  readonly #whenClosed = new Deferred<void>();

  constructor(place: ChannelPlace, parts: SutChannelParts, events: ChannelEvents) {
    const { open } = parts;
    this.place = place;
    this.#parts = parts;
    this.#events = events;
    this.#protocolVersion = open.protocolVersion;
    this.#takesUsage = open.features?.includes(USAGE_FEATURE) === true;
    this.outstanding = new OutstandingTable(place);
    this.#reader = new ResponseReader(this, events, open, parts.tokenBytes);
    this.#transport = parts.openTransport(place, this);
    this.#transport.sendControl(encodeLoadGenMessage({ open }));
  }

  /** Sets the negotiated values, before the first part. */
  begin(decoder: ResponseDecoder, partBytesMax: number): void {
    this.#reader.decoder = decoder;
    this.#partBytesMax = partBytesMax;
  }

  /**
   * Waits for Opened. @throws MlperfError if the node refuses, is lost or does not answer in time.
   */
  async opened(timeoutMs: number): Promise<Opened__Output> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const what = `SUT node ${this.place.address} does not answer Open within ${timeoutMs} ms`;
        reject(new MlperfError('ERR_TIMEOUT', what));
      }, timeoutMs);
    });
    try {
      return await Promise.race([this.#whenOpened.promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The first credit: no part may be larger. */
  get initialCredit(): { readonly samples: number; readonly bytes: number } {
    return this.#opened?.credit ?? NO_CREDIT;
  }

  /** True if a part of so many new samples and payload bytes may go now. Hot path. */
  canTake(sampleCount: number, bytes: number): boolean {
    return this.#transport.hasRoom && this.hasCreditFor(sampleCount, bytes);
  }

  /** True if credit allows such a part, whatever the socket holds. Hot path. */
  hasCreditFor(sampleCount: number, bytes: number): boolean {
    return (
      this.#state === 'open' &&
      this.outstanding.canTake(sampleCount) &&
      // For a sample larger than a part only the first piece needs credit.
      this.#credit.hasFor(sampleCount, Math.min(bytes, this.#partBytesMax))
    );
  }

  /** Releases all outstanding samples; returns their response ids. */
  releaseAll(): Float64Array {
    return this.outstanding.releaseAll();
  }

  isSent(slot: number): boolean {
    const { sentBytes } = this.#transport;
    return sentBytes >= this.#framedBytes || !(this.outstanding.lastByteOf(slot) > sentBytes);
  }

  /** Sends a part. Requires {@link canTake}. */
  send(part: OutgoingPart): UnsentRest | undefined {
    if (part.bytes <= this.#partBytesMax) {
      this.#send(part);
      return undefined;
    }
    const rest = new LargeSample(part, this.#partBytesMax, (piece) => this.#send(piece));
    rest.sendNext();
    return rest;
  }

  #send(part: SentPart): void {
    const { samples, bytes } = part;
    const { ledger, payloads } = this.#parts;
    this.#credit.take(begunCount(part), bytes);
    this.#transport.sendPart(part);
    for (let i = 0; i < samples.length; i += 1) {
      const sample = samples[i] as SentSample; // In range: i < length.
      if (hasLastByte(sample)) ledger.addSample(sample.id, sample.sampleIndex, payloads);
    }
  }

  /**
   * Drops the parts that wait for the socket, as if never sent: their samples are no longer
   * outstanding.
   */
  dropUnsent(): void {
    for (const part of this.#transport.dropParts()) {
      const count = begunCount(part);
      this.#credit.take(-count, -part.bytes);
      if (count > 0) for (const { id } of part.samples) this.outstanding.release(id);
    }
  }

  /** Sends Close and waits up to `timeoutMs` for the node to end the stream. Never throws. */
  async close(timeoutMs: number): Promise<void> {
    // The node counts the stream that is being opened again, so this end must count it too.
    await this.#whenReopened;
    this.#reader.isOver = true;
    if (this.#state === 'open' || this.#state === 'retired') {
      this.#state = 'closing';
      this.#isAllAnswered = this.outstanding.count === 0;
      this.#transport.sendControl(encodeLoadGenMessage({ close: {} }));
      this.#transport.endSending();
    } else if (this.#state === 'opening') {
      this.#state = 'closing';
      this.#transport.cancel();
    }
    const timer = setTimeout(() => {
      this.#noteEnd(`did not end a stream within ${timeoutMs} ms after Close`);
      this.#transport.cancel();
    }, timeoutMs);
    await this.#whenClosed.promise;
    clearTimeout(timer);
  }

  /** Stops sending; outstanding samples may still be answered. */
  retire(): void {
    if (this.#state === 'open' || this.#whenReopened !== undefined) this.#state = 'retired';
  }

  onAccepted(own: OwnSide): void {
    this.compressionCheck = 'checked';
    this.own = own;
  }

  onFramed({ samples }: SentPart, end: number): void {
    for (let i = 0; i < samples.length; i += 1) {
      const sample = samples[i] as SentSample; // In range: i < length.
      const isWhole = hasLastByte(sample);
      this.#framedBytes = isWhole ? end : Number.POSITIVE_INFINITY;
      if (isWhole) this.outstanding.setLastByte(sample.id, end);
    }
  }

  onWritten(): void {
    this.#events.onRoom();
  }

  /**
   * Checks the first credit. It bounds the size of a part, so it must hold one sample at least.
   * @throws MlperfError `ERR_SUT_REFUSED`
   */
  requireCredit(): void {
    const { samples, bytes } = this.initialCredit;
    if (samples >= 1 && bytes >= 1) return;
    throw sutRefused(
      `SUT node ${this.place.address} opened a stream without credit (${samples} samples, ${bytes} bytes); ` +
        'the first grant must hold one sample at least',
    );
  }

  onMessage(bytes: Buffer): void {
    // A stream given up ends later; messages may come until then.
    if (this.#state === 'closed') return;
    let responses: WireResponses | undefined;
    try {
      if (isResponses(bytes)) responses = decodeResponses(bytes);
      else this.#onControl(bytes);
    } catch (error) {
      this.#lose(
        wireError(
          `SUT node ${this.place.address} sent a message that breaks the protocol: ${messageOf(error)}`,
          error,
        ),
      );
      this.#transport.cancel();
    }
    // Outside the try block: an error of LoadGen itself is no fault of the node.
    if (responses === undefined) return;
    this.#reopenLimit.onAnswer();
    this.#reader.read(responses);
  }

  #onControl(bytes: Buffer): void {
    const message = decodeSutMessage(bytes);
    if (message.opened && this.#opened === undefined) {
      this.#requireVersion(message.opened.protocolVersion);
      this.#opened = message.opened;
      this.#reopenLimit.onOpened();
      // A stream that is opened again is checked first.
      if (this.#state === 'opening' && this.#whenReopened === undefined) this.#state = 'open';
      this.#credit.grant(message.opened.credit ?? NO_CREDIT);
      this.#whenOpened.resolve(message.opened);
    } else if (message.credit) {
      const wrong = this.#credit.grant(message.credit);
      if (wrong !== undefined) this.#events.onClaim(this, 'credit-back', wrong);
      this.#events.onRoom();
    } else if (message.usage && this.#takesUsage) {
      this.#events.onUsage(this, message.usage);
    } else if (message.draining) {
      this.isDraining = true;
      this.#events.onDraining(this, message.draining.reason);
    } else if (message.message !== undefined) {
      // A message unknown to this version may be a feature of a later one.
      throw wireError(`"${message.message}" is not expected now`);
    } else if (bytes.length === 0) {
      this.#events.onClaim(this, 'empty-message', 'sent a message without any field');
    }
  }

  /** Records, once, that the node ended the stream irregularly. */
  #noteEnd(text: string): void {
    if (this.#isAllAnswered) this.#events.onClaim(this, 'stream-end', text);
    this.#isAllAnswered = false;
  }

  #requireVersion(version: number): void {
    if (version === this.#protocolVersion) return;
    throw wireError(
      `Opened has protocol version ${version}, Open had version ${this.#protocolVersion}`,
    );
  }

  onEnd(end: TransportEnd): void {
    // After Close every sample is answered or given up. Any end of the stream, even by our cancel,
    // is no loss: the ledgers show missing samples.
    if (this.#state === 'closing') {
      this.#state = 'closed';
      // A node that shuts down ends its streams with such a status.
      if (end.code !== status.OK && !this.isDraining) {
        this.#noteEnd(`ended a stream with status ${status[end.code] ?? end.code} after Close`);
      }
    } else if (this.#mayReopen()) {
      this.#whenReopened = this.#reopen(this.#lossOf(end));
      return;
    } else {
      this.#lose(this.#lossOf(end));
    }
    this.#whenClosed.resolve();
  }

  #mayReopen(): boolean {
    if (this.#parts.reopening === undefined || this.#state !== 'open' || this.isDraining)
      return false;
    return this.outstanding.count === 0 && this.#reopenLimit.allowsAnother();
  }

  /** Replaces an idle stream that ended by another one. Never rejects. */
  async #reopen(ended: MlperfError): Promise<void> {
    const { timeoutMs, openOf, accept } = this.#parts.reopening as Reopening;
    this.#state = 'opening';
    this.#opened = undefined;
    this.#whenOpened = new Deferred();
    this.#credit = new GrantedCredit();
    this.#framedBytes = 0;
    // Not inside the end event of the old stream.
    await Promise.resolve();
    this.#transport = this.#parts.openTransport(this.place, this);
    this.#transport.sendControl(encodeLoadGenMessage({ open: openOf(this.#streamCount) }));
    this.#streamCount += 1;
    try {
      accept(this, await this.opened(timeoutMs), ended.message);
      this.requireCredit();
    } catch (error) {
      if (!this.#isLost) {
        this.#state = 'closed';
        const why = `${ended.message}, and no other stream can be opened: ${messageOf(error)}`;
        this.#events.onLost(this, sutLost(why, error));
      }
      this.#transport.cancel();
      return;
    } finally {
      this.#whenReopened = undefined;
    }
    if (this.#state === 'opening') this.#state = 'open';
    this.#events.onRoom();
  }

  #lossOf(end: TransportEnd): MlperfError {
    const what = `SUT node ${this.place.address}`;
    if (end.code === status.OK) {
      return sutLost(`${what} closed the stream`);
    }
    const error = grpcToMlperfError({ ...end, details: lossReason(end.details) }, what);
    const isLoss = end.code === status.UNAVAILABLE && this.#opened !== undefined;
    return isLoss ? sutLost(error.message, end) : error;
  }

  /** Ends the channel from any state; reports once. */
  #lose(error: MlperfError): void {
    if (this.#state === 'closed') return;
    if (this.#opened === undefined) {
      // For a stream that is being opened again, #reopen reports the loss.
      if (this.#whenReopened === undefined) this.#state = 'closed';
      this.#whenOpened.reject(error);
    } else {
      this.#state = 'closed';
      this.#isLost = true;
      this.#events.onLost(this, error);
    }
  }
}
