import type { Clock, PlannedCall } from './clock.ts';

const NS_PER_MS = 1_000_000;
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Reads the machine's monotonic clock in whole ns. All threads of a process share its origin (that of
 * `performance.now()` differs from thread to thread), so lengths of time may span threads.
 * Exact up to 104 days after the machine's start, then to 2 ns.
 */
export function machineNowNs(): number {
  return Number(process.hrtime.bigint());
}

/** One planned call: a timer for the whole milliseconds, turns of the event loop for the rest. */
class TimerCall implements PlannedCall {
  readonly #atNs: number;
  readonly #callback: () => void;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;

  constructor(atNs: number, callback: () => void) {
    this.#atNs = atNs;
    this.#callback = callback;
    this.#plan();
  }

  cancel(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
  }

  readonly #wake = (): void => {
    if (machineNowNs() >= this.#atNs) this.#callback();
    else this.#plan();
  };

  #plan(): void {
    const restMs = Math.floor((this.#atNs - machineNowNs()) / NS_PER_MS);
    if (restMs < 1) this.#immediate = setImmediate(this.#wake);
    else this.#timer = setTimeout(this.#wake, Math.min(restMs, TIMER_MS_MAX));
  }
}

/**
 * The clock of a SUT node, whose processor time belongs to the model: it sleeps where
 * `monotonicClock`, made for LoadGen, spins. A timer has 1 ms grain and mostly fires after the instant,
 * so the last part of a delay, at most 1 ms, is the only one that turns the event loop; most delays
 * above 1 ms end without a single turn.
 */
export const timerClock: Clock = {
  nowNs: machineNowNs,
  callAt: (atNs, callback) => new TimerCall(atNs, callback),
};
