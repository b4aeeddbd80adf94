import { status } from '@grpc/grpc-js';
import { messageOf } from '../../../shared/errors/to-mlperf-error.ts';
import type { EncodedRequest } from '../../../shared/oip/request-encoder.ts';
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
    const events = new UnaryRequest(request, this.#gatherer, this.#events);
    const call = this.#connection.call(this.#path, events);
    call.write(pieces, bytes);
    call.end();
  }

  /** The calls know their requests; nothing is kept here. */
  releaseAll(): void {}

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** One call on its way. */
class UnaryRequest implements CallEvents {
  readonly #request: PendingRequest;
  readonly #gatherer: ResponseGatherer;
  readonly #events: RequestEvents;
  #isAnswered = false;

  constructor(request: PendingRequest, gatherer: ResponseGatherer, events: RequestEvents) {
    this.#request = request;
    this.#gatherer = gatherer;
    this.#events = events;
  }

  onMessage(_call: GrpcCall, message: Buffer): void {
    if (this.#isAnswered) {
      this.#events.onUnasked();
      return;
    }
    this.#isAnswered = true;
    const { decoder } = this.#gatherer;
    try {
      decoder.read(message);
    } catch (error) {
      this.#report(badResponse(messageOf(error)));
      return;
    }
    // A server need not repeat the id: the call says what the answer is to.
    if (decoder.hasId && decoder.id !== this.#request.ids[0]) {
      this.#report(badResponse('the response has the id of another request'));
      return;
    }
    this.#report(this.#gatherer.take(this.#request));
  }

  onEnd(_call: GrpcCall, code: number, details: string): void {
    if (this.#isAnswered) {
      // An answer and an error: the one is taken, and the other breaks the contract.
      if (code !== status.OK) this.#events.onUnasked();
      // The server may take another call now in its place.
      else this.#events.onRoom();
      return;
    }
    this.#isAnswered = true;
    if (code === status.UNAVAILABLE) this.#events.onUnavailable(this.#request, details);
    else if (code === status.OK) this.#report(badResponse('the call ended without a response'));
    else this.#report(refused(code, details));
  }

  #report(gathered: Gathered): void {
    this.#events.onGathered(this.#request, gathered);
  }
}
