import type { Clock, PlannedCall } from '../../../shared/base/clock.ts';
import { type ProcessUsage, UsageMeter } from '../../../shared/host/process-usage.ts';
import { encodeSutMessage } from '../../../shared/wire/sut-contract.ts';

/** Measures from one read to the next. */
interface Meter {
  read(): ProcessUsage | undefined;
}

const PERIOD_NS = 1_000_000_000;

/**
 * Reports the node's CPU and memory to streams once a second. Measures nothing unless a stream
 * requests it.
 */
export class UsageReports {
  readonly #clock: Clock;
  readonly #openMeter: () => Meter;
  readonly #listeners = new Set<(message: Buffer) => void>();
  #meter: Meter | undefined;
  #planned: PlannedCall | undefined;

  /**
   * @param childPids Returns the ids of the worker processes, which count too.
   * @param openMeter Makes a meter that starts now. Default: of this process.
   */
  constructor(
    clock: Clock,
    childPids: () => readonly number[],
    openMeter: () => Meter = () => new UsageMeter(childPids),
  ) {
    this.#clock = clock;
    this.#openMeter = openMeter;
  }

  /**
   * Sends each report to `listener`, as a message for its peer. @returns A function that stops it.
   */
  listen(listener: (message: Buffer) => void): () => void {
    this.#listeners.add(listener);
    if (this.#meter === undefined) {
      this.#meter = this.#openMeter();
      this.#plan(this.#clock.nowNs() + PERIOD_NS);
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#planned?.cancel();
      this.#meter = undefined;
    };
  }

  #plan(atNs: number): void {
    this.#planned = this.#clock.callAt(atNs, () => {
      // A delayed node skips seconds: the next report covers more time.
      this.#plan(Math.max(atNs, this.#clock.nowNs() - PERIOD_NS) + PERIOD_NS);
      const usage = this.#meter?.read();
      if (usage === undefined) return;
      const message = encodeSutMessage({ usage });
      for (const listener of this.#listeners) listener(message);
    });
  }
}
