import assert from 'node:assert';
import type { ServiceTimes } from '../../../shared/domain/system-under-test.ts';
import type { QueryPlan } from '../schedule/query-plan.ts';
import type { ScheduledAt } from '../schedule/scenario-rules.ts';
import {
  BEFORE_ISSUE,
  collectTokens,
  NOT_ISSUED,
  RECORDED,
  type RecordedColumns,
  type RecordedTokens,
  type RecorderOptions,
  type SampleWatch,
  SECOND_FIRST_TOKEN,
  SECOND_RESPONSE,
  UNKNOWN_SAMPLE,
} from './recording.ts';
import { ServiceTimeRecorder } from './service-times.ts';
import { TokenGaps } from './token-gaps.ts';
import type { ToldTimes } from './told-times.ts';

const IS_OPEN = 0;
const IS_COMPLETED = 1;
const IS_LOST = 2;
const IS_GIVEN_UP = 3; // Abandoned; a response may still come.

/**
 * Times of one set: when each query was issued, and how each sample ended.
 *
 * Hot path: issue and complete run once per sample inside the timed region. All memory is allocated
 * in the constructor, 17 bytes per sample and 8 per query besides the plan; pages of queries that
 * are never issued stay untouched. Token models need 4 to 28 bytes per sample more, the SUT's own
 * times 34. Times are ns since the start of the set.
 */
export class SampleRecorder {
  readonly #samplesPerQuery: number;
  readonly #state: Uint8Array;
  readonly #latencyNs: Float64Array;
  readonly #issuedNs: Float64Array;
  /** By sample: time when the transport took it; 0 if unknown. */
  readonly #handedNs: Float64Array;
  /** The same array as `#issuedNs` in scenarios where scheduled = issued. */
  readonly #scheduledNs: Float64Array;
  /** True if queries below the last issued one may be unissued; their `#issuedNs` is NaN. */
  readonly #hasGaps: boolean;
  readonly #tokenCounts: Uint32Array | null;
  /** By query: arrival intervals since the previous query; null without intervals. */
  readonly #intervals: Float64Array | null;
  /** First token - scheduled, by sample; NaN before it comes. */
  readonly #firstTokenNs: Float64Array | null;
  /** Times between tokens; null if not recorded. */
  readonly #gaps: TokenGaps | null;
  /**
   * Number of tokens that came before their sample completed, and the time of the last, in ns since
   * the start.
   */
  readonly tokenSigns = { count: 0, lastNs: 0 };
  /** The SUT's own times; null if not recorded. */
  readonly service: ServiceTimeRecorder | null;
  readonly #toldTimes: ToldTimes | undefined;
  readonly #watch: SampleWatch | null;
  #startNs = 0;
  #issuedQueries = 0;
  /** Number of the last issued query + 1, and likewise for its samples. */
  #issuedEnd = 0;
  #sampleEnd = 0;
  #issuedSamples = 0;
  #completedSamples = 0;
  #lostSamples = 0;
  #lastCompletionNs = 0;

