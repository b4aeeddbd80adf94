import { status } from '@grpc/grpc-js';
import type { BorrowedBytes } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { messageOf } from '../../../shared/base/errors/to-mlperf-error.ts';
import type { CallEvents, GrpcCall, GrpcCallConnection } from '../http2/grpc/grpc-calls.ts';
import type { EncodedRequest } from './request-encoder.ts';
import type { OipRequestWay, RequestWayEvents } from './request-way.ts';
import {
  badResponse,
  type Gathered,
  type PendingRequest,
  type ResponseGatherer,
  refused,
} from './response-gatherer.ts';

/** A call per request: ModelInfer, or a ModelStreamInfer stream that carries one request. */
export class CallWay implements OipRequestWay {
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

  send(request: PendingRequest, { pieces, bytes }: EncodedRequest): void {
    const open = new RequestCall(request, this.#isStream, this.#gatherer, this.#events, this.#open);
    const answers = this.#isStream ? 'many' : 'one';
    open.begin(this.#connection.call(this.#path, open, answers), pieces, bytes);
  }

  dropUnsent(): readonly PendingRequest[] {
    return [...this.#open].filter((open) => open.dropUnsent()).map(({ request }) => request);
  }

  /** The calls know their requests. */
  releaseAll(): void {}

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
  /** Nothing more is waited for but the end of the call. */
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
    if (this.#isDropped) return;
    if (this.#isAnswered) {
      if (this.#isStream) this.#endOfAnswered(code, details);
      return;
    }
    this.#isAnswered = true;
    if (!this.#isStream && messageCount > 1) {
      // Which of them is the answer nobody knows; the other one breaks the contract.
      this.#report(badResponse(details));
      this.#events.onUnasked();
    } else if (code === status.UNAVAILABLE) this.#events.onUnavailable(this.request, details);
    else if (code === status.OK) this.#report(this.#gatherer.endOfCall(this.request));
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
    this.#events.onGathered(this.request, gathered);
  }
}
