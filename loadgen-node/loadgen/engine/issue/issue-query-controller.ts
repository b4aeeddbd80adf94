import assert from 'node:assert';
import type { Clock, PlannedCall } from '../../../../shared/base/clock.ts';
import { MlperfError, messageOf } from '../../../../shared/base/errors/mlperf-error.ts';
import type { SystemUnderTest } from '../../../../shared/domain/system-under-test.ts';
import type { SampleRecorder } from '../../recorder/sample-recorder.ts';
import type { QueryPlan } from '../../schedule/query-plan.ts';
import type { ScenarioRules } from '../../schedule/scenario-rules.ts';
import { ArrivalTicks } from './arrival-ticks.ts';
import type { DrivenSet, IssueDriver } from './issue-driver.ts';
import { type EndCause, IssueThreads, type StopLimits, type ThreadEnd } from './issue-threads.ts';
import { ReusedQuery } from './reused-query.ts';
import { StallWatch } from './stall-watch.ts';

/*
 * The timed issue loop.
 *
 *   issuing ──last query, a stop rule, fault, stall or interrupt──> draining ──nothing outstanding,
 *   or the deadline of a fault or an interrupt, or a stall──> ended
 *
 * Hot path: one clock reading and no allocation per query (except what the clock needs for a
 * planned call). A SUT may complete inside issueQuery, and issueQuery may be called from inside a
 * completion: neither recurses, since the loop only reads the recorder's counters.
 */

/** Longest turn of the loop before it yields to I/O, timers and signals. */
const TURN_NS = 1_000_000;
/** Longest wait for outstanding samples after an interrupt. */
const INTERRUPT_DRAIN_NS = 1_000_000_000;

/** A set ends after this many failed samples before any success: the rest would fail, too. */
const FAILED_AT_FIRST = 10;

/** Parts of the issue loop of one set. */
export interface IssueParts {
  readonly sut: SystemUnderTest;
  readonly clock: Clock;
  readonly rules: ScenarioRules;
  readonly plan: QueryPlan;
  readonly recorder: SampleRecorder;
  /** Issue threads; 1 in every scenario but Server. */
  readonly threadCount: number;
  /** Round v0.5's MultiStream: ns between two queries; else 0. */
  readonly arrivalIntervalNs: number;
  /** Server: a thread issues all its due queries in one call. */
  readonly coalesces: boolean;
  /** Null in an accuracy run, which issues everything. */
  readonly limits: StopLimits | null;
  readonly firstQueryId: number;
  readonly firstResponseId: number;
  readonly stallTimeoutNs: number;
  readonly drainTimeoutNs: number;
  /** Issues in place of the clock; null: the clock issues. */
  readonly driver: IssueDriver | null;
}

/** How a set ended. */
export interface SetEnd {
  readonly cause: EndCause;
  /** Clock at the first query. */
  readonly startNs: number;
  /** Clock at the end of the last outstanding sample. */
  readonly endNs: number;
  /** Samples that were outstanding when issuing ended. */
  readonly outstandingAtStop: number;
  /** Samples abandoned at the end, without those that the SUT reported as lost. */
  readonly abandonedSamples: number;
  /**
   * Clock since when samples were outstanding and none completed; null if the set did not end by a
   * stall.
   */
  readonly silentSinceNs: number | null;
  /** Error of the SUT, with the clock reading at its arrival. */
  readonly fault: { readonly error: MlperfError; readonly atNs: number } | null;
  /** Issue threads that ended before their last query. */
  readonly threadEnds: readonly ThreadEnd[];
}

/** Issues the queries of one set and waits for their samples (LoadGen: IssueQueryController). */
export class IssueQueryController implements DrivenSet {
  readonly #parts: IssueParts;
  readonly #query: ReusedQuery;
  readonly #threads: IssueThreads;
  readonly #ticks: ArrivalTicks | null;
  #state: 'ready' | 'issuing' | 'draining' | 'ended' = 'ready';
  #isPumping = false;
  #startNs = 0;
  readonly #stallWatch: StallWatch;
  /** Clock at which the wait for outstanding samples ends after a fault or an interrupt. */
  #deadlineNs = Number.POSITIVE_INFINITY;
  #cause: EndCause = 'all-issued';
  #fault: SetEnd['fault'] = null;
  #outstandingAtStop = 0;
  /** Issue time of each thread's last query with a driver, in ns since the start. */
  readonly #lastIssuesNs: Float64Array;
  #plannedPump: PlannedCall | null = null;
  #plannedDeadline: PlannedCall | null = null;
  #plannedFailure: PlannedCall | null = null;
  #resolve: (end: SetEnd) => void = () => undefined;

