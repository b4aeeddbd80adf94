import { status } from '@grpc/grpc-js';
import type { Open } from '../../../proto/gen/mlperf/network/v1/Open.ts';
import type { Opened__Output } from '../../../proto/gen/mlperf/network/v1/Opened.ts';
import { Deferred } from '../../../shared/base/async.ts';
import {
  grpcToMlperfError,
  MlperfError,
  messageOf,
  sutLost,
  sutRefused,
  wireError,
} from '../../../shared/base/errors/mlperf-error.ts';
import type { SampleFailure } from '../../../shared/domain/system-under-test.ts';
import type { OwnSide } from '../../../shared/evidence/call-path.ts';
import type { StreamEvidence } from '../../../shared/evidence/evidence-schema.ts';
import { lossReason } from '../../../shared/security/connection-errors.ts';
import {
  decodeResponses,
  isResponses,
  type WireCompleted,
  type WireResponses,
  type WireTokens,
} from '../../../shared/wire/responses-codec.ts';
import {
  decodeSutMessage,
  encodeLoadGenMessage,
  TOKEN_STREAM_FEATURE,
  USAGE_FEATURE,
} from '../../../shared/wire/sut-contract.ts';
import {
  type ChannelEvents,
  type ChannelPlace,
  type DispatchChannel,
  EARLY_CLAIM,
  EARLY_RESPONSE,
  type OutgoingPart,
  OutstandingTable,
} from '../../dispatch/dispatch-channel.ts';
import { TokenStreams } from '../../dispatch/token-streams.ts';

const IN_PIECES: SampleFailure = {
  code: 'bad-response',
  text: 'a response came in pieces, which was not agreed on',
};

/** Makes the stream of a channel; it connects at once. */
export type OpenTransport = (place: ChannelPlace, events: TransportEvents) => PartTransport;

/**
 * One long-lived Infer stream to one SUT node (state machine: qdl/README.md).
 *
 *     opening ──Opened──► open ──close()──► closing ──status OK──► closed
 *        └───────────────── status ≠ OK, bad message ─────────────► closed
 */
export class SutChannel implements DispatchChannel, TransportEvents {
  readonly place: ChannelPlace;
  readonly outstanding: OutstandingTable;
  readonly tokenStreams: TokenStreams | null;
  /** Whether it could be looked at that the node does not compress messages by gRPC. After Opened. */
  compressionCheck: StreamEvidence['compressionCheck'] = 'unknown';
  /** This end's view of the stream's call. After Opened. */
  own: OwnSide = { loadgen: null, responseHeaders: [] };
  readonly #transport: PartTransport;
  readonly #events: ChannelEvents;
  /** Fields of Open. */
  readonly #protocolVersion: number | undefined;
  readonly #takesFirstTokens: boolean;
  readonly #takesTokens: boolean;
  readonly #takesUsage: boolean;
  #state: 'opening' | 'open' | 'retired' | 'closing' | 'closed' = 'opening';
  #creditSamples = 0;
  #creditBytes = 0;
  #sentSamples = 0;
  #sentBytes = 0;
  /** Bytes of the stream up to the last sample that is in line for the socket; infinite amid the pieces of one. */
  #framedBytes = 0;
  /** Close went out when every sample had its response: the node only has to end the stream. */
  #isAllAnswered = false;
  #opened: Opened__Output | undefined;
  readonly #whenOpened = new Deferred<Opened__Output>();
  readonly #whenClosed = new Deferred<void>();

