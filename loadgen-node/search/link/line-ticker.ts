import { machineNowNs } from '../../../shared/base/clock/timer-clock.ts';

/** Something that has to be looked at when its time has come. */
export interface Ticking {
  /** Does what is due. @returns When to look again, in ns by the machine's clock; infinity: not before {@link LineTicker.wake}. */
  tick(nowNs: number): number;
}

/** A timer of Node has 1 ms grain and may fire as much early: from here on it is too coarse. */
const TIMER_NS_MIN = 2e6;
/**
 * Nap between two turns of the event loop in which nothing was due. Bytes that come in meanwhile are seen that much
 * later: the price for not taking a whole core from the SUT.
 */
const NAP_MS = 0.05;
/** Shorter waits are turned through without a nap. */
const NAP_NS_MIN = 80_000;

/**
 * The one loop of a shim's thread: sleeps by timer while the next bytes are far, naps while they are near, turns the event loop
 * when they are due.
 */
export class LineTicker {
  readonly #lines = new Set<Ticking>();
  readonly #nap = new Int32Array(new SharedArrayBuffer(4));
  #immediate: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;

  add(line: Ticking): void {
    this.#lines.add(line);
  }

  remove(line: Ticking): void {
    this.#lines.delete(line);
  }

  /** Something came in: the loop looks at once. */
  wake(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#immediate ??= setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#immediate = undefined;
    let nextNs = Number.POSITIVE_INFINITY;
    for (const line of this.#lines) nextNs = Math.min(nextNs, line.tick(machineNowNs()));
    if (nextNs === Number.POSITIVE_INFINITY) return;
    const waitNs = nextNs - machineNowNs();
    if (waitNs >= TIMER_NS_MIN) {
      this.#timer = setTimeout(this.#wakeByTimer, Math.floor((waitNs - TIMER_NS_MIN) / 1e6) + 1);
      return;
    }
    if (waitNs > NAP_NS_MIN) Atomics.wait(this.#nap, 0, 0, NAP_MS);
    this.#immediate = setImmediate(this.#turn);
  };

  readonly #wakeByTimer = (): void => {
    this.#timer = undefined;
    this.wake();
  };
}
