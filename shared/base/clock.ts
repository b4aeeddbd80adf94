/** Cancels a call planned by {@link Clock.callAt}. No effect once the call was made. */
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

const NS_PER_MS = 1_000_000;

/** Longest time of one timer, in ms. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** One planned call: a timer while it is far away, then a look at the time in each turn of the event loop. */
class DueCall implements PlannedCall {
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

/** Below this remaining time a timer of 1 ms grain would be late: spin instead. */
const SPIN_NS = 2_000_000;

/**
 * A clock whose due calls come to the µs: a coarse sleep, then a spin by setImmediate, which lets I/O through
 * between two looks at the time. It keeps a core busy while a call is due within 2 ms.
 * @param nowNs Reads the time, in whole ns; never goes back.
 */
export function spinningClock(nowNs: () => number): Clock {
  // Timers overshoot by up to 1 ms and a bit: wake early and spin the rest.
  const sleepMsOf = (restNs: number): number =>
    restNs <= SPIN_NS ? 0 : Math.floor((restNs - SPIN_NS) / NS_PER_MS) + 1;
  return { nowNs, callAt: (atNs, callback) => new DueCall(nowNs, sleepMsOf, atNs, callback) };
}

/**
 * Reads the machine's monotonic clock in whole ns. All threads of a process share its origin (that of
 * `performance.now()` differs from thread to thread), so lengths of time may span threads.
 * Exact up to 104 days after the machine's start, then to 2 ns.
 */
export function machineNowNs(): number {
  return Number(process.hrtime.bigint());
}

/**
 * The clock of a SUT node, whose processor time belongs to the model: it sleeps where
 * `monotonicClock`, made for LoadGen, spins. A timer has 1 ms grain and mostly fires after the instant,
 * so the last part of a delay, at most 1 ms, is the only one that turns the event loop; most delays
 * above 1 ms end without a single turn.
 */
export const timerClock: Clock = {
  nowNs: machineNowNs,
  callAt: (atNs, callback) =>
    new DueCall(machineNowNs, (restNs) => Math.floor(restNs / NS_PER_MS), atNs, callback),
};