  constructor(
    place: ChannelPlace,
    openTransport: OpenTransport,
    open: Open,
    events: ChannelEvents,
    tokenBytes?: number,
  ) {
    this.place = place;
    this.#events = events;
    this.#protocolVersion = open.protocolVersion;
    this.#takesFirstTokens = open.tokenLatencies === true;
    this.#takesUsage = open.features?.includes(USAGE_FEATURE) === true;
    this.outstanding = new OutstandingTable(place);
    this.#takesTokens = open.features?.includes(TOKEN_STREAM_FEATURE) === true;
    this.tokenStreams = this.#takesFirstTokens
      ? new TokenStreams(this.outstanding, tokenBytes)
      : null;
    this.#transport = openTransport(place, this);
    this.#transport.sendControl(encodeLoadGenMessage({ open }));
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
    const credit = this.#opened?.credit;
    return { samples: credit?.samples ?? 0, bytes: credit?.bytes ?? 0 };
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
      this.#sentSamples + sampleCount <= this.#creditSamples &&
      this.#sentBytes + bytes <= this.#creditBytes
    );
  }

  /** Gives up everything that is on the wire; returns the response ids. */
  releaseAll(): Float64Array {
    return this.outstanding.releaseAll();
  }

  faultOf(slot: number, { offset, total }: WireCompleted): SampleFailure | undefined {
    if (total !== 0 || offset !== 0) return IN_PIECES;
    if (this.#isSent(slot)) return undefined;
    this.#events.onClaim(this, 'early-response', EARLY_CLAIM);
    return EARLY_RESPONSE;
  }

  /** False while of an outstanding sample some bytes have not gone to the socket. */
  #isSent(slot: number): boolean {
    const { sentBytes } = this.#transport;
    return sentBytes >= this.#framedBytes || !(this.outstanding.lastByteOf(slot) > sentBytes);
  }

  /** Sends a part. After {@link canTake} only. */
  send(part: OutgoingPart): void {
    this.#sentSamples += part.sampleCount;
    this.#sentBytes += part.bytes;
    this.#transport.sendPart(part);
  }

  /**
   * Gives up the parts that wait for the socket, as if they had not been sent: their samples are not
   * outstanding any more.
   */
  dropUnsent(): void {
    for (const { samples, sampleCount, bytes } of this.#transport.dropParts()) {
      this.#sentSamples -= sampleCount;
      this.#sentBytes -= bytes;
      // A part without new samples is a later piece of one that has begun.
      if (sampleCount > 0) for (const { id } of samples) this.outstanding.release(id);
    }
  }

  /** Says Close and waits for the node to end the stream, at most `timeoutMs`. Never throws. */
  async close(timeoutMs: number): Promise<void> {
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
    if (this.#state === 'open') this.#state = 'retired';
  }

  onAccepted(own: OwnSide): void {
    this.compressionCheck = 'checked';
    this.own = own;
  }

  onFramed({ samples }: OutgoingPart, end: number): void {
    for (let i = 0; i < samples.length; i += 1) {
      const { id, payload, offset, total } = samples[i] as OutgoingPart['samples'][number]; // In range: i < length.
      const isWhole = total === 0 || offset + payload.length === total;
      this.#framedBytes = isWhole ? end : Number.POSITIVE_INFINITY;
      if (isWhole) this.outstanding.setLastByte(id, end);
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
    if (!this.#takesFirstTokens && responses.firstTokens.length > 0) {
      const text = 'sent a first token though Open.token_latencies was false';
      this.#events.onClaim(this, 'first-token', text, responses.firstTokens.length);
    }
    if (!this.#takesTokens && responses.tokens.length > 0) {
      const text = `sent tokens though Open did not ask for ${TOKEN_STREAM_FEATURE}`;
      this.#events.onClaim(this, 'unasked-tokens', text, responses.tokens.length);
      responses = { ...responses, tokens: [] };
    }
    if (responses.firstTokens.length + responses.tokens.length > 0) {
      responses = this.#withoutEarly(responses);
    }
    this.#events.onResponses(this, responses);
  }

  /** Tokens of samples that were sent: who tells one before that cannot have it. */
  #withoutEarly(responses: WireResponses): WireResponses {
    if (this.#transport.sentBytes >= this.#framedBytes) return responses;
    const isSent = ({ id }: WireTokens): boolean => this.#isSent(this.outstanding.slotOf(id));
    const firstTokens = responses.firstTokens.filter(isSent);
    const tokens = responses.tokens.filter(isSent);
    const told = responses.firstTokens.length + responses.tokens.length;
    const earlyCount = told - firstTokens.length - tokens.length;
    if (earlyCount === 0) return responses;
    this.#events.onClaim(this, 'early-response', EARLY_CLAIM, earlyCount);
    return { ...responses, firstTokens, tokens };
  }

  #onControl(bytes: Buffer): void {
    const message = decodeSutMessage(bytes);
    if (message.opened && this.#state === 'opening') {
      this.#requireVersion(message.opened.protocolVersion);
      this.#opened = message.opened;
      this.#state = 'open';
      this.#grant(message.opened.credit);
      this.#whenOpened.resolve(message.opened);
    } else if (message.credit) {
      this.#checkGrowth(message.credit);
      this.#grant(message.credit);
      this.#events.onRoom();
    } else if (message.usage && this.#takesUsage) {
      this.#events.onUsage(this, message.usage);
    } else if (message.draining) {
      this.#events.onDraining(this, message.draining.reason);
    } else if (message.message !== undefined) {
      // A message that this version does not know is news for a later one.
      throw wireError(`"${message.message}" is not expected now`);
    } else if (bytes.length === 0) {
      this.#events.onClaim(this, 'empty-message', 'sent a message without any field');
    }
  }

  /** The messages of a stream come in their order, so a smaller total was never true. */
  #checkGrowth({ samples, bytes }: { samples: number; bytes: number }): void {
    if (samples >= this.#creditSamples && bytes >= this.#creditBytes) return;
    const before = `${this.#creditSamples} samples and ${this.#creditBytes} bytes`;
    const text = `took credit back, from ${before} to ${samples} and ${bytes}; the larger one counts`;
    this.#events.onClaim(this, 'credit-back', text);
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

  /** Totals only grow. */
  #grant(credit: { samples: number; bytes: number } | null): void {
    this.#creditSamples = Math.max(this.#creditSamples, credit?.samples ?? 0);
    this.#creditBytes = Math.max(this.#creditBytes, credit?.bytes ?? 0);
  }

  onEnd(end: TransportEnd): void {
    // After Close everything was answered or given up; how the stream ends then, also by our own cancel,
    // is no loss: the ledgers tell whether something is missing.
    if (this.#state === 'closing') {
      this.#state = 'closed';
      if (end.code !== status.OK) {
        this.#noteEnd(`ended a stream with status ${status[end.code] ?? end.code} after Close`);
      }
    } else {
      this.#lose(this.#lossOf(end));
    }
    this.#whenClosed.resolve();
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
    const wasOpening = this.#state === 'opening';
    this.#state = 'closed';
    if (wasOpening) this.#whenOpened.reject(error);
    else this.#events.onLost(this, error);
  }
}

