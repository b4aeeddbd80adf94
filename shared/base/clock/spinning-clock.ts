import type { Clock, PlannedCall } from './clock.ts';

/** Below this remaining time a timer of 1 ms grain would be late: spin instead. */
const SPIN_NS = 2_000_000;

/** One planned call: sleeps by timer while it is far away, then polls once per turn of the event loop. */
class HybridCall implements PlannedCall {
  readonly #nowNs: () => number;
  readonly #atNs: number;
  readonly #callback: () => void;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;

  constructor(nowNs: () => number, atNs: number, callback: () => void) {
    this.#nowNs = nowNs;
    this.#atNs = atNs;
    this.#callback = callback;
    this.#wait();
  }

  cancel(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
  }

  readonly #poll = (): void => {
    if (this.#nowNs() < this.#atNs) this.#immediate = setImmediate(this.#poll);
    else this.#callback();
  };

  readonly #wait = (): void => {
    const restNs = this.#atNs - this.#nowNs();
    if (restNs <= SPIN_NS) {
      this.#immediate = setImmediate(this.#poll);
    } else {
      // Timers overshoot by up to 1 ms and a bit: wake early and spin the rest. One timer holds 2^31 ms.
      const sleepMs = Math.min(Math.floor((restNs - SPIN_NS) / 1e6) + 1, 2 ** 31 - 1);
      this.#timer = setTimeout(this.#wait, sleepMs);
    }
  };
}

/**
 * A clock whose due calls come to the µs: a coarse sleep, then a spin by setImmediate, which lets I/O through
 * between two looks at the time. It keeps a core busy while a call is due within 2 ms.
 * @param nowNs Reads the time, in whole ns; never goes back.
 */
export function spinningClock(nowNs: () => number): Clock {
  return { nowNs, callAt: (atNs, callback) => new HybridCall(nowNs, atNs, callback) };
}
