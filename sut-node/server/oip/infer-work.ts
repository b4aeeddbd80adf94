import type {
  SampleAnswer,
  SampleFirstToken,
  SampleOwner,
} from '../../inference/batcher/waiting-sample.ts';

/** What happens to a request that the model works on. */
export interface WorkEvents {
  /** The first token of its only sample is known; the rest follows. */
  firstToken(payload: Uint8Array): void;
  /** Every sample has its answer, in their order. */
  done(answers: readonly SampleAnswer[]): void;
  /** Nobody wants its answer any more; instead of `done`. */
  cancelled(): void;
  /** No sample of it is in the node any more, answered or not; behind `done` and `cancelled`. */
  left(): void;
}

/** A request whose samples are in queue and workers. */
export class InferWork implements SampleOwner {
  readonly #answers: SampleAnswer[] = [];
  readonly #events: WorkEvents;
  readonly #removeWaiting: (work: InferWork) => number;
  #pendingCount: number;
  #isCancelled = false;

  /**
   * @param sampleCount 1 or more; their ids are their places in the request.
   * @param removeWaiting Takes its waiting samples out of the queue, and tells how many.
   */
  constructor(sampleCount: number, events: WorkEvents, removeWaiting: (work: InferWork) => number) {
    this.#pendingCount = sampleCount;
    this.#events = events;
    this.#removeWaiting = removeWaiting;
  }

  /** Nobody wants the answer any more. What a worker has already comes to its end. */
  cancel(): void {
    if (this.#isCancelled || this.#pendingCount === 0) return;
    this.#isCancelled = true;
    this.#events.cancelled();
    this.#leave(this.#removeWaiting(this));
  }

  firstTokens(tokens: readonly SampleFirstToken[]): void {
    if (this.#isCancelled) return;
    for (const { payload } of tokens) this.#events.firstToken(payload);
  }

  answer(answers: readonly SampleAnswer[]): void {
    for (const answer of answers) this.#answers[answer.sample.id] = answer;
    this.#leave(answers.length);
  }

  #leave(count: number): void {
    this.#pendingCount -= count;
    if (count === 0 || this.#pendingCount > 0) return;
    if (!this.#isCancelled) this.#events.done(this.#answers);
    this.#events.left();
  }
}
