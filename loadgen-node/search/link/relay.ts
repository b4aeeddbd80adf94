import type { Socket } from 'node:net';
import { machineNowNs } from '../../../shared/base/clock/timer-clock.ts';
import type { DelayLine } from './delay-line.ts';
import type { Lateness } from './lateness.ts';
import type { LineTicker, Ticking } from './line-ticker.ts';
import type { LinkRate } from './link-rate.ts';

/** Queue in front of the wire: what Linux gives a network interface, 1,000 packets. */
const QUEUE_BYTES_MAX = 1_000 * 1_500;
/** Bytes on the wire of a link without a rate, which nothing else bounds: 10 ms at 50 Gbit/s. */
const LINE_BYTES_MAX = 64 * 1024 * 1024;

/** What a {@link Relay} is made of. */
export interface RelayParts {
  readonly from: Socket;
  readonly to: Socket;
  readonly line: DelayLine;
  readonly rate: LinkRate;
  readonly ticker: LineTicker;
  readonly lateness: Lateness;
}

/**
 * One direction of a connection: reads, delays, writes.
 *
 * Back-pressure goes both ways. While the queue in front of the wire is full nothing is read, so that the sender's own
 * buffers fill up, as behind a slow interface; while the receiver takes nothing, what has arrived waits.
 */
export class Relay implements Ticking {
  readonly #parts: RelayParts;
  #hasEnded = false;
  #isBlocked = false;

  constructor(parts: RelayParts) {
    this.#parts = parts;
    const { from, to, ticker, line } = parts;
    ticker.add(this);
    from.on('data', (bytes: Buffer) => {
      line.push(bytes, machineNowNs());
      if (this.#isFull()) from.pause();
      ticker.wake();
    });
    from.on('end', () => {
      this.#hasEnded = true;
      ticker.wake();
    });
    // Whichever end breaks, the other one sees it at once: a reset does not queue.
    from.on('error', () => to.resetAndDestroy());
    from.on('close', () => {
      if (!this.#hasEnded) to.destroy();
      this.#hasEnded = true;
      ticker.wake();
    });
    to.on('drain', () => {
      this.#isBlocked = false;
      ticker.wake();
    });
    to.on('close', () => ticker.remove(this));
  }

  tick(nowNs: number): number {
    const { from, to, line, lateness } = this.#parts;
    while (!this.#isBlocked) {
      const dueNs = line.nextNs;
      const bytes = line.take(nowNs);
      if (bytes === undefined) break;
      lateness.add(nowNs - dueNs);
      this.#isBlocked = !to.write(bytes);
    }
    if (from.isPaused() && !this.#isFull()) from.resume();
    if (this.#hasEnded && line.heldBytes === 0) to.end();
    if (this.#isBlocked) return Number.POSITIVE_INFINITY;
    // A paused reader is looked at again when its queue has gone down.
    return from.isPaused() ? Math.min(line.nextNs, nowNs + 1e6) : line.nextNs;
  }

  #isFull(): boolean {
    const { line, rate } = this.#parts;
    return rate.waitingBytes(machineNowNs()) > QUEUE_BYTES_MAX || line.heldBytes > LINE_BYTES_MAX;
  }
}