  constructor(parts: IssueParts) {
    this.#parts = parts;
    assert(parts.threadCount === 1 || parts.plan.samplesPerQuery === 1);
    this.#query = new ReusedQuery(parts.plan, parts.threadCount);
    this.#threads = new IssueThreads(parts.threadCount, parts.plan.queryCount);
    this.#lastIssuesNs = new Float64Array(parts.threadCount);
    const { recorder, arrivalIntervalNs } = parts;
    this.#ticks = arrivalIntervalNs > 0 ? new ArrivalTicks(recorder, arrivalIntervalNs) : null;
    this.#stallWatch = new StallWatch(parts, () => this.#stopIssuing('stall'));
  }

  /** Clock at the first query. */
  get startNs(): number {
    return this.#startNs;
  }

  /** Starts the clock of the set, issues, and waits. Never rejects. Called once. */
  run(): Promise<SetEnd> {
    assert(this.#state === 'ready');
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#state = 'issuing';
      const { clock, recorder } = this.#parts;
      this.#startNs = clock.nowNs();
      recorder.begin(this.#startNs);
      this.#stallWatch.begin(this.#startNs);
      const { driver } = this.#parts;
      if (driver === null) this.#pump();
      else driver.drive(this);
    });
  }

  get plan(): QueryPlan {
    return this.#parts.plan;
  }

  nowNs(): number {
    return this.#parts.clock.nowNs();
  }

