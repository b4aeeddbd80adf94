import type { Clock, PlannedCall } from '../../../shared/base/clock/clock.ts';
import type { GeneratorHealth } from '../health/generator-health.ts';
import type { RecordedColumns } from '../recorder/recording.ts';
import type { SampleRecorder } from '../recorder/sample-recorder.ts';
import type { QueryPlan } from '../schedule/query-plan.ts';
import type { LoadableSet, Phase } from '../schedule/sample-order.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import type { IssueQueryController } from './issue/issue-query-controller.ts';
import type { EarlyEnd, TestContext } from './test-context.ts';
import type { SetGoal, SetProgress } from './test-outcome.ts';

/** What is looked at. */
interface LookedAt {
  readonly plan: QueryPlan;
  readonly recorder: SampleRecorder;
  readonly controller: IssueQueryController;
}

/**
 * All that looks on while a set is issued: progress; and of a performance run what may end it before its time, and how LoadGen's
 * process fares. Made right before the set's clock starts.
 */
export class SetLookers {
  readonly #progress: ProgressTicker;
  readonly #earlyEnd: EarlyEndWatch | undefined;
  readonly #endMonitor: (() => GeneratorHealth) | undefined;

  constructor(context: TestContext, input: SetInput, { plan, recorder, controller }: LookedAt) {
    const { clock, observer } = context.parts;
    const { generatorMonitor, earlyEnd } = observer ?? {};
    const isTimed = input.phase === 'performance';
    this.#progress = new ProgressTicker(context, input, plan, recorder);
    if (isTimed && earlyEnd !== undefined) {
      this.#earlyEnd = new EarlyEndWatch(earlyEnd, clock, recorder, () => controller.endDecided());
    }
    this.#earlyEnd?.start();
    if (isTimed) this.#endMonitor = generatorMonitor?.();
  }

  /**
   * Stops looking.
   * @param endNs Clock when the set ended.
   * @returns How LoadGen's process fared; null where nobody looked.
   */
  end(endNs: number): GeneratorHealth | null {
    const health = this.#endMonitor?.() ?? null;
    this.#progress.stop(endNs);
    this.#earlyEnd?.stop();
    return health;
  }
}

/** Which set of a phase is run. */
export interface SetInput {
  readonly phase: Phase;
  readonly set: LoadableSet;
  readonly setIndex: number;
  readonly setCount: number;
  /** True: the caller has loaded the set already. Default: false. */
  readonly isLoaded?: boolean;
}

/** The goal of a set by its settings and its plan. */
function setGoal(phase: Phase, settings: EffectiveSettings, plan: QueryPlan): SetGoal {
  const { scenario, arrivalIntervalNs } = settings;
  const isTimed = phase === 'performance';
  const endsByItself = isTimed && scenario !== 'Server' && scenario !== 'Offline';
  return {
    scenario,
    targetQps: targetQps(settings, arrivalIntervalNs),
    latencyBoundNs: isTimed ? settings.targetLatencyNs : 0,
    percentile: settings.targetLatencyPercentile,
    samplesPerQuery: plan.samplesPerQuery,
    lastDueNs: plan.scheduledDeltaNs[plan.queryCount - 1] ?? 0,
    minDurationNs: endsByItself ? settings.targetDurationMs * 1e6 : 0,
    minQueryCount: endsByItself ? settings.minQueryCount : 0,
    maxDurationNs: isTimed ? settings.maxDurationMs * 1e6 : 0,
    maxQueryCount: isTimed ? settings.maxQueryCount : 0,
  };
}

function targetQps(settings: EffectiveSettings, arrivalIntervalNs: number): number {
  if (settings.scenario === 'Server') return settings.targetQps;
  return arrivalIntervalNs > 0 ? 1e9 / arrivalIntervalNs : 0;
}

const PROGRESS_PERIOD_NS = 1_000_000_000;

/** Reports progress about once a second while a set is issued. */
class ProgressTicker {
  readonly #look: (nowNs: number, hasEnded: boolean) => void;
  readonly #tick: () => void;
  #planned: PlannedCall | null = null;

