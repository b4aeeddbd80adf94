import { status } from '@grpc/grpc-js';
import type { BorrowedBytes } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import { messageOf } from '../../../../shared/base/errors/mlperf-error.ts';
import type { CallEvents, GrpcCall, GrpcCallConnection } from '../../../http2/grpc-calls.ts';
import type { EncodedRequest } from './request-encoder.ts';
import {
  badResponse,
  carriedBy,
  type Gathered,
  type PendingRequest,
  type ResponseGatherer,
  refused,
} from './response-gatherer.ts';

/** Events of an {@link OipRequestWay}, never called from inside a call to the way. */
export interface RequestWayEvents {
  /** A response to a request; `complete` and `failed` are its last ones. */
  onGathered(request: PendingRequest, gathered: Gathered): void;
  /**
   * A call ended as UNAVAILABLE: sent by the server, or caused by the end of the connection, which
   * is reported next.
   * @param request Undefined if it was answered before.
   */
  onUnavailable(request: PendingRequest | undefined, details: string): void;
  /** There may be room again. */
  onRoom(): void;
  /** An unexpected response: to an unknown request, or a second one. */
  onUnasked(): void;
  /** A call ended with more than one `grpc-status`. */
  readonly onStatusTwice?: () => void;
  /**
   * The stream that carries the requests is over. The next request opens another one.
   * @param isIdle True if none of its requests is outstanding.
   */
  onStreamEnd(code: number, details: string, isIdle: boolean): void;
  /** The server did not process a request, which is sent again on the next connection. */
  onRepeated(): void;
}

/** How requests use a connection: one call each, or messages of one stream. */
export interface OipRequestWay {
  /** False while the limit of bytes waiting for the socket is reached. */
  readonly hasRoom: boolean;
  /** False while the server takes no further request: its open-call limit serves as credit. */
  readonly takesRequest: boolean;
  /**
   * Requires {@link hasRoom} and {@link takesRequest}.
   * @param traceparent Header of the request's own call; a stream for many requests has none.
   */
  send(request: PendingRequest, message: EncodedRequest, traceparent?: string): void;
  /**
   * Takes back the requests of which no byte was sent. @returns Those that were outstanding; they
   * get no further events.
   */
  dropUnsent(): readonly PendingRequest[];
  /** Forgets the outstanding requests. */
  releaseAll(): void;
  /**
   * The connection was handed over: new requests use the next one, outstanding requests finish on
   * the old one.
   */
  moveOn(): void;
  /** Ends sending. Resolves when the server has ended its side, at most after `timeoutMs`. */
  close(timeoutMs: number): Promise<void>;
}

/** One call per request: ModelInfer, or a ModelStreamInfer stream with one request. */
export class CallWay implements OipRequestWay {
  readonly #parts: CallParts;

  constructor(parts: Omit<CallParts, 'open'>) {
    this.#parts = { ...parts, open: new Set() };
  }

  get hasRoom(): boolean {
    return this.#parts.connection.hasRoom;
  }

  get takesRequest(): boolean {
    return this.#parts.connection.takesCall;
  }

