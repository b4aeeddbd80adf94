import { Worker } from 'node:worker_threads';
import { type Clock, machineNowNs, type PlannedCall } from '../../../shared/base/clock.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';

/** Memory that a clock shares with its sleeper. */
export interface SleeperMemory {
  /** One element, incremented with every new wake time. */
  readonly words: Int32Array;
  /** One element: the wake time, in ns of the machine's clock. */
  readonly times: Float64Array;
}

/** Later calls begin with a timer: the sleeper serves only the next one. */
const NEAR_NS = 20_000_000;

/** Lead of the wake before the due time: initial, smallest and largest. */
const LEAD_NS_FIRST = 200_000;
const LEAD_NS_MIN = 60_000;
const LEAD_NS_MAX = 1_000_000;

/**
 * Target share of wakes that come after the due time; the lead is adjusted to it. A share of 0.01
 * made the lead two to four times as long and cost as much more CPU time, with the same p99 of
 * issue delay.
 */
const LATE_SHARE = 0.05;
const LEAD_STEP_NS = 20_000;

/**
 * LoadGen's clock: due calls are accurate to the µs, and keep a core busy only for the last part of
 * a wait. A thread sleeps until shortly before the due time (timers of Node.js have 1 ms
 * resolution) and wakes this one, which then checks the time in each turn of its event loop. The
 * lead adapts to the machine so that 19 of 20 wakes come in time.
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
      // Modules that the user's --import loads would keep it from its work as the run begins.
      execArgv: [],
      env: {},
    });
    this.#worker.on('message', () => this.#onWake());
    // Without the sleeper, calls are as late as timers are.
    this.#worker.on('error', () => this.close());
    // After the listeners are added: a listener would keep the process alive.
    this.#worker.unref();
  }

  nowNs(): number {
    return Math.round(performance.now() * 1e6);
  }

  callAt(atNs: number, callback: () => void): PlannedCall {
    return new DueCall(this, atNs, callback);
  }

  /**
   * Starts a wake shortly before the due time. @returns False if it is too near, or without a
   * sleeper.
   */
  sleep(call: DueCall, restNs: number): boolean {
    if (this.#isClosed || restNs <= this.#leadNs) return false;
    // A pending call keeps the process alive, as a timer does.
    if (this.#sleeping.size === 0) this.#worker.ref();
    this.#sleeping.add(call);
    this.#tell();
    return true;
  }

  forget(call: DueCall): void {
    this.#remove(call);
  }

  /** Ends the thread. Planned calls still run. */
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

  /** Adjusts the lead so that the target share of wakes is late. */
  #learn(restNs: number): void {
    const step = restNs < 0 ? 1 - LATE_SHARE : -LATE_SHARE;
    const leadNs = this.#leadNs + step * LEAD_STEP_NS;
    this.#leadNs = Math.max(LEAD_NS_MIN, Math.min(LEAD_NS_MAX, leadNs));
  }
}

/**
 * One planned call: first a timer, then the sleeper, then a check of the time in each turn of the
 * event loop.
 */
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
