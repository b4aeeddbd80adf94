import type { Http2Call } from '../grpc/http2-call.ts';

/** Gone entries that are kept before the rest is moved to the front: seldom enough that it costs nothing. */
const GONE_MAX = 1024;

/** Calls in the order in which they came. */
export class CallQueue {
  #calls: Http2Call[] = [];
  #first = 0;

  /** The call whose turn is next. */
  get first(): Http2Call | undefined {
    return this.#calls[this.#first];
  }

  push(call: Http2Call): void {
    this.#calls.push(call);
  }

  /** Takes the first call out. */
  shift(): void {
    this.#first += 1;
    if (this.#first < this.#calls.length && this.#first < GONE_MAX) return;
    this.#calls.splice(0, this.#first);
    this.#first = 0;
  }
}
