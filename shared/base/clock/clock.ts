/** Takes back what {@link Clock.callAt} planned. Does nothing once the call was made. */
export interface PlannedCall {
  cancel(): void;
}

/**
 * Time as the engine sees it. The only door between the engine and real time: with a simulated clock
 * a run of 600 s is a test of milliseconds.
 */
export interface Clock {
  /** Now, in whole ns since an origin of the clock's own; never goes back. */
  nowNs(): number;
  /**
   * Calls `callback` once, at `atNs` or as soon after it as possible, never before and never inside
   * this call, not even when `atNs` has passed.
   */
  callAt(atNs: number, callback: () => void): PlannedCall;
}

export const NS_PER_MS = 1_000_000;

/** What one timer holds. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** One planned call: a timer while it is far away, then a look at the time in each turn of the event loop. */
export class DueCall implements PlannedCall {
  readonly #nowNs: () => number;
  readonly #sleepMsOf: (restNs: number) => number;
  readonly #atNs: number;
  readonly #callback: () => void;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;

  /** @param sleepMsOf How long to sleep, of what is left; below 1: no more. */
  constructor(
    nowNs: () => number,
    sleepMsOf: (restNs: number) => number,
    atNs: number,
    callback: () => void,
  ) {
    this.#nowNs = nowNs;
    this.#sleepMsOf = sleepMsOf;
    this.#atNs = atNs;
    this.#callback = callback;
    this.#plan(atNs - nowNs());
  }

  cancel(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
  }

  readonly #wake = (): void => {
    const restNs = this.#atNs - this.#nowNs();
    if (restNs <= 0) this.#callback();
    else this.#plan(restNs);
  };

  #plan(restNs: number): void {
    const sleepMs = this.#sleepMsOf(restNs);
    if (sleepMs < 1) this.#immediate = setImmediate(this.#wake);
    else this.#timer = setTimeout(this.#wake, Math.min(sleepMs, TIMER_MS_MAX));
  }
}
