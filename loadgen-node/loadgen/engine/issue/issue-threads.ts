import type { EffectiveSettings } from '../../settings/effective-settings.ts';

/**
 * Why issuing ended. `natural`: the minimum of queries and duration was reached; `all-issued`: the
 * whole schedule (Server) or the whole set (accuracy) went out; `decided`: who asked for the run has seen
 * enough; `all-failed`: no sample was answered; `driver`: another LoadGen stopped where no limit of the settings is; the rest are
 * LoadGen's early ends and ours.
 */
export type EndCause =
  | 'natural'
  | 'all-issued'
  | 'ran-out'
  | 'max-query-count'
  | 'max-duration'
  | 'max-async'
  | 'driver'
  | 'decided'
  | 'all-failed'
  | 'fault'
  | 'stall'
  | 'interrupted';

const BROKEN_ENDS: readonly EndCause[] = [
  ...(['fault', 'stall', 'interrupted', 'decided', 'all-failed'] as const),
];

/** True for an end at which the C++ LoadGen would not have ended. */
export function isBrokenEnd(cause: EndCause): boolean {
  return BROKEN_ENDS.includes(cause);
}

/** True where the SUT was gone before the end: a rate over the run would be one over a stretch without it. */
export function isSutLost(cause: EndCause): boolean {
  return cause === 'fault' || cause === 'stall';
}

/**
 * LoadGen looks at the longest duration behind each query that it issues, and waits for the next one however long. This
 * LoadGen waits so long behind that duration: a query that is due by then goes out as LoadGen's, a later one does not.
 */
const LAST_WAIT_NS = 1_000_000_000;

/** Limits of a performance run that end the issuing. An accuracy run has none. */
export interface StopLimits {
  readonly minQueryCount: number;
  readonly targetDurationNs: number;
  /** 0 = no limit, in this and the next two. */
  readonly maxQueryCount: number;
  readonly maxDurationNs: number;
  /** No query is waited for that is due later, in ns since the start. */
  readonly lastDueNs: number;
  /** Server's queries have one sample: outstanding samples are outstanding queries. */
  readonly maxAsyncQueries: number;
}

/** Limits of a performance run by its settings. */
export function stopLimits(settings: EffectiveSettings): StopLimits {
  const maxDurationNs = settings.maxDurationMs * 1e6;
  return {
    minQueryCount: settings.minQueryCount,
    targetDurationNs: settings.targetDurationMs * 1e6,
    maxQueryCount: settings.maxQueryCount,
    maxDurationNs,
    lastDueNs: maxDurationNs === 0 ? Number.POSITIVE_INFINITY : maxDurationNs + LAST_WAIT_NS,
    maxAsyncQueries: settings.scenario === 'Server' ? settings.maxAsyncQueries : 0,
  };
}

/** Two clocks that measure one duration agree so far: LoadGen takes its own for wrong beyond it. */
const CLOCKS_DIFFER = 1.01;
const CLOCKS_DIFFER_NS = 10_000_000;

/** Counts of a whole set. */
interface SetCounts {
  readonly issuedQueries: number;
  readonly outstandingSamples: number;
}

/** An issue thread that ended before its last query. */
export interface ThreadEnd {
  readonly thread: number;
  readonly cause: EndCause;
  /** Queries that this thread issued. */
  readonly issuedQueries: number;
  /** Issue of its last query, or when the next one was too far away, in ns since the start. */
  readonly elapsedNs: number;
  /** Samples outstanding in the whole set at that moment. */
  readonly outstanding: number;
}

/**
 * The issue threads of a set (LoadGen: IssueQueryThread). Thread k of T issues queries k, k + T, ... and
 * ends by itself; all live in one event loop, so that the query that is due first goes out first.
 *
 * Hot path: with one thread `pick` is one comparison.
 */
export class IssueThreads {
  readonly count: number;
  readonly ends: ThreadEnd[] = [];
  readonly #queryCount: number;
  /** By thread; `queryCount` or more once the thread is at its end. */
  readonly #nextQueries: Float64Array;
  readonly #issuedQueries: Float64Array;

