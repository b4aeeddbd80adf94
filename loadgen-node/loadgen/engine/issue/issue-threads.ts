import type { EffectiveSettings } from '../../settings/effective-settings.ts';

/**
 * Why issuing ended. `natural`: minimum query count and duration reached; `all-issued`: the whole
 * schedule (Server) or the whole set (accuracy) went out; `decided`: the caller has seen enough;
 * `all-failed`: no sample succeeded; `driver`: the other LoadGen stopped although no limit of the
 * settings was reached; the rest are early ends of LoadGen and longhaul.
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

/** True for an end at which the C++ LoadGen would have gone on. */
export function isBrokenEnd(cause: EndCause): boolean {
  return BROKEN_ENDS.includes(cause);
}

/**
 * True if the SUT was gone before the end: a rate over the run would include time without a SUT.
 */
export function isSutLost(cause: EndCause): boolean {
  return cause === 'fault' || cause === 'stall';
}

/**
 * LoadGen checks the maximum duration after each query, and then waits for the next one however
 * long. This LoadGen waits only this long after the maximum duration: a query due by then goes out,
 * as in LoadGen; a later one does not.
 */
const LAST_WAIT_NS = 1_000_000_000;

/** Limits of a performance run that end the issuing. An accuracy run has none. */
export interface StopLimits {
  readonly minQueryCount: number;
  readonly targetDurationNs: number;
  /** 0 = no limit; so in the next two fields. */
  readonly maxQueryCount: number;
  readonly maxDurationNs: number;
  /** Queries due later than this are not waited for, in ns since the start. */
  readonly lastDueNs: number;
  /**
   * Limit on outstanding queries: Server's queries have one sample, so samples and queries are the
   * same number.
   */
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

/**
 * Ratio up to which two clocks agree on one duration; beyond it LoadGen calls its own clock wrong.
 */
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
  /**
   * Issue time of its last query, or the time when the next one was too far away, in ns since the
   * start.
   */
  readonly elapsedNs: number;
  /** Samples outstanding in the whole set at that moment. */
  readonly outstanding: number;
}

/**
 * Issue threads of a set (LoadGen: IssueQueryThread). Thread k of T issues queries k, k + T, ...
 * and ends by itself. All run in one event loop, so the query that is due first goes out first.
 *
 * Hot path: with one thread `pick` is one comparison.
 */
export class IssueThreads {
  readonly count: number;
  readonly ends: ThreadEnd[] = [];
  readonly #queryCount: number;
  /** Next query per thread; `queryCount` or more when the thread has ended. */
  readonly #nextQueries: Float64Array;
  readonly #issuedQueries: Float64Array;

  /** @param count 1 or more. */
  constructor(count: number, queryCount: number) {
    this.count = count;
    this.#queryCount = queryCount;
    this.#nextQueries = Float64Array.from({ length: count }, (_, thread) => thread);
    this.#issuedQueries = new Float64Array(count);
  }

  /** Thread with the earliest due query; -1 if none has a query left. */
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

  /** One thread's part of a count; the first threads take the remainder of the division. */
  shareOf(thread: number, count: number): number {
    return Math.floor(count / this.count) + (thread < count % this.count ? 1 : 0);
  }

  /** Moves a thread past `count` of its queries that go out in one call. */
  advance(thread: number, count: number): void {
    this.#nextQueries[thread] = this.nextOf(thread) + count * this.count;
    this.#issuedQueries[thread] = this.issuedBy(thread) + count;
  }

  /**
   * The rule by which the query just issued was its thread's last, in LoadGen's order of rules
   * (LoadGen: IssueQueriesInternal).
   * @param elapsedNs Issue time of the query (not the current time), in ns since the start.
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
   * Call when the other LoadGen has stopped. One of its threads with queries left was ended by the
   * same rules, but two clocks see its times differently.
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
        // Some queries that were outstanding then may have been answered since.
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
