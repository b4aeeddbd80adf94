import { status } from '@grpc/grpc-js';
import { Deferred } from '../../../shared/base/async.ts';
import type { BorrowedBytes } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import { isFinishReason } from '../../../shared/wire/oip/output-cutter.ts';
import type {
  OipMethod,
  OipModelFacts,
  OipRequestPlan,
} from '../../../shared/wire/oip/request-plan.ts';
import type { CallEvents, GrpcCall, GrpcCallConnection } from '../../http2/grpc-calls.ts';
import type { EncodedRequest, RequestExtras } from './request-encoder.ts';
import {
  badResponse,
  type Gathered,
  type GatherOptions,
  type PendingRequest,
  ResponseGatherer,
  refused,
} from './response-gatherer.ts';

/** Events of an {@link OipRequestWay}. No call comes from inside a call to the way. */
export interface RequestWayEvents {
  /** A response to a request; `complete` and `failed` are the last of it. */
  onGathered(request: PendingRequest, gathered: Gathered): void;
  /**
   * A call ended as UNAVAILABLE: the server's own word, or the end of the connection, which is told in a moment.
   * @param request Undefined where it was answered before.
   */
  onUnavailable(request: PendingRequest | undefined, details: string): void;
  /** The way has room again, perhaps. */
  onRoom(): void;
  /** An unexpected response: of an unknown request, or a second one. */
  onUnasked(): void;
  /** The stream is over that carries the requests. */
  onStreamEnd(code: number, details: string): void;
}

/** How requests go over a connection: calls of their own, or messages of one stream. */
export interface OipRequestWay {
  /** False while as much waits for the socket as it holds. */
  readonly hasRoom: boolean;
  /** False while the server takes no further request: what it grants in place of credit. */
  readonly takesRequest: boolean;
  /**
   * After these two only.
   * @param traceparent Header of the request's own call; a stream that carries many requests has none.
   */
  send(request: PendingRequest, message: EncodedRequest, traceparent?: string): void;
  /**
   * Takes back the requests of which no byte went out yet. @returns Those of them that are outstanding here; they have no
   * further events.
   */
  dropUnsent(): readonly PendingRequest[];
  /** Forgets what is outstanding. */
  releaseAll(): void;
  /** No more requests will come. Resolves when the server has ended its side, at most after `timeoutMs`. */
  close(timeoutMs: number): Promise<void>;
}

/** A call per request: ModelInfer, or a ModelStreamInfer stream that carries one request. */
class CallWay implements OipRequestWay {
  readonly #connection: GrpcCallConnection;
  readonly #isStream: boolean;
  readonly #path: string;
  readonly #gatherer: ResponseGatherer;
  readonly #events: RequestWayEvents;
  /** Calls that are not over. */
  readonly #open = new Set<RequestCall>();

  /** @param isStream The calls are ModelStreamInfer streams. */
  constructor(
    connection: GrpcCallConnection,
    path: string,
    isStream: boolean,
    gatherer: ResponseGatherer,
    events: RequestWayEvents,
  ) {
    this.#connection = connection;
    this.#isStream = isStream;
    this.#path = path;
    this.#gatherer = gatherer;
    this.#events = events;
  }

  get hasRoom(): boolean {
    return this.#connection.hasRoom;
  }

  get takesRequest(): boolean {
    return this.#connection.takesCall;
  }