  /**
   * Called by the driver. The clock of the set starts with its first query, which is due at once in
   * every scenario.
   */
  issue(first: number, count: number, atNs: number): void {
    if (this.#state !== 'issuing') return;
    const { recorder, threadCount } = this.#parts;
    if (recorder.issuedQueries === 0) {
      this.#startNs = atNs;
      recorder.begin(atNs);
      this.#stallWatch.startNs = atNs;
    }
    if (recorder.outstandingSamples === 0) this.#stallWatch.busySinceNs = atNs;
    for (let i = 0; i < count; i += 1) recorder.issue(atNs, first + i * threadCount);
    const thread = first % threadCount;
    this.#threads.advance(thread, count);
    this.#lastIssuesNs[thread] = atNs - this.#startNs;
    // The set ends in the next turn: a SUT may complete inside issueQuery.
    this.#handOver(first, count);
  }

  /** Called by the driver. */
  endIssuing(): void {
    if (this.#state !== 'issuing') return;
    const { recorder, limits, rules } = this.#parts;
    this.#threads.endByDriver(limits, rules.endsNaturally, recorder, this.#lastIssuesNs);
    this.#stopIssuing(this.#causeOfListEnd());
  }

  /** Call after each recorded completion. May issue the next query. */
  sampleCompleted(): void {
    const { recorder, rules } = this.#parts;
    if (recorder.outstandingSamples >= rules.outstandingMax) return;
    if (this.#state === 'draining') this.#endIfDone();
    else if (rules.waitsForCompletion) this.#pump();
  }

  /**
   * Call after each sample that was reported as lost. The next query waits for the next turn: a
   * broken SUT reports its lost samples first and then the fault that ends the run.
   */
  sampleLost(): void {
    this.#endIfAllFail();
    const { recorder, rules, clock } = this.#parts;
    if (recorder.outstandingSamples >= rules.outstandingMax) return;
    if (this.#state === 'draining') this.#endIfDone();
    else if (rules.waitsForCompletion) this.#planPump(clock.nowNs());
  }

  /** Ends in the next turn, as in {@link sampleLost}. */
  #endIfAllFail(): void {
    const { clock, recorder } = this.#parts;
    const hasFailed = recorder.completedSamples === 0 && recorder.lostSamples >= FAILED_AT_FIRST;
    if (!hasFailed || this.#state !== 'issuing' || this.#plannedFailure !== null) return;
    this.#plannedFailure = clock.callAt(clock.nowNs(), () => {
      if (recorder.completedSamples === 0) this.#stopIssuing('all-failed');
    });
  }

  /** The SUT broke: stops issuing; outstanding samples get the drain timeout. */
  breakOff(fault: MlperfError): void {
    this.#fault ??= { error: fault, atNs: this.#parts.clock.nowNs() };
    this.#stopIssuing('fault');
  }

  /** Ctrl-C: stops issuing; outstanding samples get one more second. */
  interrupt(): void {
    this.#stopIssuing('interrupted');
  }

  /** Stops issuing because the result is decided. Outstanding samples complete as usual. */
  endDecided(): void {
    if (this.#state === 'issuing') this.#stopIssuing('decided');
  }

  readonly #pump = (): void => {
    if (this.#isPumping || this.#state !== 'issuing' || this.#parts.driver !== null) return;
    this.#isPumping = true;
    this.#cancelPump();
    const { clock, rules, recorder } = this.#parts;
    let nowNs = clock.nowNs();
    const turnEndNs = nowNs + TURN_NS;
    while (this.#state === 'issuing') {
      const thread = this.#threads.pick();
      if (thread < 0) {
        this.#stopIssuing(this.#causeOfListEnd());
        break;
      }
      if (rules.waitsForCompletion && recorder.outstandingSamples >= rules.outstandingMax) break;
      const next = this.#threads.nextOf(thread);
      const dueNs = this.#dueNs(next, nowNs);
      const lookNs = this.#lookNs(dueNs);
      if (nowNs < lookNs || nowNs >= turnEndNs) {
        this.#planPump(Math.max(nowNs, lookNs));
        break;
      }
      if (lookNs < dueNs) this.#endThread(thread, 'max-duration', nowNs - this.#startNs);
      else this.#issue(thread, next, nowNs);
      nowNs = clock.nowNs();
    }
    this.#isPumping = false;
    this.#endIfDone();
  };

  #dueNs(query: number, nowNs: number): number {
    const { rules, plan } = this.#parts;
    if (rules.scheduledAt === 'plan')
      return this.#startNs + (plan.scheduledDeltaNs[query] as number);
    return this.#startNs + (this.#ticks?.dueNs(query, nowNs - this.#startNs) ?? 0);
  }

  /**
   * Clock reading at which to look at the next query: its due time, or the maximum duration if the
   * query is due after it.
   */
  #lookNs(dueNs: number): number {
    const { limits } = this.#parts;
    if (limits === null || dueNs <= this.#startNs + limits.lastDueNs) return dueNs;
    return this.#startNs + limits.maxDurationNs;
  }

  #issue(thread: number, first: number, nowNs: number): void {
    const { recorder, coalesces } = this.#parts;
    if (recorder.outstandingSamples === 0) this.#stallWatch.busySinceNs = nowNs;
    recorder.issue(nowNs, first);
    let queryCount = 1;
    if (coalesces) queryCount += this.#issueDueAlong(first, nowNs);
    this.#threads.advance(thread, queryCount);
    if (this.#handOver(first, queryCount)) this.#checkStop(thread, nowNs - this.#startNs);
  }

  /** Passes queries of one call to the SUT. @returns False if the SUT broke the contract */
  #handOver(first: number, queryCount: number): boolean {
    const { sut, plan, coalesces, driver, firstQueryId, firstResponseId } = this.#parts;
    const query = this.#query;
    query.id = firstQueryId + first;
    query.sampleOffset = first * plan.samplesPerQuery;
    query.firstResponseId = firstResponseId + query.sampleOffset;
    if (coalesces || driver !== null) query.sampleCount = queryCount * plan.samplesPerQuery;
    try {
      sut.issueQuery(query);
      return true;
    } catch (error) {
      this.breakOff(contractBroken('issueQuery', error));
      return false;
    }
  }

  /** Records the thread's other due queries as issued. @returns Their count. */
  #issueDueAlong(first: number, nowNs: number): number {
    const { plan, recorder } = this.#parts;
    const elapsedNs = nowNs - this.#startNs;
    const stride = this.#threads.count;
    let count = 0;
    for (let query = first + stride; query < plan.queryCount; query += stride) {
      if ((plan.scheduledDeltaNs[query] as number) > elapsedNs) break;
      recorder.issue(nowNs, query);
      count += 1;
    }
    return count;
  }