/** How a stream ended: gRPC's status number and text. */
export interface TransportEnd {
  readonly code: number;
  readonly details: string;
}

/** Events of a transport. No call comes from inside a call to the transport. */
export interface TransportEvents {
  /**
   * The node has accepted the stream and does not compress messages by gRPC: what this end knows of the call. Comes before
   * any message.
   */
  onAccepted(own: OwnSide): void;
  /** A message of the node. The bytes are the receiver's. */
  onMessage(bytes: Buffer): void;
  /**
   * A part is in line for the socket. This may come from inside a call to the transport.
   * @param end Bytes of the stream up to the part's last one: it is with the socket once {@link PartTransport.sentBytes} is
   *   as large.
   */
  onFramed(part: OutgoingPart, end: number): void;
  /** The socket has taken payload bytes of parts: perhaps there is room again. */
  onWritten(): void;
  /** The stream is over; called once, as the last event. */
  onEnd(end: TransportEnd): void;
}

/** One Infer stream as the channel sees it: parts and messages go in, messages come out. A simulation can stand here. */
export interface PartTransport {
  /** False while as many bytes wait for the socket as the transport holds: no part may be sent then. */
  readonly hasRoom: boolean;
  /** Bytes of the stream that the socket has. */
  readonly sentBytes: number;
  /** Sends a part as one gRPC message. After {@link hasRoom} only. Never throws, never waits. */
  sendPart(part: OutgoingPart): void;
  /** Gives up the parts that were not handed over yet. Their payloads are no longer read. */
  dropParts(): readonly OutgoingPart[];
  /** Sends Open or Close, behind what was sent before. */
  sendControl(message: Buffer): void;
  /** No more messages will come; what was sent goes out first. */
  endSending(): void;
  /** Ends the stream now; {@link TransportEvents.onEnd} follows. */
  cancel(): void;
}