  constructor(
    { parts: { clock, observer }, effective }: TestContext,
    { phase, setIndex, setCount }: SetInput,
    plan: QueryPlan,
    recorder: SampleRecorder,
  ) {
    const onProgress = observer?.onProgress;
    const beginNs = clock.nowNs();
    const goal = setGoal(phase, effective, plan);
    this.#look = (nowNs, hasEnded) =>
      onProgress?.({
        phase,
        goal,
        setIndex,
        setCount,
        elapsedNs: nowNs - beginNs,
        generatedQueries: plan.queryCount,
        issuedQueries: recorder.issuedQueries,
        issuedSamples: recorder.issuedSamples,
        completedSamples: recorder.completedSamples,
        lostSamples: recorder.lostSamples,
        hasEnded,
      });
    this.#tick = () => {
      const nowNs = clock.nowNs();
      this.#look(nowNs, false);
      this.#planned = clock.callAt(nowNs + PROGRESS_PERIOD_NS, this.#tick);
    };
    if (onProgress !== undefined) {
      this.#planned = clock.callAt(beginNs + PROGRESS_PERIOD_NS, this.#tick);
    }
  }

  /** @param endNs Clock when the set ended: the last look, untimed. */
  stop(endNs: number): void {
    this.#planned?.cancel();
    this.#look(endNs, true);
  }
}

/** Time between two looks at a set. */
const LOOK_PERIOD_NS = 100_000_000;

/**
 * Looks at a set ten times a second while it is issued, and ends it as soon as it is decided, or a sample is lost. A look reads
 * the queries since the oldest one that is outstanding: as many as were issued since the last look, and those that wait.
 */
class EarlyEndWatch {
  readonly #earlyEnd: EarlyEnd;
  readonly #clock: Clock;
  readonly #recorder: SampleRecorder;
  readonly #columns: RecordedColumns;
  readonly #end: () => void;
  #startNs = 0;
  /** All queries below are complete; so many of them are over. */
  #settledQueries = 0;
  #settledOver = 0;
  #planned: PlannedCall | null = null;

  /** @param end Ends the issuing of the set. */
  constructor(earlyEnd: EarlyEnd, clock: Clock, recorder: SampleRecorder, end: () => void) {
    this.#earlyEnd = earlyEnd;
    this.#clock = clock;
    this.#recorder = recorder;
    this.#columns = recorder.columns();
    this.#end = end;
  }

  /** Call when the clock of the set starts. */
  start(): void {
    this.#startNs = this.#clock.nowNs();
    this.#plan();
  }

  stop(): void {
    this.#planned?.cancel();
    this.#planned = null;
  }

  #plan(): void {
    this.#planned = this.#clock.callAt(this.#clock.nowNs() + LOOK_PERIOD_NS, this.#look);
  }

  readonly #look = (): void => {
    const seen = this.#progress(this.#clock.nowNs() - this.#startNs);
    if (this.#recorder.lostSamples > 0 || this.#earlyEnd.isDecided(seen)) this.#end();
    else this.#plan();
  };

  #progress(elapsedNs: number): SetProgress {
    const { issuedQueries } = this.#recorder;
    const { scheduledNs } = this.#columns;
    const { boundNs } = this.#earlyEnd;
    let completed = 0;
    let over = 0;
    let overdue = 0;
    let isSettled = true;
    for (let query = this.#settledQueries; query < issuedQueries; query += 1) {
      const latencyNs = this.#latencyOf(query);
      const isOpen = Number.isNaN(latencyNs);
      const waitedNs = isOpen ? elapsedNs - (scheduledNs[query] as number) : latencyNs;
      const isOver = waitedNs > boundNs ? 1 : 0;
      if (isOpen) isSettled = false;
      if (isSettled) {
        this.#settledQueries += 1;
        this.#settledOver += isOver;
      } else if (isOpen) {
        overdue += isOver;
      } else {
        over += isOver;
        completed += 1;
      }
    }
    return {
      elapsedNs,
      issuedQueries,
      completedQueries: this.#settledQueries + completed,
      overlatencyQueries: this.#settledOver + over,
      overdueQueries: overdue,
    };
  }

  /** That of its last sample; NaN while one is outstanding. */
  #latencyOf(query: number): number {
    const { samplesPerQuery, isCompleted, latencyNs } = this.#columns;
    let largestNs = 0;
    const end = (query + 1) * samplesPerQuery;
    for (let sample = end - samplesPerQuery; sample < end; sample += 1) {
      if (!isCompleted(sample)) return Number.NaN;
      largestNs = Math.max(largestNs, latencyNs[sample] as number);
    }
    return largestNs;
  }
}