  #checkStop(thread: number, elapsedNs: number): void {
    const { limits } = this.#parts;
    // A fault inside issueQuery has already ended the issuing.
    if (limits === null || this.#state !== 'issuing') return;
    const cause = this.#stopCause(limits, thread, elapsedNs);
    if (cause !== null) this.#endThread(thread, cause, elapsedNs);
  }

  #endThread(thread: number, cause: EndCause, elapsedNs: number): void {
    const threads = this.#threads;
    const issuedQueries = threads.issuedBy(thread);
    const outstanding = this.#parts.recorder.outstandingSamples;
    const isLast = threads.end({ thread, cause, issuedQueries, elapsedNs, outstanding });
    if (isLast) this.#stopIssuing(threads.ends[0]?.cause ?? cause);
  }

  #stopCause(limits: StopLimits, thread: number, elapsedNs: number): EndCause | null {
    const { rules, recorder } = this.#parts;
    return this.#threads.stopCause(thread, limits, rules.endsNaturally, recorder, elapsedNs);
  }

  /** Cause when the plan ran out: normal for Server; other scenarios should have ended before. */
  #causeOfListEnd(): EndCause {
    const { limits, rules } = this.#parts;
    const early = this.#threads.ends[0];
    if (early !== undefined) return early.cause;
    return limits !== null && rules.endsNaturally ? 'ran-out' : 'all-issued';
  }

  #planPump(atNs: number): void {
    this.#cancelPump();
    this.#plannedPump = this.#parts.clock.callAt(atNs, this.#pump);
  }

  #cancelPump(): void {
    this.#plannedPump?.cancel();
    this.#plannedPump = null;
  }

  /** Stops issuing for `cause`. A fault, stall or interrupt also shortens a wait that had begun. */
  #stopIssuing(cause: EndCause): void {
    if (this.#state === 'ready' || this.#state === 'ended') return;
    const wasIssuing = this.#state === 'issuing';
    if (cause === 'all-failed' && !wasIssuing) return;
    const isBreak = cause === 'fault' || cause === 'interrupted' || cause === 'stall';
    if (wasIssuing) this.#outstandingAtStop = this.#parts.recorder.outstandingSamples;
    if (wasIssuing || (isBreak && this.#cause !== 'interrupted')) this.#cause = cause;
    this.#state = 'draining';
    this.#cancelPump();
    if (cause === 'fault' || cause === 'all-failed')
      this.#shortenDeadline(this.#parts.drainTimeoutNs);
    if (cause === 'interrupted') this.#shortenDeadline(INTERRUPT_DRAIN_NS);
    if (wasIssuing) this.#flush();
    if (cause === 'stall') this.#end();
    else this.#endIfDone();
  }

  #flush(): void {
    try {
      this.#parts.sut.flushQueries();
    } catch (error) {
      this.breakOff(contractBroken('flushQueries', error));
    }
  }

  #shortenDeadline(waitNs: number): void {
    const { clock } = this.#parts;
    const deadlineNs = clock.nowNs() + waitNs;
    if (deadlineNs >= this.#deadlineNs) return;
    this.#deadlineNs = deadlineNs;
    this.#plannedDeadline?.cancel();
    this.#plannedDeadline = clock.callAt(deadlineNs, () => this.#end());
  }

  /** Not called inside the loop, which checks by itself when it exits. */
  #endIfDone(): void {
    if (this.#isPumping || this.#state !== 'draining') return;
    if (this.#parts.recorder.outstandingSamples === 0) this.#end();
  }

  #end(): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#parts.driver?.handOn();
    this.#cancelPump();
    this.#stallWatch.end();
    this.#plannedDeadline?.cancel();
    this.#plannedFailure?.cancel();
    const endNs = this.#parts.clock.nowNs();
    const { driver, recorder } = this.#parts;
    const abandonedSamples = recorder.loseOutstanding();
    if (driver !== null) recorder.correctStart();
    this.#resolve({
      cause: this.#cause,
      startNs: this.#startNs,
      endNs,
      outstandingAtStop: this.#outstandingAtStop,
      abandonedSamples,
      silentSinceNs: this.#cause === 'stall' ? this.#stallWatch.silentSinceNs : null,
      fault: this.#fault,
      threadEnds: this.#threads.ends,
    });
  }
}

function contractBroken(call: string, error: unknown): MlperfError {
  const text = `the SUT's ${call} threw, which it must never do: ${messageOf(error)}`;
  return new MlperfError('ERR_INTERNAL', text, { cause: error });
}
