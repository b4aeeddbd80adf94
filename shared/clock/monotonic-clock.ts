import type { Clock, PlannedCall } from './clock.ts';

/** Below this remaining time a timer of 1 ms grain would be late: spin instead. */
const SPIN_NS = 2_000_000;

/** One planned call: sleeps by timer while it is far away, then polls once per turn of the event loop. */
class HybridCall implements PlannedCall {
  readonly #atNs: number;
  readonly #callback: () => void;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;

  constructor(atNs: number, callback: () => void) {
    this.#atNs = atNs;
    this.#callback = callback;
    this.#wait();
  }

  cancel(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
  }

  readonly #poll = (): void => {
    if (monotonicNowNs() < this.#atNs) this.#immediate = setImmediate(this.#poll);
    else this.#callback();
  };

  readonly #wait = (): void => {
    const restNs = this.#atNs - monotonicNowNs();
    if (restNs <= SPIN_NS) {
      this.#immediate = setImmediate(this.#poll);
    } else {
      // Timers overshoot by up to 1 ms and a bit: wake early and spin the rest. One timer holds 2^31 ms.
      const sleepMs = Math.min(Math.floor((restNs - SPIN_NS) / 1e6) + 1, 2 ** 31 - 1);
      this.#timer = setTimeout(this.#wait, sleepMs);
    }
  };
}

/** Reads the process's monotonic clock, in whole ns. */
function monotonicNowNs(): number {
  return Math.round(performance.now() * 1e6);
}

/**
 * The real clock: monotonic, so that setting the wall clock does not disturb a run (LoadGen uses the
 * wall clock). Due calls come from the event loop of the gRPC thread itself: a coarse sleep, then a
 * spin by setImmediate, which lets I/O through between two looks at the clock. On a 2-core machine
 * that is p50 1 µs late at 10 k queries per second.
 */
export const monotonicClock: Clock = {
  nowNs: monotonicNowNs,
  callAt: (atNs, callback) => new HybridCall(atNs, callback),
};
