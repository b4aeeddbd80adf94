import type { CreditBook, StreamCredit } from '../ledger/credit-book.ts';

/**
 * The share of the node's queue for requests of the Open Inference Protocol. This protocol has no
 * credit, so all its peers together have one account beside those of the native streams, open while
 * a request is in work. A run of the native protocol and these requests share the queue as two runs
 * would.
 */
export class RequestRoom {
  readonly #book: CreditBook;
  #credit: StreamCredit | undefined;
  #requestCount = 0;
  #waiting: (() => void)[] = [];
  #isWaking = false;
  /** True inside {@link take}: a grant that arrives meanwhile is for the caller. */
  #isTaking = false;

  constructor(book: CreditBook) {
    this.#book = book;
  }

  /** Samples and payload bytes of the requests in work. */
  get used(): { readonly requests: number; readonly samples: number; readonly bytes: number } {
    const { usedSamples: samples = 0, usedBytes: bytes = 0 } = this.#credit ?? {};
    return { requests: this.#requestCount, samples, bytes };
  }

  /** Takes room for a request; false if there is not enough room now. */
  take(samples: number, bytes: number): boolean {
    this.#isTaking = true;
    const isTaken = this.#take(samples, bytes);
    this.#isTaking = false;
    return isTaken;
  }

  /** Gives a request's room back. */
  finish(samples: number, bytes: number): void {
    this.#requestCount -= 1;
    this.#credit?.finish(samples, bytes);
    this.#closeIfIdle();
    this.#wake();
  }

  /**
   * Calls `listener` once when there may be more room. False if no request is in work that could
   * give room back.
   */
  whenMore(listener: () => void): boolean {
    if (this.#requestCount === 0) return false;
    this.#waiting.push(listener);
    return true;
  }

  #take(samples: number, bytes: number): boolean {
    const credit = this.#credit ?? this.#book.open(() => this.#wake());
    if (credit === undefined) return false;
    this.#credit = credit;
    if (samples > credit.freeSamples || bytes > credit.freeBytes) credit.grow();
    if (samples > credit.freeSamples || bytes > credit.freeBytes) {
      this.#closeIfIdle();
      return false;
    }
    credit.take(samples, bytes);
    for (let i = 0; i < samples; i += 1) credit.begin();
    this.#requestCount += 1;
    return true;
  }

  #closeIfIdle(): void {
    if (this.#requestCount > 0) return;
    this.#credit?.close();
    this.#credit = undefined;
  }

  /** Wakes listeners after the current call, because they may take room at once. */
  #wake(): void {
    if (this.#isWaking || this.#isTaking || this.#waiting.length === 0) return;
    this.#isWaking = true;
    queueMicrotask(() => {
      this.#isWaking = false;
      this.#wakeAll();
    });
  }

  /**
   * Calls the listeners in their order. A listener that must wait again goes to the end of the
   * queue.
   */
  #wakeAll(): void {
    for (;;) {
      const listener = this.#waiting.shift();
      const { length } = this.#waiting;
      listener?.();
      if (listener === undefined || this.#waiting.length > length) return;
    }
  }
}
