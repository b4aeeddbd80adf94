import type { Clock, PlannedCall } from '../../../shared/base/clock/clock.ts';

interface SimulatedCall extends PlannedCall {
  readonly atNs: number;
  readonly order: number;
  readonly callback: () => void;
  isCancelled: boolean;
}

/** Turns of the promise queue between two calls. */
const HOPS = 16;

/**
 * A clock that jumps from one planned call to the next: 600 s pass in the time that the calls take.
 * Calls of one instant are made in the order in which they were planned.
 */
export class SimulatedClock implements Clock {
  readonly #heap: SimulatedCall[] = [];
  readonly #hops: number;
  #nowNs: number;
  #planned = 0;

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

  /** Lets time pass inside a callback, as work that blocks the thread does. */
  spend(ns: number): void {
    this.#nowNs += ns;
  }

  callAt(atNs: number, callback: () => void): PlannedCall {
    const call: SimulatedCall = {
      atNs,
      order: this.#planned,
      callback,
      isCancelled: false,
      cancel: () => {
        call.isCancelled = true;
      },
    };
    this.#planned += 1;
    this.#push(call);
    return call;
  }

  /** Makes planned calls until `work` is settled. @throws Error when nothing is planned any more. */
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
      for (let turn = 0; turn < 10 && !isSettled && this.#heap.length === 0; turn += 1) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (!isSettled && this.#heap.length === 0) {
        throw new Error('the work waits but nothing is planned');
      }
    }
  }

  /** Makes the next call. @returns False when there was none. */
  #step(): boolean {
    for (;;) {
      const call = this.#pop();
      if (call === undefined) return false;
      if (call.isCancelled) continue;
      this.#nowNs = Math.max(this.#nowNs, call.atNs);
      call.callback();
      return true;
    }
  }

  #push(call: SimulatedCall): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(call);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as SimulatedCall;
      if (!isBefore(call, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = call;
  }

  #pop(): SimulatedCall | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = child + 1;
      if (
        right < heap.length &&
        isBefore(heap[right] as SimulatedCall, heap[child] as SimulatedCall)
      ) {
        child = right;
      }
      const below = heap[child] as SimulatedCall;
      if (!isBefore(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: SimulatedCall, b: SimulatedCall): boolean {
  return a.atNs < b.atNs || (a.atNs === b.atNs && a.order < b.order);
}
