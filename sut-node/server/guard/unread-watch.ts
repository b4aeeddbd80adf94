import { UNREAD_TIMEOUT_MS } from '../limits/node-limits.ts';

/** Checks within {@link UNREAD_TIMEOUT_MS}. */
const LOOKS = 4;

/** Detects a peer that reads none of the bytes waiting for it. */
export class UnreadWatch {
  readonly #timer: NodeJS.Timeout;
  /** Consecutive checks that saw bytes waiting, and none read. */
  #looks = 0;

  /** @param onStalled Called when the peer read nothing for {@link UNREAD_TIMEOUT_MS}. */
  constructor(isWaiting: () => boolean, onStalled: () => void) {
    const look = (): void => {
      this.#looks = isWaiting() ? this.#looks + 1 : 0;
      // One check also sees bytes that have just begun to wait: only several in a row show a stall.
      if (this.#looks > LOOKS) onStalled();
    };
    this.#timer = setInterval(look, UNREAD_TIMEOUT_MS / LOOKS);
    this.#timer.unref();
  }

  /** The peer read bytes. */
  onTaken(): void {
    this.#looks = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
