import { type Clock, machineNowNs, type PlannedCall } from '../../../shared/base/clock.ts';

/** Sleep and time of a {@link NappingClock}'s thread. */
interface Sleeper {
  nowNs(): number;
  /** Blocks the thread for about that time. */
  sleep(ns: number): void;
}

/**
 * Longest sleep, during which no I/O is done, and shortest time between calls: events due in
 * between are delivered together.
 */
const NAP_NS = 200_000;

/** Delay of a wake-up: the kernel joins wake-ups that are close together. */
const WAKE_NS = 60_000;

/** Later calls start with a timer, which is late by a ms or more. */
const NEAR_NS = 3_000_000;
const TIMER_LEAD_NS = 2_000_000;
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Clock of an otherwise idle thread: calls are at most a fraction of a ms late, and never early.
 * Node.js timers count in ms, so the thread itself sleeps between two turns of the event loop. A
 * spinning thread would make the threads that it wakes on its core wait for the end of its time
 * slice: LoadGen's threads on the same machine for 1 to 4 ms, 40 times a second
 * (docs/benchmarks.md).
 */
export class NappingClock implements Clock {
  readonly #sleeper: Sleeper;
  #calledAtNs = Number.NEGATIVE_INFINITY;

  constructor(sleeper: Sleeper = THREAD) {
    this.#sleeper = sleeper;
  }

  nowNs(): number {
    return this.#sleeper.nowNs();
  }

  callAt(atNs: number, callback: () => void): PlannedCall {
    const dueNs = Math.max(atNs, this.#calledAtNs + NAP_NS);
    let timer: NodeJS.Timeout | undefined;
    let immediate: NodeJS.Immediate | undefined;
    const look = (): void => {
      const restNs = dueNs - this.nowNs();
      if (restNs > WAKE_NS) this.#sleeper.sleep(Math.min(restNs - WAKE_NS, NAP_NS));
      const nowNs = this.nowNs();
      if (nowNs < dueNs) {
        immediate = setImmediate(look);
        return;
      }
      this.#calledAtNs = nowNs;
      callback();
    };
    const plan = (): void => {
      const restNs = dueNs - this.nowNs();
      if (restNs <= NEAR_NS) immediate = setImmediate(look);
      else timer = setTimeout(plan, Math.min((restNs - TIMER_LEAD_NS) / 1e6, TIMER_MS_MAX));
    };
    plan();
    return {
      cancel: () => {
        clearTimeout(timer);
        clearImmediate(immediate);
      },
    };
  }
}

const NEVER_NOTIFIED = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

const THREAD: Sleeper = {
  nowNs: machineNowNs,
  sleep: (ns) => {
    Atomics.wait(NEVER_NOTIFIED, 0, 0, ns / 1e6);
  },
};
