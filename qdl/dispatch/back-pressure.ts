/** Lengths of time in which queries waited in the QDL, in ns since the run began. */
export interface BackPressureTimes {
  /** A stream had credit for the next part, but its socket took no more. */
  readonly socketNs: number;
  /** No stream had credit for it (or was below its limit of outstanding samples). */
  readonly creditNs: number;
}

/** Reasons why the first waiting part waits. */
type Shortage = 'none' | 'socket' | 'credit';

/** Counts the time in which queries waited, by what they waited for. Hot path: two numbers and no clock of its own. */
export class BackPressure {
  #shortage: Shortage = 'none';
  #sinceNs = 0;
  #socketNs = 0;
  #creditNs = 0;

  /** Reason why the first query waits now. */
  get shortage(): Shortage {
    return this.#shortage;
  }

  /** From now on it is this that is waited for. */
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
