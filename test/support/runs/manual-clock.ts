import type { Clock, PlannedCall } from '../../../shared/base/clock/clock.ts';

interface ManualCall extends PlannedCall {
  readonly atNs: number;
  readonly callback: () => void;
}

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #nowNs = 0;
  #calls: ManualCall[] = [];

  nowNs(): number {
    return this.#nowNs;
  }

  /** Calls that are planned and not yet made. */
  get plannedCount(): number {
    return this.#calls.length;
  }

  callAt(atNs: number, callback: () => void): PlannedCall {
    const call: ManualCall = {
      atNs,
      callback,
      cancel: () => {
        this.#calls = this.#calls.filter((other) => other !== call);
      },
    };
    this.#calls.push(call);
    return call;
  }

  /** Moves the clock on; due calls are made in their order, each at its own instant. */
  advance(ns: number): void {
    const untilNs = this.#nowNs + ns;
    for (;;) {
      const due = this.#calls
        .filter((call) => call.atNs <= untilNs)
        .reduce<ManualCall | undefined>((a, b) => (a && a.atNs <= b.atNs ? a : b), undefined);
      if (due === undefined) break;
      due.cancel();
      this.#nowNs = Math.max(this.#nowNs, due.atNs);
      due.callback();
    }
    this.#nowNs = untilNs;
  }
}
