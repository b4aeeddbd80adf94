/** Time that queries waited in the QDL, ns since the run began. */
export interface BackPressureTimes {
  /** A stream had credit for the next part, but its socket took no more. */
  readonly socketNs: number;
  /** No stream had credit for the next part, or each was at its limit of outstanding samples. */
  readonly creditNs: number;
}

/** Reasons why the first waiting part waits. */
type Shortage = 'none' | 'socket' | 'credit';

/** Counts how long queries waited, per reason. Hot path: two numbers and no clock of its own. */
export class BackPressure {
  #shortage: Shortage = 'none';
  #sinceNs = 0;
  #socketNs = 0;
  #creditNs = 0;

  /** Why the first query waits now. */
  get shortage(): Shortage {
    return this.#shortage;
  }

  /** Sets the reason for the wait from now on. */
  change(shortage: Shortage, nowNs: number): void {
    if (shortage === this.#shortage) return;
    this.#count(nowNs);
    this.#shortage = shortage;
  }

  /** The times up to now. */
  timesAt(nowNs: number): BackPressureTimes {
    this.#count(nowNs);
    return { socketNs: this.#socketNs, creditNs: this.#creditNs };
  }

  #count(nowNs: number): void {
    if (this.#shortage === 'socket') this.#socketNs += nowNs - this.#sinceNs;
    else if (this.#shortage === 'credit') this.#creditNs += nowNs - this.#sinceNs;
    this.#sinceNs = nowNs;
  }
}
