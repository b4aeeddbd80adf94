import { Deferred } from '../../../shared/base/async/deferred.ts';
import type { BorrowedBytes } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { messageOf } from '../../../shared/base/errors/to-mlperf-error.ts';
import type { CallEvents, GrpcCall, GrpcCallConnection } from '../http2/grpc/grpc-calls.ts';
import type { EncodedRequest } from './request-encoder.ts';
import type { OipRequestWay, RequestWayEvents } from './request-way.ts';
import { badResponse, type PendingRequest, type ResponseGatherer } from './response-gatherer.ts';

/**
 * Failed requests of which more may come that are remembered. A server that marks no last response of them never says
 * that they are done; what comes of an older one than these is a breach.
 */
export const REMEMBERED_FAILED_MAX = 4_096;

/** Messages on one long-lived ModelStreamInfer stream; answers find their request by its id. */
export class StreamWay implements OipRequestWay, CallEvents {
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
    // Nothing went out yet, so that there is nothing to end.
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
    // An error of a stream need not say which request it is about: servers answer in order, where nothing else is known.
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

  /** What cannot be read fails its request: that of the id, where so much could be read. */
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

  /** What still comes of a request that has failed is no news. */
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
