import { status } from '@grpc/grpc-js';
import { type BorrowedBytes, NO_BYTES } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import {
  grpcToMlperfError,
  type MlperfError,
  sutLost,
} from '../../../../shared/base/errors/mlperf-error.ts';
import type { OwnSide } from '../../../../shared/evidence/call-path.ts';
import { AnswerRoom } from '../../../../shared/http2/flow-control.ts';
import { lossReason } from '../../../../shared/security/connection-errors.ts';
import {
  type ChannelEvents,
  type ChannelPlace,
  type DispatchChannel,
  EARLY_CLAIM,
  EARLY_RESPONSE,
  type OutgoingPart,
} from '../../../dispatch/dispatch-channel.ts';
import { OutstandingTable } from '../../../dispatch/outstanding-table.ts';
import type { HandOverCounter } from '../../../dispatch/run-ledger.ts';
import { type ConnectionSettings, connectGrpc } from '../../../http2/connect-grpc.ts';
import type {
  ConnectionEnd,
  ConnectionEvents,
  GrpcCallConnection,
} from '../../../http2/grpc-calls.ts';
import type { DispatchSettings } from '../../../settings/dispatch-settings.ts';
import type { OipRequestWay, RequestWayEvents } from './call-way.ts';
import type { OipRequestEncoder } from './request-encoder.ts';

import {
  type Gathered,
  type PendingRequest,
  pendingRequest,
  refused,
  statusText,
} from './response-gatherer.ts';

/**
 * Payload bytes outstanding on one channel: a server grants no credit and would buffer everything.
 */
export const OUTSTANDING_BYTES_MAX: number = 256 * 1024 * 1024;

/** Parts of a channel. */
interface OipChannelParts {
  readonly encoder: OipRequestEncoder;
  /** True if LoadGen measures first tokens. */
  readonly tokenLatencies: boolean;
  readonly traceparentOf?: DispatchSettings['traceparentOf'];
  /** Counter of the node. */
  readonly handOvers: HandOverCounter;
  /** Makes the request way, which reports to this channel. */
  openWay(events: RequestWayEvents): OipRequestWay;
}

/**
 * The way to one node that speaks the Open Inference Protocol: a share of a connection, or one
 * stream. A part is one request.
 *
 *     open ──given up► draining ──┐
 *      │ └──retire()─► retired ───┤ connection or stream lost ──► closed (onLost)
 *      └──────────────────────────┴ close() ──► closing ──► closed
 */
export class OipChannel implements DispatchChannel, RequestWayEvents {
  readonly place: ChannelPlace;
  readonly outstanding: OutstandingTable;
  readonly #parts: OipChannelParts;
  readonly #events: ChannelEvents;
  readonly #way: OipRequestWay;
  #state: 'open' | 'draining' | 'retired' | 'closing' | 'closed' = 'open';
  #outstandingBytes = 0;
  /** Requests whose calls ended as UNAVAILABLE in this turn of the event loop. */
  #doubtful: { readonly request: PendingRequest | undefined; readonly details: string }[] = [];

  constructor(place: ChannelPlace, parts: OipChannelParts, events: ChannelEvents) {
    this.place = place;
    this.#parts = parts;
    this.#events = events;
    this.outstanding = new OutstandingTable(place);
    this.#way = parts.openWay(this);
  }

  canTake(sampleCount: number, bytes: number): boolean {
    return this.#way.hasRoom && this.hasCreditFor(sampleCount, bytes);
  }