  /** @param count 1 or more. */
  constructor(count: number, queryCount: number) {
    this.count = count;
    this.#queryCount = queryCount;
    this.#nextQueries = Float64Array.from({ length: count }, (_, thread) => thread);
    this.#issuedQueries = new Float64Array(count);
  }

  /** The thread whose next query is due first; -1 when none has one left. */
  pick(): number {
    let picked = 0;
    let first = this.#nextQueries[0] as number;
    for (let thread = 1; thread < this.count; thread += 1) {
      const next = this.#nextQueries[thread] as number;
      if (next >= first) continue;
      first = next;
      picked = thread;
    }
    return first < this.#queryCount ? picked : -1;
  }

  /** Next query of a thread. */
  nextOf(thread: number): number {
    return this.#nextQueries[thread] as number;
  }

  /** Queries that a thread has issued. */
  issuedBy(thread: number): number {
    return this.#issuedQueries[thread] as number;
  }

  /** Part of a count that falls to one thread: the first threads take the rest of the division. */
  shareOf(thread: number, count: number): number {
    return Math.floor(count / this.count) + (thread < count % this.count ? 1 : 0);
  }

  /** Moves a thread past `count` of its queries, which go out in one call. */
  advance(thread: number, count: number): void {
    this.#nextQueries[thread] = this.nextOf(thread) + count * this.count;
    this.#issuedQueries[thread] = this.issuedBy(thread) + count;
  }

  /**
   * Whether the query just issued was the last one of its thread (LoadGen: IssueQueriesInternal), by rules in LoadGen's order.
   * @param elapsedNs Issue of the query, not now, in ns since the start.
   */
  stopCause(
    thread: number,
    limits: StopLimits,
    endsNaturally: boolean,
    seen: SetCounts,
    elapsedNs: number,
  ): EndCause | null {
    const { maxAsyncQueries, maxQueryCount, maxDurationNs } = limits;
    if (maxAsyncQueries !== 0 && seen.outstandingSamples > maxAsyncQueries) return 'max-async';
    const isEnough =
      seen.issuedQueries >= limits.minQueryCount && elapsedNs >= limits.targetDurationNs;
    if (endsNaturally && isEnough) return 'natural';
    if (maxQueryCount !== 0 && this.issuedBy(thread) >= this.shareOf(thread, maxQueryCount)) {
      return 'max-query-count';
    }
    return maxDurationNs !== 0 && elapsedNs > maxDurationNs ? 'max-duration' : null;
  }

  /**
   * Another LoadGen has stopped. A thread of it that had queries left was ended by the same rules, whose times two clocks see
   * differently.
   * @param lastIssuesNs Issue of each thread's last query, in ns since the start.
   */
  endByDriver(
    limits: StopLimits | null,
    endsNaturally: boolean,
    seen: SetCounts,
    lastIssuesNs: Float64Array,
  ): void {
    for (const [thread, elapsedNs] of lastIssuesNs.entries()) {
      const causeAt = (ns: number) =>
        limits && this.stopCause(thread, limits, endsNaturally, seen, ns);
      let cause = causeAt(elapsedNs);
      if (cause === null && this.nextOf(thread) < this.#queryCount) {
        // Of queries that were outstanding then, some may have been answered since.
        const otherwise = limits !== null && limits.maxAsyncQueries !== 0 ? 'max-async' : 'driver';
        cause = causeAt(elapsedNs * CLOCKS_DIFFER + CLOCKS_DIFFER_NS) ?? otherwise;
      }
      if (cause === null) continue;
      const [issuedQueries, outstanding] = [this.issuedBy(thread), seen.outstandingSamples];
      this.end({ thread, cause, issuedQueries, elapsedNs, outstanding });
    }
  }

  /** A stop rule ends one thread. @returns True when no thread is left. */
  end(end: ThreadEnd): boolean {
    this.ends.push(end);
    this.#nextQueries[end.thread] = Number.POSITIVE_INFINITY;
    return this.pick() < 0;
  }
}
