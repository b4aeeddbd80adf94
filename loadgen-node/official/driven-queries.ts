import { at } from '../../shared/base/at.ts';
import { internalError } from '../../shared/base/errors/mlperf-error.ts';
import type { QueryPlan } from '../loadgen/schedule/query-plan.ts';

/**
 * Finds queries issued by the C++ LoadGen in the plan made here from the same settings, and
 * compares their samples. With several issue threads, thread k of T issues queries k, k + T, ...
 */
export class DrivenQueries {
  readonly #plan: QueryPlan;
  readonly #threadCount: number;
  /** LoadGen's thread number, by the bridge's thread number. */
  readonly #threads = new Map<number, number>();
  /** Next query, by LoadGen's thread number. */
  readonly #next: number[];
  /** Issue number, as in the bridge, by sample of the plan; null if both are equal. */
  readonly #slots: Uint32Array | null;
  #issuedSamples = 0;
  /** Samples received of a query that arrives in parts. */
  #partSamples = 0;
  #otherSamples = 0;

  /** @param issueThreads Configured issue threads; 0: only the thread of the test. */
  constructor(plan: QueryPlan, issueThreads: number) {
    this.#plan = plan;
    this.#threadCount = Math.max(1, issueThreads);
    this.#next = Array.from({ length: this.#threadCount }, (_, thread) => thread);
    this.#slots = this.#threadCount === 1 ? null : new Uint32Array(plan.sampleIndices.length);
  }

  /** Number of samples that differ from the plan. */
  get otherSamples(): number {
    return this.#otherSamples;
  }

  /** Issue number of a sample of the plan. */
  slotOf(sample: number): number {
    return this.#slots === null ? sample : (this.#slots[sample] as number);
  }

  /**
   * Reads issued samples, and writes them into the plan if it has others.
   * @param ring Sample indices; entry i is at i modulo its length.
   * @returns First query and number of queries that went out in one call; undefined while samples
   *   are missing.
   * @throws MlperfError `ERR_INTERNAL` if the plan has no such query
   */
  add(
    ring: Uint32Array,
    begin: number,
    count: number,
    thread: number,
    hasMore: boolean,
  ): { readonly query: number; readonly count: number } | undefined {
    if (count === 0) return undefined;
    const { samplesPerQuery } = this.#plan;
    const number = this.#threadCount === 1 ? 0 : this.#numberOf(thread, ring[begin % ring.length]);
    const query = at(this.#next, number);
    for (let i = 0; i < count; i += 1) {
      const index = ring[(begin + i) % ring.length] as number;
      // One call has consecutive samples of one query, or one-sample queries of one thread.
      const at =
        samplesPerQuery === 1
          ? query + (this.#partSamples + i) * this.#threadCount
          : query * samplesPerQuery + this.#partSamples + i;
      this.#compare(at, index);
    }
    this.#partSamples += count;
    if (hasMore) return undefined;
    const queries = this.#partSamples / samplesPerQuery;
    this.#partSamples = 0;
    if (!Number.isInteger(queries)) {
      throw internalError(
        `it issued a query of ${queries * samplesPerQuery} samples, but ${samplesPerQuery} were planned`,
      );
    }
    this.#next[number] = query + queries * this.#threadCount;
    return { query, count: queries };
  }

  #compare(at: number, index: number): void {
    const { sampleIndices, queryCount } = this.#plan;
    const planned = sampleIndices[at];
    if (planned === undefined) {
      throw internalError(`it issued more than the ${queryCount} queries that were planned`);
    }
    if (planned !== index) {
      this.#otherSamples += 1;
      sampleIndices[at] = index;
    }
    if (this.#slots !== null) this.#slots[at] = this.#issuedSamples;
    this.#issuedSamples += 1;
  }

  /**
   * LoadGen's number of a thread. Threads register in order, unless the machine is busy: then the
   * first sample identifies the thread if it is unique.
   */
  #numberOf(thread: number, firstIndex: number | undefined): number {
    const known = this.#threads.get(thread);
    if (known !== undefined) return known;
    const taken = new Set(this.#threads.values());
    const free = this.#next.map((_, number) => number).filter((number) => !taken.has(number));
    const { sampleIndices } = this.#plan;
    const fits = (number: number): boolean => sampleIndices[number] === firstIndex;
    const own = free.includes(thread) ? thread : undefined;
    const found = own !== undefined && fits(own) ? own : (free.find(fits) ?? own ?? free[0]);
    if (found === undefined)
      throw internalError('the C++ LoadGen issued queries from more threads than configured');
    this.#threads.set(thread, found);
    return found;
  }
}
