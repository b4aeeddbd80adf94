import { status } from '@grpc/grpc-js';
import { messageOf } from '../../../shared/errors/to-mlperf-error.ts';
import type { EncodedRequest } from '../../../shared/oip/request-encoder.ts';
import type { BorrowedBytes } from '../../../shared/wire/borrowed-bytes.ts';
import type { CallEvents, GrpcCall, GrpcCallConnection } from '../http2/grpc-calls.ts';
import type { RequestEvents, RequestWay } from './request-way.ts';
import {
  badResponse,
  type Gathered,
  type PendingRequest,
  type ResponseGatherer,
  refused,
} from './response-gatherer.ts';

/** A ModelInfer call per request. */
export class UnaryWay implements RequestWay {
  readonly #connection: GrpcCallConnection;
  readonly #path: string;
  readonly #gatherer: ResponseGatherer;
  readonly #events: RequestEvents;
  /** Calls that are not over. */
  readonly #open = new Set<UnaryRequest>();

  constructor(
    connection: GrpcCallConnection,
    service: string,
    gatherer: ResponseGatherer,
    events: RequestEvents,
  ) {
    this.#connection = connection;
    this.#path = `/${service}/ModelInfer`;
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
    const open = new UnaryRequest(request, this.#gatherer, this.#events, this.#open);
    open.begin(this.#connection.call(this.#path, open, 'one'), pieces, bytes);
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
class UnaryRequest implements CallEvents {
  readonly request: PendingRequest;
  readonly #gatherer: ResponseGatherer;
  readonly #events: RequestEvents;
  readonly #open: Set<UnaryRequest>;
  #call: GrpcCall | undefined;
  #isAnswered = false;
  #isDropped = false;

  constructor(
    request: PendingRequest,
    gatherer: ResponseGatherer,
    events: RequestEvents,
    open: Set<UnaryRequest>,
  ) {
    this.request = request;
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
    this.#isAnswered = true;
    const { decoder } = this.#gatherer;
    try {
      decoder.read(message);
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
    if (this.#isDropped || this.#isAnswered) return;
    if (messageCount > 1) {
      // Which of them is the answer nobody knows; the other one breaks the contract.
      this.#report(badResponse(details));
      this.#events.onUnasked();
    } else if (code === status.UNAVAILABLE) this.#events.onUnavailable(this.request, details);
    else if (code === status.OK) this.#report(badResponse('the call ended without a response'));
    else this.#report(refused(code, details));
  }

  #report(gathered: Gathered): void {
    this.#events.onGathered(this.request, gathered);
  }
}