  send(request: PendingRequest, { pieces, bytes }: EncodedRequest, traceparent?: string): void {
    const open = new RequestCall(request, this.#isStream, this.#gatherer, this.#events, this.#open);
    const answers = this.#isStream ? 'many' : 'one';
    open.begin(this.#connection.call(this.#path, open, answers, traceparent), pieces, bytes);
  }

  dropUnsent(): readonly PendingRequest[] {
    return [...this.#open].filter((open) => open.dropUnsent()).map(({ request }) => request);
  }

  /** The calls know their requests, and go on to their ends. */
  releaseAll(): void {
    for (const { request } of this.#open) this.#gatherer.forget(request);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** One call on its way. */
class RequestCall implements CallEvents {
  readonly request: PendingRequest;
  readonly #isStream: boolean;
  readonly #gatherer: ResponseGatherer;
  readonly #events: RequestWayEvents;
  readonly #open: Set<RequestCall>;
  #call: GrpcCall | undefined;
  /** Only the end of the call is awaited. */
  #isAnswered = false;
  #hasFailed = false;
  #isDropped = false;

  constructor(
    request: PendingRequest,
    isStream: boolean,
    gatherer: ResponseGatherer,
    events: RequestWayEvents,
    open: Set<RequestCall>,
  ) {
    this.request = request;
    this.#isStream = isStream;
    this.#gatherer = gatherer;
    this.#events = events;
    this.#open = open;
    open.add(this);
  }

  begin(call: GrpcCall, pieces: readonly Uint8Array[], bytes: number): void {
    this.#call = call;
    call.write(pieces, bytes);
    call.end();
  }

  /** @returns False where the request, or the beginning of it, went out. */
  dropUnsent(): boolean {
    if (this.#call === undefined || this.#call.takeBackUnsent() === 0) return false;
    this.#isDropped = true;
    this.#call.cancel();
    return true;
  }

  onMessage(_call: GrpcCall, message: BorrowedBytes): void {
    if (this.#isAnswered) {
      // Of a stream. More responses may follow the one by which the request failed: no news.
      if (!this.#hasFailed) this.#events.onUnasked();
      return;
    }
    const { decoder } = this.#gatherer;
    try {
      if (this.#isStream) decoder.readOfStream(message);
      else decoder.read(message);
    } catch (error) {
      this.#report(badResponse(messageOf(error)));
      return;
    }
    // A server need not repeat the id: the call says what the answer is to.
    if (decoder.hasId && decoder.id !== this.request.ids[0]) {
      this.#report(badResponse('the response has the id of another request'));
      return;
    }
    this.#report(this.#gatherer.take(this.request));
  }

  onEnd({ messageCount }: GrpcCall, code: number, details: string): void {
    this.#open.delete(this);
    if (this.#isDropped) {
      this.#gatherer.forget(this.request);
      return;
    }
    if (this.#isAnswered) {
      if (this.#isStream) this.#endOfAnswered(code, details);
      return;
    }
    this.#isAnswered = true;
    if (!this.#isStream && messageCount > 1) {
      // It is unknown which of them is the answer; the other one breaks the contract.
      this.#report(badResponse(details));
      this.#events.onUnasked();
    } else if (code === status.UNAVAILABLE) {
      this.#gatherer.forget(this.request);
      this.#events.onUnavailable(this.request, details);
    } else if (code === status.OK) this.#report(this.#gatherer.endOfCall(this.request));
    else this.#report(refused(code, details));
  }

  /** Of a stream; the answer to a call is handed on with the call's end. */
  #endOfAnswered(code: number, details: string): void {
    // The server may take another call now in its place.
    if (code === status.OK || this.#hasFailed) this.#events.onRoom();
    else if (code === status.UNAVAILABLE) this.#events.onUnavailable(undefined, details);
    // An answer and an error: the one is taken, and the other breaks the contract.
    else this.#events.onUnasked();
  }

  #report(gathered: Gathered): void {
    this.#isAnswered = gathered.kind !== 'more';
    this.#hasFailed = gathered.kind === 'failed';
    if (this.#hasFailed) this.#gatherer.forget(this.request);
    this.#events.onGathered(this.request, gathered);
  }
}

/**
 * Failed requests of which more may come that are remembered. A server that marks no last response of them never says
 * that they are done; what comes of an older one than these is a breach.
 */
export const REMEMBERED_FAILED_MAX = 4_096;

/** Messages on one long-lived ModelStreamInfer stream; answers find their request by its id. */
class StreamWay implements OipRequestWay, CallEvents {
  readonly #connection: Pick<GrpcCallConnection, 'hasRoom'>;
  readonly #call: GrpcCall;
  readonly #gatherer: ResponseGatherer;
  readonly #events: RequestWayEvents;
  /** By id, the oldest first. */
  readonly #requests = new Map<number, PendingRequest>();
  /** Failed requests of which more responses may follow, the oldest first: up to the one that tells the end. */
  readonly #failed = new Set<number>();
  #hasSent = false;
  readonly #whenEnded = new Deferred<void>();

  constructor(
    connection: GrpcCallConnection,
    service: string,
    gatherer: ResponseGatherer,
    events: RequestWayEvents,
  ) {
    this.#connection = connection;
    this.#gatherer = gatherer;
    this.#events = events;
    this.#call = connection.call(`/${service}/ModelStreamInfer`, this);
  }

  get hasRoom(): boolean {
    return this.#connection.hasRoom;
  }

  /** The stream is open, and the server sets no limit of its messages. */
  get takesRequest(): boolean {
    return true;
  }

  send(request: PendingRequest, { pieces, bytes }: EncodedRequest): void {
    this.#requests.set(request.ids[0] as number, request); // One id at least.
    this.#hasSent = true;
    this.#call.write(pieces, bytes);
  }

  dropUnsent(): readonly PendingRequest[] {
    const count = this.#call.takeBackUnsent();
    // The last ones, in the order in which they were sent.
    const dropped = count === 0 ? [] : [...this.#requests.values()].slice(-count);
    for (const { ids } of dropped) this.#requests.delete(ids[0] as number);
    return dropped;
  }

  releaseAll(): void {
    for (const request of this.#requests.values()) this.#gatherer.forget(request);
    this.#requests.clear();
  }

  async close(timeoutMs: number): Promise<void> {
    // No call was opened yet, so there is none to end.
    if (!this.#hasSent) {
      this.#call.cancel();
      return;
    }
    this.#call.end();
    const timer = setTimeout(() => {
      this.#call.cancel();
      this.#whenEnded.resolve();
    }, timeoutMs);
    await this.#whenEnded.promise;
    clearTimeout(timer);
  }

  onMessage(_call: GrpcCall, message: BorrowedBytes): void {
    const { decoder } = this.#gatherer;
    try {
      decoder.readOfStream(message);
    } catch (error) {
      this.#failUnread(messageOf(error));
      return;
    }
    // An error of a stream need not say which request it is about: then the oldest, since servers answer in order.
    const isNameless = decoder.errorMessage !== '' && !decoder.hasId;
    const request = isNameless ? this.#oldest() : this.#requests.get(decoder.id);
    if (request !== undefined) this.#take(request);
    else if (!this.#isOfFailed()) this.#events.onUnasked();
  }

  onEnd(_call: GrpcCall, code: number, details: string): void {
    this.#whenEnded.resolve();
    this.#events.onStreamEnd(code, details);
  }

  #take(request: PendingRequest): void {
    const gathered = this.#gatherer.take(request);
    const id = request.ids[0] as number;
    if (gathered.kind !== 'more') this.#requests.delete(id);
    if (gathered.kind === 'failed' && this.#gatherer.mayGoOn) this.#remember(id);
    this.#events.onGathered(request, gathered);
  }

  /** An unreadable message fails its request: that of its id, if the id could be read, else the oldest. */
  #failUnread(text: string): void {
    const { decoder } = this.#gatherer;
    const request = this.#requests.get(decoder.id) ?? this.#oldest();
    if (request === undefined) {
      this.#events.onUnasked();
      return;
    }
    this.#requests.delete(request.ids[0] as number);
    this.#gatherer.forget(request);
    this.#events.onGathered(request, badResponse(text));
  }

  #remember(failedId: number): void {
    this.#failed.add(failedId);
    if (this.#failed.size <= REMEMBERED_FAILED_MAX) return;
    for (const oldest of this.#failed) {
      this.#failed.delete(oldest);
      return;
    }
  }

  /** Whether a response belongs to a request that has failed before; such responses are ignored. */
  #isOfFailed(): boolean {
    const { id } = this.#gatherer.decoder;
    if (!this.#failed.has(id)) return false;
    if (!this.#gatherer.mayGoOn) this.#failed.delete(id);
    return true;
  }

  #oldest(): PendingRequest | undefined {
    return this.#requests.values().next().value;
  }
}

/** Fields of requests that the plan does not have. */
export function requestExtras(plan: OipRequestPlan, facts: OipModelFacts): RequestExtras {
  const planned = plan.outputs.map(({ name }) => name);
  const isAll = facts.outputs.every(({ name }) => planned.includes(name));
  return {
    // Without names the server sends all: one list less for it to read.
    requestedOutputs: isAll ? [] : planned,
    wantsFinalMark: plan.method !== 'unary' && facts.isDecoupled === true,
  };
}

/** Makes the gatherer of a channel's responses. */
export function gathererOf(
  plan: OipRequestPlan,
  facts: OipModelFacts,
  limits: Pick<GatherOptions, 'bytesMax' | 'room'>,
): ResponseGatherer {
  const readsFinish = plan.method !== 'unary' && mayTellFinish(facts);
  return new ResponseGatherer(plan, { ends: endsOf(plan.method, facts), readsFinish, ...limits });
}

function endsOf(method: OipMethod, { isDecoupled }: OipModelFacts): GatherOptions['ends'] {
  if (method === 'unary') return 'once';
  if (method === 'stream') return isDecoupled === true ? 'marked' : 'plain';
  return isDecoupled === false ? 'plain' : 'call';
}

/** Whether responses may tell by an output that they are the last. Where the server says that a model answers once, they need not. */
function mayTellFinish({ isDecoupled, outputs }: OipModelFacts): boolean {
  return isDecoupled !== false && (outputs.length === 0 || outputs.some(isFinishReason));
}

/** The way of a method over a connection. */
export function openWay(
  method: OipMethod,
  {
    connection,
    service,
    gatherer,
    events,
  }: {
    readonly connection: GrpcCallConnection;
    readonly service: string;
    readonly gatherer: ResponseGatherer;
    readonly events: RequestWayEvents;
  },
): OipRequestWay {
  if (method === 'stream') return new StreamWay(connection, service, gatherer, events);
  const isStream = method === 'stream-per-request';
  const path = `/${service}/${isStream ? 'ModelStreamInfer' : 'ModelInfer'}`;
  return new CallWay(connection, path, isStream, gatherer, events);
}
