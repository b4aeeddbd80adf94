/**
 * A call planned by {@link Clock.callAt} that can be cancelled. No effect once the call was made.
 */
export interface PlannedCall {
  cancel(): void;
}

/**
 * Time as the engine sees it: its only access to real time. With a simulated clock a run of 600 s
 * is a test of milliseconds.
 */
export interface Clock {
  /** Now, in whole ns since an origin of the clock's own; never goes back. */
  nowNs(): number;
  /**
   * Calls `callback` once, at `atNs` or as soon after it as possible; never earlier, and never
   * inside this call, even if `atNs` has passed.
   */
  callAt(atNs: number, callback: () => void): PlannedCall;
}

const NS_PER_MS = 1_000_000;

/** Longest delay of one timer, ms. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * One planned call: a timer while it is far away, then a check of the time in each turn of the
 * event loop.
 */
class DueCall implements PlannedCall {
  readonly #nowNs: () => number;
  readonly #sleepMsOf: (restNs: number) => number;
  readonly #atNs: number;
  readonly #callback: () => void;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;

  /** @param sleepMsOf Sleep in ms for the remaining time; below 1: spin. */
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

/** Remaining time below which a timer with its grain of 1 ms would be late: spin instead. */
const SPIN_NS = 2_000_000;

/**
 * A clock with µs precision: a coarse sleep, then a spin by setImmediate, which handles I/O between
 * two checks of the time. It keeps a core busy while a call is due within 2 ms.
 * @param nowNs Reads the time, in whole ns; never goes back.
 */
export function spinningClock(nowNs: () => number): Clock {
  // Timers overshoot by a little more than 1 ms: wake early and spin the rest.
  const sleepMsOf = (restNs: number): number =>
    restNs <= SPIN_NS ? 0 : Math.floor((restNs - SPIN_NS) / NS_PER_MS) + 1;
  return { nowNs, callAt: (atNs, callback) => new DueCall(nowNs, sleepMsOf, atNs, callback) };
}

/**
 * Reads the machine's monotonic clock in whole ns. All threads of a process share its origin (that
 * of `performance.now()` differs per thread), so durations may span threads. Exact up to 104 days
 * after the machine's start, then to 2 ns.
 */
export function machineNowNs(): number {
  return Number(process.hrtime.bigint());
}

/**
 * Clock of a SUT node, whose CPU time belongs to the model: it sleeps instead of spinning like
 * LoadGen's `monotonicClock`. A timer has a grain of 1 ms and mostly fires late, so only the last
 * part of a delay, at most 1 ms, turns the event loop; most delays above 1 ms need no turn at all.
 */
export const timerClock: Clock = {
  nowNs: machineNowNs,
  callAt: (atNs, callback) =>
    new DueCall(machineNowNs, (restNs) => Math.floor(restNs / NS_PER_MS), atNs, callback),
};
