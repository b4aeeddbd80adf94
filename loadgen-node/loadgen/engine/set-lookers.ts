import type { Clock, PlannedCall } from '../../../shared/base/clock.ts';
import { type RecordedColumns, tokenTimes } from '../recorder/recording.ts';
import type { SampleRecorder } from '../recorder/sample-recorder.ts';
import type { GeneratorHealth } from '../results/generator-health.ts';
import { countAbove } from '../results/latency-statistics.ts';
import { expectedUntil, type OtherArrivals } from '../schedule/arrivals/arrivals.ts';
import type { QueryPlan } from '../schedule/query-plan.ts';
import type { LoadableSet, Phase } from '../schedule/sample-order.ts';
import { type BoundName, boundNsOn, type QueryBound } from '../settings/query-bounds.ts';
import { lagLimit } from './generator-bound.ts';
import type { IssueQueryController } from './issue/issue-query-controller.ts';
import type { EarlyEnd, TestContext } from './test-context.ts';
import type { SetGoal, SetProgress, StoppingGoal } from './test-outcome.ts';

/** A set being issued. */
interface LookedAt {
  readonly plan: QueryPlan;
  readonly recorder: SampleRecorder;
  readonly controller: IssueQueryController;
}

/**
 * Starts the observers of a set while it is issued: progress; for a performance run also the early
 * end and the health of LoadGen's process. Call it right before the set's clock starts.
 * @returns A function that stops observing: takes the clock at the end of the set, returns the
 *   health of LoadGen's process (null without a monitor).
 */
export function lookAtSet(
  context: TestContext,
  input: SetInput,
  looked: LookedAt,
): (endNs: number) => GeneratorHealth | null {
  const { clock, observer } = context.parts;
  const { generatorMonitor, earlyEnd } = input.phase === 'performance' ? (observer ?? {}) : {};
  const endProgress = reportProgress(context, input, looked);
  const stopWatch = earlyEnd && watchForEnd(clock, earlyEnd, looked);
  const endMonitor = generatorMonitor?.();
  return (endNs) => {
    const health = endMonitor?.() ?? null;
    endProgress(endNs);
    stopWatch?.();
    return health;
  };
}

/** Checks a set ten times a second; ends it when it is decided or a sample is lost. */
function watchForEnd(
  clock: Clock,
  earlyEnd: EarlyEnd,
  { recorder, controller }: LookedAt,
): () => void {
  const watch = new EarlyEndWatch(earlyEnd, recorder);
  const startNs = clock.nowNs();
  return lookEvery(clock, LOOK_PERIOD_NS, (nowNs) => {
    const seen = watch.look(nowNs - startNs);
    const isLost = recorder.lostSamples > 0 && earlyEnd.goesOnAfterLoss !== true;
    const isOver = isLost || earlyEnd.isDecided(seen);
    if (isOver) controller.endDecided();
    return isOver;
  });
}

/** Which set of a phase to run. */
export interface SetInput {
  readonly phase: Phase;
  readonly set: LoadableSet;
  readonly setIndex: number;
  readonly setCount: number;
  /** Samples of the sets before this one; total samples of all sets of an accuracy run. */
  readonly samplesBefore?: number;
  readonly samplesOfAll?: number;
  /** True: the caller has loaded the set already. Default: false. */
  readonly isLoaded?: boolean;
  /** Goal of a run that is extended until early stopping decides. */
  readonly decision?: StoppingGoal | undefined;
}

/** Goal of a set, from its settings and its plan. */
function setGoal(
  { phase, decision }: SetInput,
  { effective: settings, parts: { arrivals, generatorLagShareMax } }: TestContext,
  plan: QueryPlan,
): SetGoal {
  const { scenario, arrivalIntervalNs } = settings;
  const intervalQps = arrivalIntervalNs > 0 ? 1e9 / arrivalIntervalNs : 0;
  const isTimed = phase === 'performance';
  const hasSchedule = plan.scheduledDeltaNs.length > 0;
  const endsByItself = isTimed && !hasSchedule && scenario !== 'Offline';
  return {
    scenario,
    targetQps: hasSchedule ? settings.targetQps : intervalQps,
    latencyBoundNs: (isTimed && boundNsOn('latency', settings.bounds)) || 0,
    lagNsMax: (isTimed && hasSchedule && lagLimit(settings, generatorLagShareMax)?.ns) || 0,
    hasOneRate: isTimed && hasSchedule && arrivals === undefined && plan.samplesPerQuery === 1,
    percentile: settings.targetLatencyPercentile,
    samplesPerQuery: plan.samplesPerQuery,
    lastDueNs: plan.scheduledDeltaNs[plan.queryCount - 1] ?? 0,
    minDurationNs: endsByItself ? settings.targetDurationMs * 1e6 : 0,
    minQueryCount: endsByItself ? settings.minQueryCount : 0,
    maxDurationNs: isTimed ? settings.maxDurationMs * 1e6 : 0,
    maxQueryCount: isTimed ? settings.maxQueryCount : 0,
    decision,
  };
}

const PROGRESS_PERIOD_NS = 1_000_000_000;

/**
 * Calls `look` every `periodNs` until it returns true. @returns A function that stops the calls.
 */
function lookEvery(clock: Clock, periodNs: number, look: (nowNs: number) => boolean): () => void {
  let planned: PlannedCall;
  const tick = (): void => {
    const nowNs = clock.nowNs();
    if (!look(nowNs)) planned = clock.callAt(nowNs + periodNs, tick);
  };
  planned = clock.callAt(clock.nowNs() + periodNs, tick);
  return () => planned.cancel();
}

