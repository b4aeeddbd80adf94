import type { SampleRecorder } from '../../recorder/sample-recorder.ts';

/**
 * Due times of queries with a fixed arrival interval, one outstanding at a time. If the last query
 * is still outstanding at a tick, the next query takes the first tick that is still ahead. Hot
 * path.
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
   * Due time of a query in ns since the start; the first call for a query fixes it.
   * @param elapsedNs Current time, when the previous query no longer blocks this one.
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
