import { UNREAD_TIMEOUT_MS } from '../limits/node-limits.ts';

/** Looks in the longest time in which a peer may take nothing. */
const LOOKS = 4;

/** Finds a peer that takes nothing of what waits for it. */
export class UnreadWatch {
  readonly #timer: NodeJS.Timeout;
  /** Looks in a row that saw bytes waiting, and none taken. */
  #looks = 0;

  /** @param onStalled Nothing was taken for {@link UNREAD_TIMEOUT_MS}. */
  constructor(isWaiting: () => boolean, onStalled: () => void) {
    const look = (): void => {
      this.#looks = isWaiting() ? this.#looks + 1 : 0;
      // One look sees bytes that wait since a moment ago as well: only several say that nothing is taken.
      if (this.#looks > LOOKS) onStalled();
    };
    this.#timer = setInterval(look, UNREAD_TIMEOUT_MS / LOOKS);
    this.#timer.unref();
  }

  /** The peer took bytes of a message. */
  onTaken(): void {
    this.#looks = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
