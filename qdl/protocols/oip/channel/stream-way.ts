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
 * Failed requests of which more may come that are remembered. A server that marks no last response of them never says
 * that they are done; what comes of an older one than these is a breach.
 */
export const REMEMBERED_FAILED_MAX = 4_096;

/** All that the streams of a way share. */
interface StreamParts {
  readonly connection: GrpcCallConnection;
  readonly path: string;
  readonly gatherer: ResponseGatherer;
  readonly events: RequestWayEvents;
}

/**
 * Messages on a long-lived ModelStreamInfer stream. Where it ended, or its connection was handed over, the next request opens
 * another one.
 */
export class StreamWay implements OipRequestWay {
  readonly #parts: StreamParts;
  /** Takes the requests. */
  #current: RequestStream | undefined;
  /** Those that are not over: the current one, and those before it. */
  readonly #streams = new Set<RequestStream>();

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  get hasRoom(): boolean {
    return this.#parts.connection.hasRoom;
  }

  /** The server sets no limit of a stream's messages. */
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

/** The way, as a stream of it reports to it. */
interface StreamOwner {
  /** The stream is over. */
  onEnd(): void;
  /** The stream was never processed, nor was this request. */
  sendAgain(request: PendingRequest, message: EncodedRequest): void;
}

/** One ModelStreamInfer stream; answers find their request by its id. */
class RequestStream implements CallEvents {
  readonly #call: GrpcCall;
  readonly #gatherer: ResponseGatherer;
  readonly #events: RequestWayEvents;
  readonly #way: StreamOwner;
  /** By id, the oldest first. */
  readonly #requests = new Map<number, PendingRequest>();
  /** Failed requests of which more responses may follow, the oldest first: up to the one that tells the end. */
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
    this.#requests.set(request.ids[0] as number, request); // One id at least.
    request.message = message;
    this.#call.write(message.pieces, message.bytes);
    carriedBy(request, this.#call);
  }

  dropUnsent(): readonly PendingRequest[] {
    for (const request of this.#requests.values()) request.message = undefined;
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
    // An error of a stream need not say which request it is about: then the oldest, since servers answer in order.
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
    // That it ends then was asked of the server.
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
