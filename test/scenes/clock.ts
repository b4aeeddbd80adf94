import type { Clock, PlannedCall } from '../../shared/base/clock.ts';

interface Call extends PlannedCall {
  readonly atNs: number;
  readonly callback: () => void;
  isCancelled: boolean;
}

/** Turns of the promise queue between two calls. */
const HOPS = 16;

/** Calls that are kept behind the head of the queue before they are cut off. */
const BEHIND_MAX = 4096;

/**
 * A clock that a test moves (`advance`), or that jumps from one planned call to the next (`drive`):
 * 600 s pass in the time that the calls take. Calls of one instant are made in the order in which
 * they were planned.
 */
export class SimulatedClock implements Clock {
  /** By time; those before the head were made. */
  #calls: Call[] = [];
  #head = 0;
  readonly #hops: number;
  #nowNs: number;

  /**
   * @param originNs The first reading: not 0, so that a forgotten origin shows.
   * @param hops Turns of the promise queue between two calls: fewer are faster, and right where
   *   nothing but the end of the work is awaited.
   */
  constructor(originNs = 1_000_000_007, hops: number = HOPS) {
    this.#nowNs = originNs;
    this.#hops = hops;
  }

  nowNs(): number {
    return this.#nowNs;
  }

  /** Calls that are planned and not yet made. */
  get plannedCount(): number {
    return this.#calls.slice(this.#head).filter(({ isCancelled }) => !isCancelled).length;
  }

  callAt(atNs: number, callback: () => void): PlannedCall {
    const call: Call = {
      ...{ atNs, callback, isCancelled: false },
      cancel: () => {
        call.isCancelled = true;
      },
    };
    let low = this.#head;
    let high = this.#calls.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#calls[middle] as Call).atNs <= atNs) low = middle + 1;
      else high = middle;
    }
    this.#calls.splice(low, 0, call);
    return call;
  }

  /** Lets time pass inside a callback, as work that blocks the thread does. */
  spend(ns: number): void {
    this.#nowNs += ns;
  }

  /** Moves the clock on; due calls are made in their order, each at its own instant. */
  advance(ns: number): void {
    const untilNs = this.#nowNs + ns;
    while (this.#step(untilNs));
    this.#nowNs = untilNs;
  }

  /**
   * Makes planned calls until `work` is settled. @throws Error when nothing is planned any more.
   */
  async drive<T>(work: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    work.then(settle, settle);
    for (;;) {
      // Whoever waits for what the last call did goes on first, through a few layers of functions.
      for (let hop = 0; hop < this.#hops && !isSettled; hop += 1) await null;
      if (isSettled) return await work;
      if (this.#step()) continue;
      for (let turn = 0; turn < 10 && !isSettled && this.plannedCount === 0; turn += 1) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (!isSettled && this.plannedCount === 0) {
        throw new Error('the work waits but nothing is planned');
      }
    }
  }

  /** Makes the next call. @returns False when none is due until then. */
  #step(untilNs = Number.POSITIVE_INFINITY): boolean {
    for (;;) {
      const call = this.#calls[this.#head];
      if (call === undefined || call.atNs > untilNs) return false;
      this.#head += 1;
      if (this.#head === BEHIND_MAX) {
        this.#calls = this.#calls.slice(BEHIND_MAX);
        this.#head = 0;
      }
      if (call.isCancelled) continue;
      this.#nowNs = Math.max(this.#nowNs, call.atNs);
      call.callback();
      return true;
    }
  }
}

/** A clock that begins at 0, and stands still until a test moves it. */
export class ManualClock extends SimulatedClock {
  constructor() {
    super(0);
  }
}