  send(request: PendingRequest, message: EncodedRequest, traceparent?: string): void {
    request.message = message;
    new RequestCall(request, traceparent, this.#parts).begin(message);
  }

  dropUnsent(): readonly PendingRequest[] {
    return [...this.#parts.open].filter((open) => open.dropUnsent()).map(({ request }) => request);
  }

  /** Calls keep their requests and run to their ends. */
  releaseAll(): void {
    for (const { request } of this.#parts.open) this.#parts.gatherer.forget(request);
  }

  moveOn(): void {}

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Parts that all calls of a way share. */
interface CallParts {
  readonly connection: GrpcCallConnection;
  readonly path: string;
  /** The calls are ModelStreamInfer streams. */
  readonly isStream: boolean;
  readonly gatherer: ResponseGatherer;
  readonly events: RequestWayEvents;
  /** Calls that are not over. */
  readonly open: Set<RequestCall>;
}

/** One call in progress. */
class RequestCall implements CallEvents {
  readonly request: PendingRequest;
  readonly #parts: CallParts;
  readonly #traceparent: string | undefined;
  #call: GrpcCall | undefined;
  /** Answered: only the end of the call is awaited. */
  #isAnswered = false;
  #hasFailed = false;
  #isDropped = false;

  constructor(request: PendingRequest, traceparent: string | undefined, parts: CallParts) {
    this.request = request;
    this.#traceparent = traceparent;
    this.#parts = parts;
    parts.open.add(this);
  }

  begin({ pieces, bytes }: EncodedRequest): void {
    const { connection, path, isStream } = this.#parts;
    const call = connection.call(path, this, isStream ? 'many' : 'one', this.#traceparent);
    this.#call = call;
    call.write(pieces, bytes);
    carriedBy(this.request, call);
    call.end();
  }

  onUnprocessed(call: GrpcCall): void {
    const { message } = this.request;
    if (message === undefined) {
      this.onEnd(call, status.UNAVAILABLE, 'the server did not process the call');
    } else {
      this.#parts.events.onRepeated();
      this.begin(message);
    }
  }

  /** @returns False if the request was sent, wholly or in part. */
  dropUnsent(): boolean {
    this.request.message = undefined;
    if (this.#call === undefined || this.#call.takeBackUnsent() === 0) return false;
    this.#isDropped = true;
    this.#call.cancel();
    return true;
  }

  onMessage(_call: GrpcCall, message: BorrowedBytes): void {
    if (this.#isAnswered) {
      // On a stream, more responses may follow the one that failed the request: ignore them.
      if (!this.#hasFailed) this.#parts.events.onUnasked();
      return;
    }
    const { decoder } = this.#parts.gatherer;
    try {
      if (this.#parts.isStream) decoder.readOfStream(message);
      else decoder.read(message);
    } catch (error) {
      this.#report(badResponse(messageOf(error)));
      return;
    }
    // A server need not repeat the id: the call identifies the request.
    if (decoder.hasId && decoder.id !== this.request.ids[0]) {
      this.#report(badResponse("the response has another request's id"));
      return;
    }
    this.#report(this.#parts.gatherer.take(this.request));
  }

  onEnd({ messageCount, statusCount }: GrpcCall, code: number, details: string): void {
    const { isStream, gatherer, events, open } = this.#parts;
    if (statusCount > 1) events.onStatusTwice?.();
    open.delete(this);
    if (this.#isDropped) {
      gatherer.forget(this.request);
      return;
    }
    if (this.#isAnswered) {
      if (isStream) this.#endOfAnswered(code, details);
      return;
    }
    this.#isAnswered = true;
    if (!isStream && messageCount > 1) {
      // It is unknown which response is right; the other one is an error.
      this.#report(badResponse(details));
      events.onUnasked();
    } else if (code === status.UNAVAILABLE) {
      gatherer.forget(this.request);
      events.onUnavailable(this.request, details);
    } else if (code === status.OK) this.#report(gatherer.endOfCall(this.request));
    else this.#report(refused(code, details));
  }

  /** End of a stream call; the response to a unary call is delivered at its end. */
  #endOfAnswered(code: number, details: string): void {
    const { events } = this.#parts;
    // The server may take another call now.
    if (code === status.OK || this.#hasFailed) events.onRoom();
    else if (code === status.UNAVAILABLE) events.onUnavailable(undefined, details);
    // A response and an error: keep the response and report the error.
    else events.onUnasked();
  }

  #report(gathered: Gathered): void {
    this.#isAnswered = gathered.kind !== 'more';
    this.#hasFailed = gathered.kind === 'failed';
    if (this.#hasFailed) this.#parts.gatherer.forget(this.request);
    this.#parts.events.onGathered(this.request, gathered);
  }
}