  /** @param scheduledAt Start of a query's latency. */
  constructor(
    plan: QueryPlan,
    scheduledAt: ScheduledAt,
    {
      threadCount = 1,
      countsTokens = false,
      timesFirstTokens = false,
      timesTokens = false,
      keepsService = false,
      toldTimes,
      watch,
    }: RecorderOptions = {},
  ) {
    const sampleCount = plan.queryCount * plan.samplesPerQuery;
    this.#samplesPerQuery = plan.samplesPerQuery;
    this.#state = new Uint8Array(sampleCount);
    this.#latencyNs = new Float64Array(sampleCount);
    this.#issuedNs = new Float64Array(plan.queryCount);
    this.#handedNs = new Float64Array(sampleCount);
    if (scheduledAt === 'issue') this.#scheduledNs = this.#issuedNs;
    else if (scheduledAt === 'plan') this.#scheduledNs = plan.scheduledDeltaNs;
    else this.#scheduledNs = new Float64Array(plan.queryCount);
    this.#hasGaps = threadCount > 1;
    if (this.#hasGaps) this.#issuedNs.fill(Number.NaN);
    this.#intervals = scheduledAt === 'interval' ? new Float64Array(plan.queryCount) : null;
    this.#watch = watch ?? null;
    this.#toldTimes = toldTimes;
    this.service = keepsService ? new ServiceTimeRecorder(sampleCount) : null;
    this.#tokenCounts = countsTokens ? new Uint32Array(sampleCount) : null;
    this.#gaps = timesTokens ? new TokenGaps(sampleCount) : null;
    this.#firstTokenNs = timesFirstTokens ? new Float64Array(sampleCount).fill(Number.NaN) : null;
  }

  get issuedQueries(): number {
    return this.#issuedQueries;
  }

  get issuedSamples(): number {
    return this.#issuedSamples;
  }

  get completedSamples(): number {
    return this.#completedSamples;
  }

  get lostSamples(): number {
    return this.#lostSamples;
  }

  /** Issued samples that are neither completed nor lost. */
  get outstandingSamples(): number {
    return this.#issuedSamples - this.#completedSamples - this.#lostSamples;
  }

  /** Time of the latest completion, in ns since the start; 0 before the first. */
  get lastCompletionNs(): number {
    return this.#lastCompletionNs;
  }

  /** @param startNs Clock at the start of the set; later times must use the same clock. */
  begin(startNs: number): void {
    this.#startNs = startNs;
  }

  /**
   * Moves the start of the set back. With another LoadGen, its start is known only from its
   * queries: a query issued before its due time shows that the start was earlier.
   */
  correctStart(): void {
    const lags = this.dispatchLagsNs();
    const earlierNs = -lags.reduce((least, lag) => Math.min(least, lag), 0);
    if (earlierNs === 0) return;
    this.#startNs -= earlierNs;
    this.#lastCompletionNs += earlierNs;
    this.tokenSigns.lastNs += earlierNs;
    for (const times of [this.#issuedNs, this.#handedNs, this.#latencyNs, this.#firstTokenNs]) {
      // 0: unknown.
      times?.forEach((ns, i) => {
        if (ns !== 0) times[i] = ns + earlierNs;
      });
    }
    this.#issuedNs[0] = (this.#issuedNs[0] as number) || earlierNs;
  }

  /**
   * Records when a query will be due, before its issue.
   * @param intervals Arrival intervals since the previous query; 1 if none was skipped.
   */
  schedule(query: number, dueNs: number, intervals: number): void {
    this.#scheduledNs[query] = dueNs;
    if (this.#intervals !== null) this.#intervals[query] = intervals;
  }

  /**
   * Arrival intervals per issued query: until the next one was due, or for the last one until it
   * completed. Null without intervals.
   */
  intervalsTaken(intervalNs: number): Float64Array | null {
    if (this.#intervals === null) return null;
    const last = this.#issuedQueries - 1;
    const taken = new Float64Array(this.#issuedQueries);
    if (last < 0) return taken;
    taken.set(this.#intervals.subarray(1, this.#issuedQueries));
    const latencyNs = this.queryLatencyNs(last);
    taken[last] = Number.isNaN(latencyNs) ? 0 : Math.ceil(latencyNs / intervalNs);
    return taken;
  }

  /** Records the issue of a query at clock `nowNs`; with one thread it is always the next query. */
  issue(nowNs: number, query: number = this.#issuedQueries): void {
    this.#issuedNs[query] = nowNs - this.#startNs;
    if (query >= this.#issuedEnd) {
      this.#issuedEnd = query + 1;
      this.#sampleEnd = this.#issuedEnd * this.#samplesPerQuery;
    }
    this.#issuedQueries += 1;
    this.#issuedSamples += this.#samplesPerQuery;
    if (this.#watch !== null) this.#watch.issued(this.#lagOf(query), this.#samplesPerQuery);
  }

  /** Records that the transport took a sample; the last sample's time is that of its query. */
  handOver(sample: number, atNs: number): void {
    if (this.#check(sample) === RECORDED) this.#handedNs[sample] = atNs - this.#startNs;
  }

  /**
   * Records a completion.
   * @param sample Number of the sample in the set, from 0; the SUT may name any number.
   * @param tokenCount 0 or more; stored if tokens are counted.
   * @returns `RECORDED`, or the code of the contract error.
   */
  complete(sample: number, atNs: number, tokenCount = 0): number {
    const problem = this.#check(sample);
    if (problem !== RECORDED) return problem;
    const query = this.#queryOf(sample);
    const elapsedNs = atNs - this.#startNs;
    if (!(elapsedNs >= (this.#issuedNs[query] as number))) return BEFORE_ISSUE; // NaN fails, too.
    this.#state[sample] = IS_COMPLETED;
    const latencyNs = elapsedNs - (this.#scheduledNs[query] as number);
    this.#latencyNs[sample] = latencyNs;
    if (this.#tokenCounts !== null) this.#tokenCounts[sample] = tokenCount;
    if (this.#gaps !== null) this.#gaps.end(sample, tokenCount, atNs);
    this.#completedSamples += 1;
    if (elapsedNs > this.#lastCompletionNs) this.#lastCompletionNs = elapsedNs;
    const begunNs = (this.#handedNs[sample] as number) || (this.#issuedNs[query] as number);
    this.#toldTimes?.completed(sample, elapsedNs - begunNs);
    if (this.#watch !== null) this.#watch.completed(latencyNs);
    return RECORDED;
  }

  /**
   * Records the service of a sample whose completion is recorded next. Any sample number is
   * allowed.
   */
  served(sample: number, node: number, times: ServiceTimes | undefined, decodeNs: number): void {
    this.service?.note(sample, node, times, decodeNs);
    this.#toldTimes?.served(sample, node, times, decodeNs);
    if (this.#watch === null) return;
    const query = this.#queryOf(sample);
    const handedNs = this.#handedNs[sample] as number;
    const sendNs = handedNs === 0 ? 0 : handedNs - (this.#issuedNs[query] as number);
    this.#watch.served(node, times, decodeNs, this.#lagOf(query), sendNs);
  }

  /**
   * Records a first token, if these are timed. @returns `RECORDED`, or the code of the contract
   * error.
   */
  firstToken(sample: number, atNs: number): number {
    const problem = this.#check(sample);
    if (problem !== RECORDED) return problem;
    const isSecond =
      this.#firstTokenNs === null ? this.#gaps?.hasBegun(sample) : this.hasFirstToken(sample);
    if (isSecond) return SECOND_FIRST_TOKEN;
    const query = this.#queryOf(sample);
    const elapsedNs = atNs - this.#startNs;
    if (!(elapsedNs >= (this.#issuedNs[query] as number))) return BEFORE_ISSUE;
    if (this.#firstTokenNs !== null) {
      this.#firstTokenNs[sample] = elapsedNs - (this.#scheduledNs[query] as number);
    }
    this.#gaps?.begin(sample, atNs);
    this.#tellTokens(elapsedNs);
    return RECORDED;
  }

  /**
   * Records `count` further tokens, if their times are recorded. @returns `RECORDED`, or the code
   * of the contract error.
   */
  furtherTokens(sample: number, count: number, atNs: number): number {
    const problem = this.#check(sample);
    if (problem !== RECORDED) return problem;
    this.#gaps?.add(sample, count, atNs);
    this.#tellTokens(atNs - this.#startNs);
    return RECORDED;
  }

  #tellTokens(elapsedNs: number): void {
    this.tokenSigns.count += 1;
    this.tokenSigns.lastNs = Math.max(elapsedNs, this.tokenSigns.lastNs);
  }

  /** False if first tokens are timed and that of the sample is still missing. */
  hasFirstToken(sample: number): boolean {
    return this.#firstTokenNs === null || !Number.isNaN(this.#firstTokenNs[sample]);
  }

  /**
   * Records that a sample will never complete. @returns `RECORDED`, or the code of the contract
   * error.
   */
  lose(sample: number, isGivenUp = false): number {
    const problem = this.#check(sample);
    if (problem !== RECORDED) return problem;
    this.#state[sample] = isGivenUp ? IS_GIVEN_UP : IS_LOST;
    this.#lostSamples += 1;
    return RECORDED;
  }

  /** Abandons all outstanding samples. @returns Their count. */
  loseOutstanding(): number {
    const before = this.#lostSamples;
    for (let sample = 0; sample < this.#sampleEnd; sample += 1) this.lose(sample, true);
    assert(this.outstandingSamples === 0);
    return this.#lostSamples - before;
  }

  /**
   * True if a response may still come to a lost sample. @param isResponse This is that response: no
   * other may follow.
   */
  isGivenUp(sample: number, isResponse: boolean): boolean {
    if (this.#state[sample] !== IS_GIVEN_UP) return false;
    if (isResponse) this.#state[sample] = IS_LOST;
    return true;
  }

  /**
   * Latencies of the completed samples, in sample order: completed - scheduled.
   * @param isFromIssue Completed - issued instead: without LoadGen's own lateness.
   */
  completedLatenciesNs(isFromIssue = false): Float64Array {
    const latencies = new Float64Array(this.#completedSamples);
    let count = 0;
    for (let sample = 0; sample < this.#sampleEnd; sample += 1) {
      if (this.#state[sample] !== IS_COMPLETED) continue;
      const deductionNs = isFromIssue ? this.#lagOf(this.#queryOf(sample)) : 0;
      latencies[count] = (this.#latencyNs[sample] as number) - deductionNs;
      count += 1;
    }
    return latencies;
  }

  /** Issued - scheduled, per issued query. */
  dispatchLagsNs(): Float64Array {
    const lags = new Float64Array(this.#issuedQueries);
    let count = 0;
    for (let query = 0; query < this.#issuedEnd; query += 1) {
      if (!this.#isIssued(query)) continue;
      lags[count] = this.#lagOf(query);
      count += 1;
    }
    return lags;
  }

  /** The live arrays of the recorder; they change until the end of the set. */
  columns(): RecordedColumns {
    return {
      samplesPerQuery: this.#samplesPerQuery,
      queryEnd: this.#issuedEnd,
      isIssued: (query) => this.#isIssued(query),
      scheduledNs: this.#scheduledNs,
      issuedNs: this.#issuedNs,
      sampleHandedNs: this.#handedNs,
      isCompleted: (sample) => this.#state[sample] === IS_COMPLETED,
      latencyNs: this.#latencyNs,
      tokenCounts: this.#tokenCounts,
      firstTokenNs: this.#firstTokenNs,
      gaps: this.#gaps,
      service: this.service,
    };
  }

  /**
   * Output tokens of the completed samples, and their times; null if tokens are not counted.
   * @param isFromIssue First token - issued instead.
   */
  tokens(isFromIssue = false): RecordedTokens | null {
    const deductionNs = (query: number): number => (isFromIssue ? this.#lagOf(query) : 0);
    return collectTokens(this.columns(), this.#completedSamples, deductionNs);
  }

  /** Number of queries with all samples completed. */
  countCompletedQueries(): number {
    if (this.#lostSamples === 0) return this.#issuedQueries;
    let count = 0;
    for (let query = 0; query < this.#issuedEnd; query += 1) {
      if (this.#isIssued(query) && !Number.isNaN(this.queryLatencyNs(query))) count += 1;
    }
    return count;
  }

  /** Latency of each query with all samples completed: that of its last sample. */
  completedQueryLatenciesNs(): Float64Array {
    const latencies = new Float64Array(this.#issuedQueries);
    let count = 0;
    for (let query = 0; query < this.#issuedQueries; query += 1) {
      const largestNs = this.queryLatencyNs(query);
      if (Number.isNaN(largestNs)) continue;
      latencies[count] = largestNs;
      count += 1;
    }
    return latencies.subarray(0, count);
  }

  /**
   * Times of LoadGen's final query: query `issuedQueries` - 1 of the plan. With one issuing thread,
   * this query is the last one issued. With several threads, it may not have been issued. If one of
   * its samples was lost, the query ends with the set's latest completion: such a run is invalid
   * anyway.
   */
  finalQuery() {
    const query = this.#issuedQueries - 1;
    const scheduledNs = this.#scheduledNs[query] ?? 0;
    const doneNs = query < 0 ? Number.NaN : scheduledNs + this.queryLatencyNs(query);
    return {
      scheduledNs,
      issuedNs: this.#isIssued(query) ? (this.#issuedNs[query] as number) : 0,
      doneNs: Number.isNaN(doneNs) ? this.#lastCompletionNs : doneNs,
    };
  }

  /** Latency of a query's last sample; NaN unless all samples completed. */
  queryLatencyNs(query: number): number {
    let largestNs = 0;
    const end = (query + 1) * this.#samplesPerQuery;
    for (let sample = end - this.#samplesPerQuery; sample < end; sample += 1) {
      if (this.#state[sample] !== IS_COMPLETED) return Number.NaN;
      largestNs = Math.max(largestNs, this.#latencyNs[sample] as number);
    }
    return largestNs;
  }

  #check(sample: number): number {
    // An index out of range or not a whole number reads undefined.
    const state = this.#state[sample];
    if (state === undefined) return UNKNOWN_SAMPLE;
    if (sample >= this.#sampleEnd) return NOT_ISSUED;
    // Gaps come only from several threads, whose queries have one sample.
    if (this.#hasGaps && Number.isNaN(this.#issuedNs[sample])) return NOT_ISSUED;
    return state === IS_OPEN ? RECORDED : SECOND_RESPONSE;
  }

  #isIssued(query: number): boolean {
    if (query < 0 || query >= this.#issuedEnd) return false;
    return !this.#hasGaps || !Number.isNaN(this.#issuedNs[query]);
  }

  #queryOf(sample: number): number {
    return this.#samplesPerQuery === 1 ? sample : Math.floor(sample / this.#samplesPerQuery);
  }

  #lagOf(query: number): number {
    return (this.#issuedNs[query] as number) - (this.#scheduledNs[query] as number);
  }
}
