import { PerformanceObserver } from 'node:perf_hooks';

/** Pauses of garbage collection, in ns. */
export interface GcPauses {
  readonly count: number;
  readonly totalNs: number;
  readonly maxNs: number;
}

/** Pauses that were seen while somebody looked. */
export interface SeenPauses extends GcPauses {
  /** How long that was. */
  readonly lookedNs: number;
}

/** Before the first look. */
export const NOTHING_SEEN: SeenPauses = { count: 0, totalNs: 0, maxNs: 0, lookedNs: 0 };

/**
 * A look at this thread's garbage collection. It has to be short: while somebody looks, Node takes 35 µs more per pause, and a
 * loop that spins has a hundred pauses a second.
 */
export class GcLook {
  readonly #sinceNs: number;
  readonly #observer = new PerformanceObserver((list) => this.#add(list.getEntries()));
  #seen = NOTHING_SEEN;

  constructor(nowNs: number) {
    this.#sinceNs = nowNs;
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  /** Ends the look; a second call has no effect. @returns What it saw. */
  end(nowNs: number): SeenPauses {
    if (this.#seen.lookedNs > 0) return this.#seen;
    this.#add(this.#observer.takeRecords());
    this.#observer.disconnect();
    this.#seen = { ...this.#seen, lookedNs: Math.max(1, nowNs - this.#sinceNs) };
    return this.#seen;
  }

  #add(entries: readonly { readonly duration: number }[]): void {
    let { count, totalNs, maxNs, lookedNs } = this.#seen;
    for (const { duration } of entries) {
      const ns = Math.round(duration * 1e6);
      count += 1;
      totalNs += ns;
      maxNs = Math.max(maxNs, ns);
    }
    this.#seen = { count, totalNs, maxNs, lookedNs };
  }
}

/** What two looks saw. */
export function together(a: SeenPauses, b: SeenPauses): SeenPauses {
  return {
    count: a.count + b.count,
    totalNs: a.totalNs + b.totalNs,
    maxNs: Math.max(a.maxNs, b.maxNs),
    lookedNs: a.lookedNs + b.lookedNs,
  };
}

/** Pauses in a length of time at the rate that was seen: count and sum are estimates, the longest one is as seen. */
export function pausesIn(lengthNs: number, seen: SeenPauses): GcPauses {
  const factor = seen.lookedNs === 0 ? 0 : lengthNs / seen.lookedNs;
  return {
    count: Math.round(seen.count * factor),
    totalNs: Math.round(seen.totalNs * factor),
    maxNs: seen.maxNs,
  };
}
