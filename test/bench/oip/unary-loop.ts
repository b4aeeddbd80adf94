import type { ClientJob } from '../wire/measured.ts';

/** Issues the call with the payload of that number; who made it hears of its end. */
export type IssueCall = (payload: number) => void;

/** Makes one of the callers that have one call outstanding each. */
export type MakeCaller = (
  number: number,
  completed: () => void,
  failed: (error: Error) => void,
) => IssueCall;

/** When the measurement is, in ms of `Date.now()`, which all threads share. */
export interface MeasuredSpan {
  readonly beginMs: number;
  readonly endMs: number;
}

type LoopJob = Pick<ClientJob, 'outstanding' | 'sampleCount'>;

/** Keeps calls outstanding, each issued when one before it completes, until the span is over. */
export class UnaryLoop {
  readonly #sampleCount: number;
  readonly #begin: number;
  readonly #end: number;
  readonly #onEdge: () => void;
  readonly #latenciesUs: number[] = [];
  #issued = 0;
  #hasBegun = false;
  #isOver = false;
  #resolve: (latenciesUs: Float64Array) => void = () => {};

  /** @param onEdge Called at the first completion in the span, and at the first behind it. */
  constructor(
    { sampleCount }: LoopJob,
    { beginMs, endMs }: MeasuredSpan,
    onEdge: () => void = () => {},
  ) {
    this.#sampleCount = sampleCount;
    const toPerformance = performance.now() - Date.now();
    this.#begin = beginMs + toPerformance;
    this.#end = endMs + toPerformance;
    this.#onEdge = onEdge;
  }

  /**
   * @returns Latencies of the calls that completed in the span, in µs, in the order of completion.
   */
  run(makeCaller: MakeCaller, outstanding: number): Promise<Float64Array> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      for (let i = 0; i < outstanding; i += 1) this.#start(makeCaller, i, reject);
    });
  }

  #start(makeCaller: MakeCaller, number: number, failed: (error: Error) => void): void {
    let issuedAt = 0;
    const next = (): void => {
      issuedAt = performance.now();
      issue(this.#issued % this.#sampleCount);
      this.#issued += 1;
    };
    const completed = (): void => {
      if (this.#goesOn(issuedAt)) next();
    };
    const issue = makeCaller(number, completed, failed);
    next();
  }

  /** Notes a completion. False when the span is over. */
  #goesOn(issuedAt: number): boolean {
    if (this.#isOver) return false;
    const at = performance.now();
    if (this.#hasBegun) {
      this.#latenciesUs.push((at - issuedAt) * 1e3);
    } else if (at >= this.#begin) {
      this.#hasBegun = true;
      this.#onEdge();
    }
    if (at < this.#end) return true;
    this.#isOver = true;
    this.#onEdge();
    this.#resolve(Float64Array.from(this.#latenciesUs));
    return false;
  }
}
