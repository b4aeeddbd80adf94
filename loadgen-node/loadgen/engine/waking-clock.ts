import { Worker } from 'node:worker_threads';
import { type Clock, machineNowNs, type PlannedCall } from '../../../shared/base/clock.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';

/** Memory that a clock shares with its sleeper. */
export interface SleeperMemory {
  /** One element, which goes up with every new instant. */
  readonly words: Int32Array;
  /** One element: the instant, in ns of the machine's clock. */
  readonly times: Float64Array;
}

/** Farther calls begin with a timer: the sleeper serves the next one only. */
const NEAR_NS = 20_000_000;

/** How long before the instant the sleeper is asked to wake: at first, and at least and most after that. */
const LEAD_NS_FIRST = 200_000;
const LEAD_NS_MIN = 60_000;
const LEAD_NS_MAX = 1_000_000;

/**
 * Share of the wakes that may come after the instant itself; by it the lead is moved. With a hundredth the lead was
 * twice to four times as long, which costs as much CPU time, and the 99th percentile of the issue delay was the same.
 */
const LATE_SHARE = 0.05;
const LEAD_STEP_NS = 20_000;

/**
 * LoadGen's clock: due calls come to the µs, and a core is busy for the last part of a wait only. A thread sleeps to
 * shortly before the instant (timers of Node.js count in ms) and wakes this one, which then looks at the time in each
 * turn of its event loop. How shortly before: so that 19 of 20 wakes come in time, as this machine has them now.
 */
export class WakingClock implements Clock {
  readonly #originNs = machineNowNs() - performance.now() * 1e6;
  readonly #words = new Int32Array(new SharedArrayBuffer(4));
  readonly #times = new Float64Array(new SharedArrayBuffer(8));
  readonly #sleeping = new Set<DueCall>();
  readonly #worker: Worker;
  #leadNs = LEAD_NS_FIRST;
  #isClosed = false;

  constructor() {
    const workerData: SleeperMemory = { words: this.#words, times: this.#times };
    this.#worker = new Worker(compiledModule('loadgen-node/loadgen/engine/sleeper.js'), {
      workerData,
      name: 'sleeper',
    });
    this.#worker.on('message', () => this.#onWake());
    // Without it calls are as late as timers are.
    this.#worker.on('error', () => this.close());
    // Behind the listeners, which would keep the process.
    this.#worker.unref();
  }

  nowNs(): number {
    return Math.round(performance.now() * 1e6);
  }

  callAt(atNs: number, callback: () => void): PlannedCall {
    return new DueCall(this, atNs, callback);
  }

  /** Wakes a call shortly before its instant. @returns False where it is too near, or there is no sleeper. */
  sleep(call: DueCall, restNs: number): boolean {
    if (this.#isClosed || restNs <= this.#leadNs) return false;
    // A call that is waited for keeps the process, as a timer does.
    if (this.#sleeping.size === 0) this.#worker.ref();
    this.#sleeping.add(call);
    this.#tell();
    return true;
  }

  forget(call: DueCall): void {
    this.#remove(call);
  }

  /** Ends the thread. Calls that are planned still come. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    void this.#worker.terminate();
    for (const call of this.#sleeping) call.wake();
    this.#sleeping.clear();
  }

  #remove(call: DueCall): void {
    if (this.#sleeping.delete(call) && this.#sleeping.size === 0) this.#worker.unref();
  }

  #tell(): void {
    let firstNs = Number.POSITIVE_INFINITY;
    for (const { atNs } of this.#sleeping) firstNs = Math.min(firstNs, atNs);
    if (firstNs === Number.POSITIVE_INFINITY) return;
    this.#times[0] = firstNs - this.#leadNs + this.#originNs;
    Atomics.add(this.#words, 0, 1);
    Atomics.notify(this.#words, 0);
  }

  #onWake(): void {
    const nowNs = this.nowNs();
    for (const call of this.#sleeping) {
      const restNs = call.atNs - nowNs;
      if (restNs > this.#leadNs) continue;
      this.#remove(call);
      this.#learn(restNs);
      call.wake();
    }
    this.#tell();
  }

  /** Moves the lead to where a share of the wakes is late. */
  #learn(restNs: number): void {
    const step = restNs < 0 ? 1 - LATE_SHARE : -LATE_SHARE;
    const leadNs = this.#leadNs + step * LEAD_STEP_NS;
    this.#leadNs = Math.max(LEAD_NS_MIN, Math.min(LEAD_NS_MAX, leadNs));
  }
}

/** One planned call: a timer while it is far away, the sleeper, then a look at the time in each turn of the event loop. */
class DueCall implements PlannedCall {
  readonly atNs: number;
  readonly #clock: WakingClock;
  readonly #callback: () => void;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;

  constructor(clock: WakingClock, atNs: number, callback: () => void) {
    this.#clock = clock;
    this.atNs = atNs;
    this.#callback = callback;
    this.#plan(atNs - clock.nowNs());
  }

  cancel(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#clock.forget(this);
  }

  readonly wake = (): void => {
    const restNs = this.atNs - this.#clock.nowNs();
    if (restNs <= 0) this.#callback();
    else this.#plan(restNs);
  };

  #plan(restNs: number): void {
    if (restNs > NEAR_NS) {
      const ms = Math.min(Math.floor((restNs - NEAR_NS) / 1e6) + 1, 2 ** 31 - 1);
      this.#timer = setTimeout(this.wake, ms);
    } else if (!this.#clock.sleep(this, restNs)) {
      this.#immediate = setImmediate(this.wake);
    }
  }
}
