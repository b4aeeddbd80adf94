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
  /** Of the node: takes digests of what is sent. */
  readonly ledger: DigestedLedger;
  readonly payloads: SamplePayloads;
  /** Bytes of a token in a response; absent: not known but by the first one. */
  readonly tokenBytes?: number | undefined;
  /** Absent: a stream that ends is a loss in any case. */
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
  /** Whether it could be looked at that the node does not compress messages by gRPC. After Opened. */
  compressionCheck: StreamEvidence['compressionCheck'] = 'unknown';
  /** This end's view of the stream's call. After Opened. */
  own: OwnSide = { loadgen: null, responseHeaders: [] };
  readonly #parts: SutChannelParts;
  #transport: PartTransport;
  readonly #events: ChannelEvents;
  /** Resolves when the stream that is being opened again is open, or lost. */
  #whenReopened: Promise<void> | undefined;
  #streamCount = 1;
  readonly #reopenLimit = new ReopenLimit();
  /** It was told. */
  #isLost = false;
  /** The node takes no more queries, and will end the stream. */
  isDraining = false;
  /** Fields of Open. */
  readonly #protocolVersion: number | undefined;
  readonly #takesUsage: boolean;
  readonly #reader: ResponseReader;
  /** Payload bytes of a message. */
  #partBytesMax = Number.POSITIVE_INFINITY;
  #state: 'opening' | 'open' | 'retired' | 'closing' | 'closed' = 'opening';
  #credit = new GrantedCredit();
  /** Bytes of the stream up to the last sample that is in line for the socket; infinite amid the pieces of one. */
  #framedBytes = 0;
  /** Close went out when every sample had its response: the node only has to end the stream. */
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

  /** Before the first part: what was agreed on with the node. */
  begin(decoder: ResponseDecoder, partBytesMax: number): void {
    this.#reader.decoder = decoder;
    this.#partBytesMax = partBytesMax;
  }

  /** Waits for Opened. @throws MlperfError when the node refuses, is lost or does not answer in time. */
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

  /** Credit of the first grant: no part may be larger. */
  get initialCredit(): { readonly samples: number; readonly bytes: number } {
    return this.#opened?.credit ?? NO_CREDIT;
  }

  /** True when a part of so many new samples and payload bytes may go now. Hot path. */
  canTake(sampleCount: number, bytes: number): boolean {
    return this.#transport.hasRoom && this.hasCreditFor(sampleCount, bytes);
  }

  /** True when such a part could go if the socket took it. Hot path. */
  hasCreditFor(sampleCount: number, bytes: number): boolean {
    return (
      this.#state === 'open' &&
      this.outstanding.canTake(sampleCount) &&
      // Of a larger sample the first piece.
      this.#credit.hasFor(sampleCount, Math.min(bytes, this.#partBytesMax))
    );
  }

  /** Gives up everything that is on the wire; returns the response ids. */
  releaseAll(): Float64Array {
    return this.outstanding.releaseAll();
  }

  isSent(slot: number): boolean {
    const { sentBytes } = this.#transport;
    return sentBytes >= this.#framedBytes || !(this.outstanding.lastByteOf(slot) > sentBytes);
  }

  /** Sends a part. After {@link canTake} only. */
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
   * Gives up the parts that wait for the socket, as if they had not been sent: their samples are not
   * outstanding any more.
   */
  dropUnsent(): void {
    for (const part of this.#transport.dropParts()) {
      const count = begunCount(part);
      this.#credit.take(-count, -part.bytes);
      if (count > 0) for (const { id } of part.samples) this.outstanding.release(id);
    }
  }

  /** Says Close and waits for the node to end the stream, at most `timeoutMs`. Never throws. */
  async close(timeoutMs: number): Promise<void> {
    // The node counts the stream that is being opened: so does this end.
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

  /** No part goes out any more; what is outstanding may still be answered. */
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
   * Checks the first grant: a part is never larger than it, so it must hold a sample at least.
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
    // A stream that was given up ends later; until then messages may come.
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
    // Outside the try: an error of LoadGen's own is no fault of the node.
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
      // One that is opened again is checked first.
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
      // A message that this version does not know is news for a later one.
      throw wireError(`"${message.message}" is not expected now`);
    } else if (bytes.length === 0) {
      this.#events.onClaim(this, 'empty-message', 'sent a message without any field');
    }
  }

  /** Keeps that the node ended the stream otherwise than it should, once. */
  #noteEnd(text: string): void {
    if (this.#isAllAnswered) this.#events.onClaim(this, 'stream-end', text);
    this.#isAllAnswered = false;
  }

  #requireVersion(version: number): void {
    if (version === this.#protocolVersion) return;
    throw wireError(
      `Opened is of protocol version ${version}, Open was of version ${this.#protocolVersion}`,
    );
  }

  onEnd(end: TransportEnd): void {
    // After Close everything was answered or given up; how the stream ends then, also by our own cancel,
    // is no loss: the ledgers tell whether something is missing.
    if (this.#state === 'closing') {
      this.#state = 'closed';
      // A node that goes away ends its streams so.
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

  /** Opens another stream in the place of one that ended with nothing outstanding. Never rejects. */
  async #reopen(ended: MlperfError): Promise<void> {
    const { timeoutMs, openOf, accept } = this.#parts.reopening as Reopening;
    this.#state = 'opening';
    this.#opened = undefined;
    this.#whenOpened = new Deferred();
    this.#credit = new GrantedCredit();
    this.#framedBytes = 0;
    // Not amid the end of the old one.
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
        const why = `${ended.message}, and no other can be opened: ${messageOf(error)}`;
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

  /** Ends the channel from whatever state; reports once. */
  #lose(error: MlperfError): void {
    if (this.#state === 'closed') return;
    if (this.#opened === undefined) {
      // Of one that is opened again #reopen tells the loss.
      if (this.#whenReopened === undefined) this.#state = 'closed';
      this.#whenOpened.reject(error);
    } else {
      this.#state = 'closed';
      this.#isLost = true;
      this.#events.onLost(this, error);
    }
  }
}