/** Number of queries due by a time in ns since the start; NaN if the rate is constant. */
function dueUntil(
  arrivals: OtherArrivals | undefined,
  { scheduledDeltaNs }: QueryPlan,
  ns: number,
): number {
  if (arrivals?.kind === 'step') return expectedUntil(arrivals.steps, ns);
  if (arrivals?.kind !== 'trace') return Number.NaN;
  return scheduledDeltaNs.length - countAbove(scheduledDeltaNs, ns - 1);
}

/**
 * Reports progress about once a second while a set is issued. @returns A function that ends it with
 * a last report.
 */
function reportProgress(
  context: TestContext,
  input: SetInput,
  { plan, recorder }: LookedAt,
): (endNs: number) => void {
  const { clock, observer } = context.parts;
  const onProgress = observer?.onProgress;
  if (onProgress === undefined) return () => undefined;
  const beginNs = clock.nowNs();
  const { phase, setIndex, setCount, samplesBefore = 0 } = input;
  const samplesOfAll = input.samplesOfAll ?? plan.queryCount * plan.samplesPerQuery;
  const goal = setGoal(input, context, plan);
  const ofPhase = phase === 'performance' ? context.parts.arrivals : undefined;
  let lastNs = 0;
  const look = (nowNs: number, hasEnded: boolean): void => {
    const elapsedNs = nowNs - beginNs;
    const due = dueUntil(ofPhase, plan, elapsedNs) - dueUntil(ofPhase, plan, lastNs);
    const dueQps = Number.isNaN(due) ? goal.targetQps : (due * 1e9) / (elapsedNs - lastNs || 1);
    lastNs = elapsedNs;
    onProgress({
      phase,
      goal,
      setIndex,
      setCount,
      samplesBefore,
      samplesOfAll,
      elapsedNs,
      dueQps,
      generatedQueries: plan.queryCount,
      issuedQueries: recorder.issuedQueries,
      issuedSamples: recorder.issuedSamples,
      completedSamples: recorder.completedSamples,
      lostSamples: recorder.lostSamples,
      hasEnded,
    });
  };
  const stop = lookEvery(clock, PROGRESS_PERIOD_NS, (nowNs) => {
    look(nowNs, false);
    return false;
  });
  return (endNs) => {
    stop();
    look(endNs, true);
  };
}

/** Time between two checks of a set. */
const LOOK_PERIOD_NS = 100_000_000;

/**
 * Counts decided queries per bound. Each look scans the queries from the oldest outstanding one to
 * the last one issued.
 */
class EarlyEndWatch {
  readonly #bounds: readonly QueryBound[];
  readonly #recorder: SampleRecorder;
  readonly #columns: RecordedColumns;
  /** All queries below this number are complete. */
  #settledQueries = 0;
  /** Per bound, number of these complete queries that were above it. */
  readonly #settledOver: Float64Array;

  constructor({ bounds }: EarlyEnd, recorder: SampleRecorder) {
    this.#bounds = bounds;
    this.#recorder = recorder;
    this.#columns = recorder.columns();
    this.#settledOver = new Float64Array(bounds.length);
  }

  /** @param elapsedNs Time since the set's clock started. */
  look(elapsedNs: number): SetProgress {
    const { issuedQueries } = this.#recorder;
    const { firstTokenNs } = this.#columns;
    const known = new Float64Array(this.#bounds.length);
    const over = new Float64Array(this.#bounds.length);
    let waiting = 0;
    let isSettled = true;
    for (let query = this.#settledQueries; query < issuedQueries; query += 1) {
      const latencyNs = this.#recorder.queryLatencyNs(query);
      const isOpen = Number.isNaN(latencyNs);
      if (isOpen) isSettled = false;
      if (isOpen && Number.isNaN(firstTokenNs?.[query] ?? Number.NaN)) waiting += 1;
      this.#count(
        query,
        latencyNs,
        elapsedNs,
        isSettled ? [known, this.#settledOver] : [known, over],
      );
      if (!isSettled) continue;
      this.#settledQueries += 1;
      known.fill(0);
    }
    return {
      elapsedNs,
      issuedQueries,
      waitingQueries: waiting,
      bounds: this.#bounds.map((_, i) => ({
        known: this.#settledQueries + (known[i] as number),
        over: (this.#settledOver[i] as number) + (over[i] as number),
      })),
    };
  }

  /** Counts a query as decided, and as late, per bound. */
  #count(
    query: number,
    latencyNs: number,
    elapsedNs: number,
    [known, over]: readonly [known: Float64Array, over: Float64Array],
  ): void {
    const waitedNs = elapsedNs - (this.#columns.scheduledNs[query] as number);
    for (let i = 0; i < this.#bounds.length; i += 1) {
      const { name, ns } = this.#bounds[i] as QueryBound;
      const timeNs = this.#timeOf(name, query, latencyNs);
      // A query outstanding for longer than the bound will be above it.
      const isOver = (Number.isNaN(timeNs) && name !== 'tpot' ? waitedNs : timeNs) > ns;
      if (!isOver && Number.isNaN(timeNs)) continue;
      known[i] = (known[i] as number) + 1;
      if (isOver) over[i] = (over[i] as number) + 1;
    }
  }

  /** NaN while unknown. Only Server bounds tokens, and its queries have one sample. */
  #timeOf(name: BoundName, query: number, latencyNs: number): number {
    const { firstTokenNs, tokenCounts } = this.#columns;
    if (name === 'latency') return latencyNs;
    const firstNs = firstTokenNs?.[query] ?? Number.NaN;
    if (Number.isNaN(latencyNs)) return name === 'ttft' ? firstNs : Number.NaN;
    return tokenTimes(latencyNs, firstNs, tokenCounts?.[query] ?? 0)[name];
  }
}
