import { rmSync } from 'node:fs';
import type { QuerySampleLibrary } from '../../shared/domain/query-sample-library.ts';
import { monotonicClock } from '../loadgen/engine/monotonic-clock.ts';
import { runTest } from '../loadgen/engine/start-test.ts';
import type {
  EarlyEnd,
  RecordedSet,
  TestObserver,
  TestSetup,
} from '../loadgen/engine/test-context.ts';
import type { RunProgress, TestOutcome, TestPhase } from '../loadgen/engine/test-outcome.ts';
import type { LiveView } from '../present/live/live-view.ts';
import { orAbort, type RunHost } from './host/host.ts';
import { checkSelf } from './judge/self-check.ts';
import { RunKeeper } from './keep/run-keeper.ts';
import type { RunReport } from './keep/run-report.ts';
import type { RunPlan } from './plan/run-plan.ts';
import { type PreparedRun, prepareRun } from './prepare/prepare-run.ts';
import { nodesOf, type RunSut } from './run-sut.ts';
import { RunWatch } from './run-watch.ts';

/** Longest wait for outstanding samples after a fault of the SUT. */
const DRAIN_TIMEOUT_NS = 2e9;

/** Samples of a run: its data set, and the library that LoadGen loads them from. */
export interface RunSamples extends Pick<PreparedRun, 'dataSet' | 'dataSetCheck'> {
  readonly store: QuerySampleLibrary;
}

/** Who looks on while a run is measured. */
export interface RunObservers {
  /** The SUT is ready, nothing is written yet; what it throws ends the run. */
  readonly onBegin?: (() => void) | undefined;
  /** Takes the records of each set of the performance run, untimed. */
  readonly onSet?: (set: RecordedSet) => void;
  /** The live page. */
  readonly live?: LiveView | undefined;
  /** At the beginning of each phase, untimed. Must not throw. */
  readonly onPhase?: (phase: TestPhase) => void;
  /** About once a second, timed, in place of the host's status line. Must not throw. */
  readonly onProgress?: (progress: RunProgress) => void;
}

/** A plan as far as a probe reads it. */
export type ProbePlan = Pick<
  RunPlan,
  'settings' | 'loadgen' | 'log' | 'output' | 'stallTimeoutNs' | 'generatorLagShareMax'
> & { readonly dispatch: Pick<RunPlan['dispatch'], 'onNodeLoss'> };

/** Name, logs and early end of a probe. */
export interface ProbeLook extends Pick<RunObservers, 'onSet'> {
  /** Name in the status line. */
  readonly name: string;
  /** True: its logs stay in the plan's folder. */
  readonly keepsLogs: boolean;
  readonly earlyEnd?: EarlyEnd | undefined;
}

/**
 * One run: a SUT that is ready, and what is measured with it. Every run is assembled here, whatever its SUT is and whoever
 * wants it, so that all follow the same rules and leave the same folder.
 */
export class RunSession {
  readonly #plan: RunPlan;
  readonly #samples: RunSamples;
  readonly #sut: RunSut;
  readonly #host: RunHost;

  private constructor(plan: RunPlan, samples: RunSamples, sut: RunSut, host: RunHost) {
    this.#plan = plan;
    this.#samples = samples;
    this.#sut = sut;
    this.#host = host;
  }

  /**
   * Waits until the SUT is ready. Nothing is written before, and nothing of an earlier run is lost: who mistyped an address
   * keeps it.
   * @throws MlperfError; the SUT is stopped then.
   */
  static async open(
    plan: RunPlan,
    samples: RunSamples,
    sut: RunSut,
    host: RunHost,
  ): Promise<RunSession> {
    await becomeReady(sut, host);
    return new RunSession(plan, samples, sut, host);
  }

