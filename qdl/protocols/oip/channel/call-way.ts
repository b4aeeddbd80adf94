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
  /** A call ended with more than one `grpc-status`. */
  readonly onStatusTwice?: () => void;
  /**
   * The stream is over that carries the requests. The next request opens another one.
   * @param isIdle None of its requests is outstanding.
   */
  onStreamEnd(code: number, details: string, isIdle: boolean): void;
  /** The server had not processed a request, which goes out again on the next connection. */
  onRepeated(): void;
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
  /** The connection was handed over: new requests go to the next one, and those that are outstanding are answered where they are. */
  moveOn(): void;
  /** No more requests will come. Resolves when the server has ended its side, at most after `timeoutMs`. */
  close(timeoutMs: number): Promise<void>;
}

/** A call per request: ModelInfer, or a ModelStreamInfer stream that carries one request. */
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

  /** The calls know their requests, and go on to their ends. */
  releaseAll(): void {
    for (const { request } of this.#parts.open) this.#parts.gatherer.forget(request);
  }

  moveOn(): void {}

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** All that the calls of a way share. */
interface CallParts {
  readonly connection: GrpcCallConnection;
  readonly path: string;
  /** The calls are ModelStreamInfer streams. */
  readonly isStream: boolean;
  readonly gatherer: ResponseGatherer;
  readonly events: RequestWayEvents;
  /** Those that are not over. */
  readonly open: Set<RequestCall>;
}

/** One call on its way. */
class RequestCall implements CallEvents {
  readonly request: PendingRequest;
  readonly #parts: CallParts;
  readonly #traceparent: string | undefined;
  #call: GrpcCall | undefined;
  /** Only the end of the call is awaited. */
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

  /** @returns False where the request, or the beginning of it, went out. */
  dropUnsent(): boolean {
    this.request.message = undefined;
    if (this.#call === undefined || this.#call.takeBackUnsent() === 0) return false;
    this.#isDropped = true;
    this.#call.cancel();
    return true;
  }

  onMessage(_call: GrpcCall, message: BorrowedBytes): void {
    if (this.#isAnswered) {
      // Of a stream. More responses may follow the one by which the request failed: no news.
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
    // A server need not repeat the id: the call says what the answer is to.
    if (decoder.hasId && decoder.id !== this.request.ids[0]) {
      this.#report(badResponse('the response has the id of another request'));
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
      // It is unknown which of them is the answer; the other one breaks the contract.
      this.#report(badResponse(details));
      events.onUnasked();
    } else if (code === status.UNAVAILABLE) {
      gatherer.forget(this.request);
      events.onUnavailable(this.request, details);
    } else if (code === status.OK) this.#report(gatherer.endOfCall(this.request));
    else this.#report(refused(code, details));
  }

  /** Of a stream; the answer to a call is handed on with the call's end. */
  #endOfAnswered(code: number, details: string): void {
    const { events } = this.#parts;
    // The server may take another call now in its place.
    if (code === status.OK || this.#hasFailed) events.onRoom();
    else if (code === status.UNAVAILABLE) events.onUnavailable(undefined, details);
    // An answer and an error: the one is taken, and the other breaks the contract.
    else events.onUnasked();
  }

  #report(gathered: Gathered): void {
    this.#isAnswered = gathered.kind !== 'more';
    this.#hasFailed = gathered.kind === 'failed';
    if (this.#hasFailed) this.#parts.gatherer.forget(this.request);
    this.#parts.events.onGathered(this.request, gathered);
  }
}
