import type { StreamHandler, StreamPeer } from '../connection/stream-call.ts';
import {
  type ServerCallEnd,
  STREAM_OK,
  StreamRefusal,
  shortEndOf,
  unavailable,
} from '../limits/call-end.ts';
import type { InferWork, OipInference, ReadyRequest } from './oip-inference.ts';
import { encodeStreamError, encodeStreamResponse } from './response-encoder.ts';

/** Requests of one stream that are in work: then it is not read any further. */
const STREAM_REQUESTS_MAX = 1_024;

/**
 * One ModelStreamInfer call: requests one behind the other, answers as they finish, each with the
 * id of its request. A request that is refused has an answer that says why, and the stream goes on.
 *
 * Back pressure: the stream is not read while the peer does not read, while
 * {@link STREAM_REQUESTS_MAX} requests are in work, and while a request waits for room in the
 * node's queue. So a stream holds that one request, and the admitted ones.
 */
export class OipStream implements StreamHandler {
  readonly #inference: OipInference;
  readonly #peer: StreamPeer;
  readonly #nowNs: () => number;
  readonly #onEnded: (stream: OipStream, reason: string) => void;
  readonly #works = new Set<InferWork>();
  /** A request that waits for room in the node's queue; reading waits, too. */
  #held: ReadyRequest | undefined;
  /** Messages that came before reading stopped. */
  #unread: { readonly message: Buffer; readonly arrivedAtNs: number }[] = [];
  #unsent: Buffer[] = [];
  #isBlocked = false;
  #isPaused = false;
  /** True until the node's queue has room for the request in `#held`. */
  #isWaiting = false;
  #isHalfClosed = false;
  #drainReason: string | undefined;
  #isEnded = false;

  constructor(
    inference: OipInference,
    peer: StreamPeer,
    nowNs: () => number,
    onEnded: (stream: OipStream, reason: string) => void,
  ) {
    this.#inference = inference;
    this.#peer = peer;
    this.#nowNs = nowNs;
    this.#onEnded = onEnded;
  }

  /** A message arrived. Never throws for whatever bytes. */
  message(message: Buffer): void {
    if (this.#isEnded) return;
    this.#unread.push({ message, arrivedAtNs: this.#nowNs() });
    this.#proceed();
  }

  /** The peer ended its side: the node still answers its requests. */
  halfClosed(): void {
    this.#isHalfClosed = true;
    this.#endIfDone();
  }

  /** The peer is gone: its requests are dropped. */
  cancelled(): void {
    this.#end(undefined);
  }

  /** gRPC takes messages again. */
  drained(): void {
    this.#isBlocked = false;
    while (!this.#isBlocked && !this.#isEnded) {
      const message = this.#unsent.shift();
      if (message === undefined) break;
      if (!this.#peer.write(message)) this.#isBlocked = true;
    }
    this.#proceed();
  }

  /** Takes no more requests, answers those it has, then ends. */
  drain(reason: string): void {
    this.#drainReason ??= reason;
    this.#proceed();
  }

  /** Ends the stream: the peer's bytes can no longer be read as messages. */
  breakOff(end: ServerCallEnd): void {
    this.#end(end);
  }

  /** Ends the stream now, even with requests in work. */
  abort(reason: string): void {
    this.#end(unavailable(reason).end);
  }

  /** Takes the requests that were read, as far as the limits allow. */
  #proceed(): void {
    while (!this.#isEnded && !this.#isFull) {
      const request = this.#held ?? this.#next();
      if (request === undefined) break;
      this.#held = undefined;
      this.#begin(request);
    }
    this.#readOrPause();
    this.#endIfDone();
  }

  /** True where no request may be taken now. */
  get #isFull(): boolean {
    return this.#isBlocked || this.#isWaiting || this.#works.size >= STREAM_REQUESTS_MAX;
  }

  /** The next valid request; invalid ones before it get an error as answer. */
  #next(): ReadyRequest | undefined {
    for (;;) {
      const unread = this.#unread.shift();
      if (unread === undefined) return undefined;
      let id = '';
      try {
        const request = this.#inference.read(unread.message, unread.arrivedAtNs);
        id = request.id;
        return this.#inference.check(request, unread.arrivedAtNs);
      } catch (error) {
        if (!(error instanceof StreamRefusal)) throw error;
        this.#sendError(id, error);
      }
    }
  }

  #begin(request: ReadyRequest): void {
    const { id } = request;
    let work: InferWork | undefined;
    let isOver = false;
    const over = (): void => {
      isOver = true;
      if (work !== undefined) this.#works.delete(work);
      this.#proceed();
    };
    work = this.#inference.begin(request, {
      first: (response) => this.#send(encodeStreamResponse(response)),
      complete: (response) => {
        this.#send(encodeStreamResponse(response));
        over();
      },
      refuse: (refusal) => {
        this.#sendError(id, refusal);
        over();
      },
    });
    if (work !== undefined) {
      if (!isOver) this.#works.add(work);
      return;
    }
    const onRoom = (): void => {
      this.#isWaiting = false;
      this.#proceed();
    };
    if (this.#inference.room.whenMore(onRoom)) {
      this.#isWaiting = true;
      this.#held = request;
    } else this.#sendError(id, this.#inference.noRoom(request));
  }

  #sendError(id: string, refusal: StreamRefusal): void {
    this.#send(encodeStreamError(id, shortEndOf(refusal).details));
  }

  #send(message: Buffer): void {
    if (this.#isEnded) return;
    if (this.#isBlocked) this.#unsent.push(message);
    else if (!this.#peer.write(message)) this.#isBlocked = true;
  }

  #readOrPause(): void {
    const mayRead = !this.#isFull && this.#unread.length === 0;
    if (this.#isEnded || mayRead === !this.#isPaused) return;
    this.#isPaused = !mayRead;
    if (mayRead) this.#peer.resume();
    else this.#peer.pause();
  }

  #endIfDone(): void {
    const isBusy = this.#works.size > 0 || this.#held !== undefined;
    if (this.#isEnded || isBusy || this.#unread.length > 0 || this.#unsent.length > 0) return;
    if (this.#isHalfClosed) this.#end(STREAM_OK);
    else if (this.#drainReason !== undefined) this.abort(this.#drainReason);
  }

  /** Ends the stream, once. Requests that it still has are dropped. */
  #end(end: ServerCallEnd | undefined): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const given = this.#held === undefined ? this.#unread : [this.#held, ...this.#unread];
    for (const { arrivedAtNs } of given) this.#inference.countCancelled(arrivedAtNs);
    this.#held = undefined;
    this.#unread = [];
    this.#unsent = [];
    for (const work of [...this.#works]) work.cancel();
    this.#works.clear();
    if (end !== undefined) this.#peer.end(end);
    this.#onEnded(this, end?.details ?? 'the peer is gone');
  }
}