  /**
   * Measures a whole run, once: accuracy, performance, or both. However it ends, the SUT is stopped and the folder is
   * consistent: nothing of an earlier run, and of this one what is known, said to be incomplete where it is.
   * @throws MlperfError before the first query; later only where the logs cannot be written.
   */
  async measure(observers: RunObservers = {}): Promise<RunReport> {
    const plan = this.#plan;
    const sut = this.#sut;
    const selfCheck = checkSelf();
    const judge = sut.judge(plan, selfCheck);
    const keeper = await this.#beginFolder(observers.onBegin);
    const watch = new RunWatch({
      ...{ plan, host: this.#host, live: observers.live, onProgress: observers.onProgress },
      nodes: () => sut.qdl?.activity() ?? [],
    });
    let outcome: TestOutcome;
    try {
      outcome = await runTest({
        ...this.#asPlanned(),
        selfCheck,
        observer: {
          ...{ judge: judge.judge, onPhase: observers.onPhase, generatorMonitor: sut.monitor },
          keepRecords: keepRecords(keeper, observers.onSet),
          ...watch.observer(),
        },
      });
      await keeper.writeAudit(judge);
    } catch (error) {
      await keeper.breakOff(judge);
      watch.breakOff(error);
      throw error;
    }
    watch.end(outcome);
    return await keeper.end({ outcome, judge, dataSetCheck: this.#samples.dataSetCheck });
  }

  /** The engine's setup from plan, samples and SUT. */
  #asPlanned(): TestSetup {
    const plan = this.#plan;
    return {
      ...setupOf(plan, this.#sut, this.#samples.store, this.#host),
      configEvents: plan.configEvents,
      usesTokenLatenciesBeforeAudit: plan.usesTokenLatenciesBeforeAudit,
      extendsUntilDecided: plan.extendsUntilDecided,
      arrivals: plan.arrivals,
    };
  }

  async #beginFolder(onBegin: (() => void) | undefined): Promise<RunKeeper> {
    try {
      return await RunKeeper.begin(this.#plan, this.#sut.qdl, this.#host, onBegin);
    } catch (error) {
      await this.#sut.sut.stop(); // Later on the engine sees to that.
      throw error;
    }
  }
}

/**
 * Looks at a SUT for a short time, for its latencies alone: nothing is judged, and no file but LoadGen's logs is written.
 * @throws MlperfError when the SUT is not ready, or the logs cannot be written; the SUT is stopped.
 */
export async function probe(
  plan: ProbePlan,
  store: QuerySampleLibrary,
  sut: Pick<RunSut, 'sut' | 'ready'>,
  host: RunHost,
  { name, onSet, earlyEnd, keepsLogs }: ProbeLook,
): Promise<TestOutcome> {
  await becomeReady(sut, host);
  try {
    const setup = setupOf(plan, sut, staysLoaded(store), host);
    const observer: TestObserver = {
      earlyEnd,
      keepRecords: onSet && (async (set) => onSet(set)),
      onProgress: ({ elapsedNs, issuedQueries, generatedQueries }) =>
        host.progress?.(
          name,
          `${(elapsedNs / 1e9).toFixed(0)} s, ${issuedQueries} of at most ${generatedQueries} queries issued`,
        ),
    };
    return await runTest({ ...setup, log: { ...setup.log, enableTrace: false }, observer });
  } finally {
    host.progress?.(null);
    if (!keepsLogs) rmSync(plan.output, { recursive: true, force: true });
  }
}

/**
 * Measures the nodes of a plan that is prepared; again and again if that is wanted, also with a plan that differs in its
 * settings and its output folder.
 * @throws MlperfError as {@link RunSession.open} and {@link RunSession.measure}
 */
export async function measureRun(
  prepared: PreparedRun,
  host: RunHost,
  observers?: RunObservers,
): Promise<RunReport> {
  const { plan } = prepared;
  const session = await RunSession.open(plan, prepared, nodesOf(plan, prepared), host);
  return await session.measure(observers);
}

/**
 * Does a whole run of a plan: data set, SUT nodes, test, accuracy.
 * @throws MlperfError as {@link prepareRun} and {@link measureRun}
 */
export async function performRun(
  named: RunPlan,
  host: RunHost,
  observers?: RunObservers,
): Promise<RunReport> {
  return await measureRun(await prepareRun(named, host), host, observers);
}

async function becomeReady(sut: Pick<RunSut, 'sut' | 'ready'>, host: RunHost): Promise<void> {
  try {
    await orAbort(host, sut.ready(host));
  } catch (error) {
    await sut.sut.stop(); // Later on the engine sees to that.
    throw error;
  }
}

function setupOf(
  plan: ProbePlan,
  { sut }: Pick<RunSut, 'sut'>,
  qsl: QuerySampleLibrary,
  { signal }: RunHost,
): TestSetup {
  const { settings, loadgen, stallTimeoutNs, generatorLagShareMax } = plan;
  const isDrained = plan.dispatch.onNodeLoss === 'drain';
  return {
    ...{ sut, qsl, settings, loadgen, stallTimeoutNs, generatorLagShareMax, signal },
    clock: monotonicClock,
    log: { ...plan.log, outdir: plan.output },
    drainTimeoutNs: isDrained ? stallTimeoutNs : DRAIN_TIMEOUT_NS,
  };
}

/** Where nobody wants records, the SUT's own times are not recorded either. */
function keepRecords(
  { keeps, records }: RunKeeper,
  onSet: RunObservers['onSet'],
): TestObserver['keepRecords'] {
  if (!keeps && onSet === undefined) return undefined;
  return async (set) => {
    onSet?.(set);
    if (keeps) await records.keep(set);
  };
}

/** The samples are the same in every probe: loading them anew would take longer than the probe. */
function staysLoaded(store: QuerySampleLibrary): QuerySampleLibrary {
  return {
    name: store.name,
    totalSampleCount: store.totalSampleCount,
    performanceSampleCount: store.performanceSampleCount,
    loadSamplesToRam: (sampleIndices) => store.loadSamplesToRam(sampleIndices),
    unloadSamplesFromRam: () => Promise.resolve(),
  };
}
