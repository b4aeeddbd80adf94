/**
 * Resets allowed per connection at once, and refilled each second: nghttp2's bound on the peer's
 * resets.
 */
const RESETS_MAX = 1_000;
const RESETS_PER_SECOND = 33;

/** Remaining resets of a connection, by either end. */
export class ResetBudget {
  #left = RESETS_MAX;
  #countedAtMs = performance.now();

  /** Takes one; false if the budget is used up. */
  spend(): boolean {
    const nowMs = performance.now();
    const regained = ((nowMs - this.#countedAtMs) / 1000) * RESETS_PER_SECOND;
    this.#left = Math.min(RESETS_MAX, this.#left + regained) - 1;
    this.#countedAtMs = nowMs;
    return !this.isSpent;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }
}
