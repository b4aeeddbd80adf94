import { status } from '@grpc/grpc-js';
import { Deferred } from '../../../../shared/base/async.ts';
import type { BorrowedBytes } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import { messageOf } from '../../../../shared/base/errors/mlperf-error.ts';
import type { CallEvents, GrpcCall, GrpcCallConnection } from '../../../http2/grpc-calls.ts';
import type { OipRequestWay, RequestWayEvents } from './call-way.ts';
import type { EncodedRequest } from './request-encoder.ts';
import {
  badResponse,
  carriedBy,
  type PendingRequest,
  type ResponseGatherer,
} from './response-gatherer.ts';

/**
 * Failed requests remembered, because more responses may follow. A server that marks no last
 * response never ends them; a response to an older one counts as a contract error.
 */
export const REMEMBERED_FAILED_MAX = 4_096;

/** Parts that all streams of a way share. */
interface StreamParts {
  readonly connection: GrpcCallConnection;
  readonly path: string;
  readonly gatherer: ResponseGatherer;
  readonly events: RequestWayEvents;
}

/**
 * Requests as messages of a long-lived ModelStreamInfer stream. After its end, or when its
 * connection was handed over, the next request opens another stream.
 */
export class StreamWay implements OipRequestWay {
  readonly #parts: StreamParts;
  /** Stream for new requests. */
  #current: RequestStream | undefined;
  /** Streams that are not over: the current one and earlier ones. */
  readonly #streams = new Set<RequestStream>();

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  get hasRoom(): boolean {
    return this.#parts.connection.hasRoom;
  }

  /** A server has no limit for the messages of a stream. */
  get takesRequest(): boolean {
    return true;
  }

  send(request: PendingRequest, message: EncodedRequest): void {
    this.#current ??= this.#open();
    this.#current.send(request, message);
  }

  dropUnsent(): readonly PendingRequest[] {
    return [...this.#streams].flatMap((stream) => stream.dropUnsent());
  }

  releaseAll(): void {
    for (const stream of this.#streams) stream.releaseAll();
  }

  moveOn(): void {
    this.#current?.end();
    this.#current = undefined;
  }

  async close(timeoutMs: number): Promise<void> {
    await Promise.all([...this.#streams].map((stream) => stream.close(timeoutMs)));
  }

  #open(): RequestStream {
    const stream: RequestStream = new RequestStream(this.#parts, {
      onEnd: () => {
        this.#streams.delete(stream);
        if (this.#current === stream) this.#current = undefined;
      },
      sendAgain: (request, message) => {
        this.#parts.events.onRepeated();
        this.send(request, message);
      },
    });
    this.#streams.add(stream);
    return stream;
  }
}

/** The way, as its streams see it. */
interface StreamOwner {
  /** The stream is over. */
  onEnd(): void;
  /** The server processed neither the stream nor this request. */
  sendAgain(request: PendingRequest, message: EncodedRequest): void;
}

/** One ModelStreamInfer stream; responses match requests by id. */
class RequestStream implements CallEvents {
  readonly #call: GrpcCall;
  readonly #gatherer: ResponseGatherer;
  readonly #events: RequestWayEvents;
  readonly #way: StreamOwner;
  /** By id, oldest first. */
  readonly #requests = new Map<number, PendingRequest>();
  /** Failed requests that may get more responses until a last one, oldest first. */
  readonly #failed = new Set<number>();
  /** This end has ended its side. */
  #isEnding = false;
  readonly #whenEnded = new Deferred<void>();

  constructor({ connection, path, gatherer, events }: StreamParts, way: StreamOwner) {
    this.#gatherer = gatherer;
    this.#events = events;
    this.#way = way;
    this.#call = connection.call(path, this);
  }

  send(request: PendingRequest, message: EncodedRequest): void {
    this.#requests.set(request.ids[0] as number, request); // In range: one id at least.
    request.message = message;
    this.#call.write(message.pieces, message.bytes);
    carriedBy(request, this.#call);
  }

  dropUnsent(): readonly PendingRequest[] {
    for (const request of this.#requests.values()) request.message = undefined;
    const count = this.#call.takeBackUnsent();
    // The last ones, in the order of sending.
    const dropped = count === 0 ? [] : [...this.#requests.values()].slice(-count);
    for (const { ids } of dropped) this.#requests.delete(ids[0] as number);
    return dropped;
  }

  releaseAll(): void {
    for (const request of this.#requests.values()) this.#gatherer.forget(request);
    this.#requests.clear();
  }

  end(): void {
    this.#isEnding = true;
    this.#call.end();
  }

  async close(timeoutMs: number): Promise<void> {
    this.end();
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
    // An error on a stream may lack an id: then it concerns the oldest request, since servers
    // answer in order.
    const isNameless = decoder.errorMessage !== '' && !decoder.hasId;
    const request = isNameless ? this.#oldest() : this.#requests.get(decoder.id);
    if (request !== undefined) this.#take(request);
    else if (!this.#isOfFailed()) this.#events.onUnasked();
  }

  onEnd({ statusCount }: GrpcCall, code: number, details: string): void {
    if (statusCount > 1) this.#events.onStatusTwice?.();
    this.#whenEnded.resolve();
    this.#way.onEnd();
    const isIdle = this.#requests.size === 0;
    // This end requested that end.
    if (!(this.#isEnding && isIdle)) this.#events.onStreamEnd(code, details, isIdle);
  }

  onUnprocessed(call: GrpcCall): void {
    const requests = [...this.#requests.values()];
    if (requests.some(({ message }) => message === undefined)) {
      this.onEnd(call, status.UNAVAILABLE, 'the server did not process the stream');
      return;
    }
    this.#whenEnded.resolve();
    this.#way.onEnd();
    for (const request of requests) this.#way.sendAgain(request, request.message as EncodedRequest);
  }

  #take(request: PendingRequest): void {
    const gathered = this.#gatherer.take(request);
    const id = request.ids[0] as number;
    if (gathered.kind !== 'more') this.#requests.delete(id);
    if (gathered.kind === 'failed' && this.#gatherer.mayGoOn) this.#remember(id);
    this.#events.onGathered(request, gathered);
  }

  /** An unreadable message fails its request: the one of its id if readable, else the oldest. */
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

  /** True if the response belongs to a request that failed before: it is ignored. */
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
