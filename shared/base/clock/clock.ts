/** Takes back what {@link Clock.callAt} planned. Does nothing once the call was made. */
export interface PlannedCall {
  cancel(): void;
}

/**
 * Time as the engine sees it. The only door between the engine and real time: with a simulated clock
 * a run of 600 s is a test of milliseconds.
 */
export interface Clock {
  /** Now, in whole ns since an origin of the clock's own; never goes back. */
  nowNs(): number;
  /**
   * Calls `callback` once, at `atNs` or as soon after it as possible, never before and never inside
   * this call, not even when `atNs` has passed.
   */
  callAt(atNs: number, callback: () => void): PlannedCall;
}