  hasCreditFor(sampleCount: number, bytes: number): boolean {
    return (
      this.#state === 'open' &&
      this.#way.takesRequest &&
      this.outstanding.canTake(sampleCount) &&
      // A request above the limit is sent alone.
      (this.#outstandingBytes === 0 || this.#outstandingBytes + bytes <= OUTSTANDING_BYTES_MAX)
    );
  }

  releaseAll(): Float64Array {
    this.#outstandingBytes = 0;
    this.#way.releaseAll();
    return this.outstanding.releaseAll();
  }

  send({ query, samples, bytes }: OutgoingPart): undefined {
    const ids: number[] = [];
    const payloads: Uint8Array[] = [];
    for (let i = 0; i < samples.length; i += 1) {
      // In range: i < length.
      const { id, payload } = samples[i] as OutgoingPart['samples'][number];
      ids.push(id);
      payloads.push(payload);
    }
    this.#outstandingBytes += bytes;
    const message = this.#parts.encoder.encode(ids[0] as number, payloads);
    this.#way.send(pendingRequest(ids, bytes), message, this.#parts.traceparentOf?.(query));
  }

  dropUnsent(): void {
    // Their payloads are about to be unloaded, so another sample's bytes would be sent.
    for (const { ids, bytes } of this.#way.dropUnsent()) {
      this.#outstandingBytes = Math.max(0, this.#outstandingBytes - bytes);
      for (const id of ids) this.outstanding.release(id);
    }
  }

  retire(): void {
    if (this.#state === 'open') this.#state = 'retired';
  }

  /** Ends sending; later responses are ignored. Resolves within `timeoutMs`. Never throws. */
  async close(timeoutMs: number): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'closing';
    await this.#way.close(timeoutMs);
    this.#state = 'closed';
  }

  onRoom(): void {
    if (this.#state === 'open') this.#events.onRoom();
  }

  /**
   * The connection takes no new calls. @returns True if that is harmless: the next request makes
   * another.
   */
  onConnectionClosed(reason: string, end: ConnectionEnd): boolean {
    if (end === 'given-up') {
      if (this.#state === 'open') this.#state = 'draining';
      if (this.#state === 'draining') this.#events.onDraining(this, reason);
      return false;
    }
    if (end === 'lost' && this.#state === 'open' && this.outstanding.count === 0) return true;
    this.#loseConnection(reason);
    return false;
  }

  onHandOver(): void {
    this.#way.moveOn();
  }

  onRepeated(): void {
    this.#parts.handOvers.callCount += 1;
  }

  onGathered(request: PendingRequest, gathered: Gathered): void {
    if (gathered.kind === 'more') {
      this.#tellFirstToken(request, gathered.firstPayload, this.#events.nowNs());
      return;
    }
    this.#outstandingBytes = Math.max(0, this.#outstandingBytes - request.bytes);
    if (gathered.kind === 'failed') {
      const { code, text } = gathered;
      if (code === EARLY_RESPONSE.code) {
        this.#events.onClaim(this, 'early-response', EARLY_CLAIM, request.ids.length);
      }
      for (const id of request.ids) this.#events.onFailed(this, id, { code, text });
    } else {
      const atNs = this.#events.nowNs();
      const { payloads, firstPayload } = gathered;
      const tokenCount = this.#parts.tokenLatencies ? gathered.tokenCount : undefined;
      this.#tellFirstToken(request, firstPayload, atNs);
      request.ids.forEach((id, i) => {
        const payload = payloads[i] as BorrowedBytes; // In range: one per sample.
        this.#events.onCompleted(this, id, { payload, tokenCount, durations: undefined }, atNs);
      });
    }
    this.#events.onRoom();
  }

  onUnavailable(request: PendingRequest | undefined, details: string): void {
    this.#doubtful.push({ request, details });
    if (this.#doubtful.length === 1) setImmediate(() => this.#settleDoubtful());
  }

  /** The sink counts it as a response that breaks the contract. */
  onUnasked(): void {
    if (this.#state === 'closing' || this.#state === 'closed') return;
    const sample = { payload: NO_BYTES, tokenCount: undefined, durations: undefined };
    this.#events.onCompleted(this, Number.NaN, sample, this.#events.nowNs());
  }

  onStatusTwice(): void {
    const text = 'ended a response with more than one grpc-status; the first one counts';
    this.#events.onClaim(this, 'call-status', text);
  }

  onStreamEnd(code: number, details: string, isIdle: boolean): void {
    if (isIdle && this.#state === 'open') {
      this.#parts.handOvers.addStream(statusText(code, lossReason(details)));
      return;
    }
    const what = `SUT node ${this.place.address}`;
    if (code === status.OK) {
      this.#lose(sutLost(`${what} closed the stream`));
    } else if (code === status.UNAVAILABLE) {
      this.#loseConnection(details);
    } else {
      const text = statusText(code, details);
      this.#lose(grpcToMlperfError({ code, details: text }, `${what} ended the stream`));
    }
  }

  #tellFirstToken(
    { ids: [id] }: PendingRequest,
    payload: BorrowedBytes | undefined,
    atNs: number,
  ): void {
    if (!this.#parts.tokenLatencies || payload === undefined) return;
    this.#events.onFirstToken(this, id as number, payload, atNs);
  }

  /**
   * Settles doubtful requests: if the connection still exists, the server itself sent UNAVAILABLE.
   */
  #settleDoubtful(): void {
    const doubtful = this.#doubtful;
    this.#doubtful = [];
    if (this.#state === 'closed' || this.#state === 'closing') return;
    const isDraining = this.#state === 'draining';
    const ofDraining = isDraining ? { code: 'lost' } : {};
    for (const { request, details } of doubtful) {
      if (request !== undefined) {
        this.onGathered(request, { ...refused(status.UNAVAILABLE, details), ...ofDraining });
      } else if (!isDraining) {
        this.onUnasked();
      }
    }
  }

  #loseConnection(reason: string): void {
    // The server announced the end, and no sample is outstanding.
    if (this.#state === 'draining' && this.outstanding.count === 0) {
      this.#state = 'closed';
      return;
    }
    const what = `SUT node ${this.place.address}: ${lossReason(reason)}`;
    this.#lose(sutLost(what));
  }

  /** Ends the channel from any state; reports once. */
  #lose(error: MlperfError): void {
    if (this.#state === 'closed') return;
    const wasClosing = this.#state === 'closing';
    this.#state = 'closed';
    if (!wasClosing) this.#events.onLost(this, error);
  }
}

/** Events of the connections to a node. */
export interface OipConnectionEvents {
  /** The first response on a connection has begun. */
  onAccepted(own: OwnSide): void;
  /** A new connection replaces one that was given up, or lost while idle. */
  onHandOver(reason: string): void;
}

/** A channel, as its connection sees it. */
type ConnectionUser = Pick<OipChannel, 'onRoom' | 'onConnectionClosed' | 'onHandOver'>;

/** A connection and the channels that share it. */
export class OipConnection implements ConnectionEvents {
  readonly calls: GrpcCallConnection;
  readonly room: AnswerRoom;
  readonly #address: string;
  readonly #events: OipConnectionEvents | undefined;
  readonly #channels: ConnectionUser[] = [];
  /** Why it takes no new calls; undefined while it does. */
  #closedReason: string | undefined;

  /**
   * @param events Undefined: no listener. @param room Memory bound shared by all connections to
   * this server.
   */
  constructor(
    address: string,
    settings: ConnectionSettings,
    events?: OipConnectionEvents,
    room: AnswerRoom = new AnswerRoom(settings.messageBytesMax),
  ) {
    this.#address = address;
    this.#events = events;
    this.room = room;
    const expected = 'inference server';
    this.calls = connectGrpc(address, { ...settings, expected }, this, room);
  }

  add(channel: ConnectionUser): void {
    this.#channels.push(channel);
  }

  onWritten(): void {
    for (const channel of this.#channels) channel.onRoom();
  }

  onAccepted(own: OwnSide): void {
    this.#events?.onAccepted(own);
  }

  onHandOver(reason: string): void {
    this.#events?.onHandOver(reason);
    for (const channel of this.#channels) channel.onHandOver();
  }

  /** @throws MlperfError `ERR_SUT_LOST` if it was open and takes no new calls any more. */
  requireOpen(): void {
    if (this.#closedReason === undefined) return;
    const what = `SUT node ${this.#address} was lost before the run began`;
    throw sutLost(`${what}: ${lossReason(this.#closedReason)}`);
  }

  onClosed(reason: string, end: ConnectionEnd): void {
    this.#closedReason = reason;
    const harmless = this.#channels.filter((channel) => channel.onConnectionClosed(reason, end));
    if (this.#channels.length > 0 && harmless.length === this.#channels.length) {
      this.#events?.onHandOver(lossReason(reason));
    }
  }
}

/** The connections that carry requests, by node and number. */
export class OipConnections {
  readonly #settings: ConnectionSettings;
  readonly #eventsOf: (address: string) => OipConnectionEvents;
  readonly #connections = new Map<string, OipConnection>();
  readonly #rooms = new Map<string, AnswerRoom>();

  /** @param eventsOf Returns the listener for an address. */
  constructor(settings: ConnectionSettings, eventsOf: (address: string) => OipConnectionEvents) {
    this.#settings = settings;
    this.#eventsOf = eventsOf;
  }

  /** The connection of that number to a node, made at first use. */
  to(address: string, number: number): OipConnection {
    const key = `${number} ${address}`;
    let connection = this.#connections.get(key);
    if (connection === undefined) {
      const room = this.#rooms.get(address) ?? new AnswerRoom(this.#settings.messageBytesMax);
      this.#rooms.set(address, room);
      connection = new OipConnection(address, this.#settings, this.#eventsOf(address), room);
      this.#connections.set(key, connection);
    }
    return connection;
  }

  /** Resolves when all are connected. @throws MlperfError `ERR_SUT_UNREACHABLE` */
  async ready(): Promise<void> {
    await Promise.all([...this.#connections.values()].map(({ calls }) => calls.ready));
  }

  /**
   * Checks that all still take calls: losses before the channels exist are not reported. @throws
   * MlperfError `ERR_SUT_LOST`
   */
  requireOpen(): void {
    for (const connection of this.#connections.values()) connection.requireOpen();
  }

  async close(): Promise<void> {
    const connections = [...this.#connections.values()];
    this.#connections.clear();
    await Promise.all(connections.map(({ calls }) => calls.close()));
  }
}
