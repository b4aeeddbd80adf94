import type { SampleRecorder } from '../../recorder/sample-recorder.ts';

/**
 * When queries are due that arrive in fixed intervals, one at a time. A query that cannot go out at its
 * tick, since the last one is not done, takes the first tick that is not yet past. Hot path.
 */
export class ArrivalTicks {
  readonly #recorder: SampleRecorder;
  readonly #intervalNs: number;
  #tick = 0;
  #query = -1;

  /** @param intervalNs 1 or more. */
  constructor(recorder: SampleRecorder, intervalNs: number) {
    this.#recorder = recorder;
    this.#intervalNs = intervalNs;
  }

  /**
   * Due time of a query in ns since the start; the first call for a query decides it.
   * @param elapsedNs Now, when the query may go out as far as the last one is concerned.
   */
  dueNs(query: number, elapsedNs: number): number {
    if (query !== this.#query) {
      const next = Math.max(this.#tick + 1, Math.ceil(elapsedNs / this.#intervalNs));
      this.#recorder.schedule(query, next * this.#intervalNs, next - this.#tick);
      this.#tick = next;
      this.#query = query;
    }
    return this.#tick * this.#intervalNs;
  }
}
