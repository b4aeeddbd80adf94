import type { Clock } from '../../../shared/base/clock.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type {
  QuerySampleLibrary,
  SystemUnderTest,
} from '../../../shared/domain/system-under-test.ts';
import type { SelfCheck } from '../logs/write/header-lines.ts';
import type { LogSettings, TestLogs } from '../logs/write/test-logs.ts';
import type { SampleWatch } from '../recorder/recording.ts';
import type { SampleRecorder } from '../recorder/sample-recorder.ts';
import type { ExcessTimes } from '../recorder/told-times.ts';
import type { GeneratorHealth, GeneratorMonitor } from '../results/generator-health.ts';
import type { AccuracyLogSelector } from '../schedule/accuracy-log-selection.ts';
import type { OtherArrivals } from '../schedule/arrivals/arrivals.ts';
import type { QueryPlan } from '../schedule/query-plan.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import type { ConfigEvent } from '../settings/from-config.ts';
import type { LaneRequest } from '../settings/lanes.ts';
import type { LoadgenBehaviour } from '../settings/loadgen-behaviour.ts';
import type { QueryBound } from '../settings/query-bounds.ts';
import type { TestSettings } from '../settings/test-settings.ts';
import type { DriverEnd, IssueDriver } from './issue/issue-driver.ts';
import type { SetEnd } from './issue/issue-query-controller.ts';
import type { EngineResponseSink } from './response-sink.ts';
import type {
  AccuracyOutcome,
  PerformanceOutcome,
  RunProgress,
  SetProgress,
  TestPhase,
} from './test-outcome.ts';
import type { SutProblem } from './verdicts.ts';

/** Everything a test needs. The parts come ready-made: the engine builds no SUT and no library. */
export interface TestSetup {
  readonly sut: SystemUnderTest;
  readonly qsl: QuerySampleLibrary;
  readonly settings: TestSettings;
  /**
   * Classes of the queries, which are judged apart; the order of the samples is LoadGen's, whatever the shares. Default: one, with the
   * bounds of the settings.
   */
  readonly lanes?: readonly LaneRequest[] | undefined;
  readonly clock: Clock;
  readonly log: LogSettings;
  /** LoadGen whose behaviour is followed; the round decides. Default: v4.1's. */
  readonly loadgen?: LoadgenBehaviour;
  /** Lines for the detail log from reading the configuration files, in order. Default: none. */
  readonly configEvents?: readonly ConfigEvent[];
  /**
   * Token latencies of the settings before audit.config, which decide what is logged about tokens
   * (LoadGen: StartTest). Default: those of `settings`.
   */
  readonly usesTokenLatenciesBeforeAudit?: boolean;
  /** Times between tokens are kept in timed sets, where the SUT tells tokens as they come. Default: false. */
  readonly timesTokens?: boolean;
  /**
   * True: a performance run that early stopping has not decided goes on (Rule: inference_rules v4.1,
   * appendix). Not what LoadGen does; the logs name it. Default: false.
   */
  readonly extendsUntilDecided?: boolean;
  /**
   * Server: when queries of the performance phase are due, in place of LoadGen's Poisson arrivals. Not what LoadGen does; the logs
   * name it. Default: LoadGen's.
   */
  readonly arrivals?: OtherArrivals | undefined;
  /** What makes the test no scenario of MLPerf: marks are errors in the detail log. Default: none. */
  readonly departures?: readonly { readonly mark: string }[] | undefined;
  /** Another LoadGen that issues the queries. Default: they are issued by the clock here. */
  readonly driver?: IssueDriver | undefined;
  /** Longest time without any completion while samples are outstanding, in ns; then the run ends. */
  readonly stallTimeoutNs: number;
  /** Longest wait for outstanding samples after a fault of the SUT, in ns. */
  readonly drainTimeoutNs: number;
  /**
   * Server: share of the latency bound that p99 of LoadGen's own dispatch lag may take before the run is
   * generator-bound; in streams the share of a typical latency that the median delay of its event loop may take. Default: 0.1.
   */
  readonly generatorLagShareMax?: number | undefined;
  /** The program's own files against their manifest; goes to the detail log. */
  readonly selfCheck?: SelfCheck;
  /** Ctrl-C: stops issuing, outstanding samples get a second, the logs say "incomplete". */
  readonly signal?: AbortSignal;
  /** Callbacks that watch, judge and keep. Default: none. */
  readonly observer?: TestObserver;
}

/** Callbacks that watch a test, judge what LoadGen cannot, and keep its records: the engine does not depend on them. */
export interface TestObserver {
  /**
   * Called once at the end, untimed, before the verdict is made and written: screen and logs must say
   * the same. Must not throw.
   */
  readonly judge?: (test: JudgedTest) => Promise<Judgement>;
  /**
   * Takes the records of each set of the performance phase after its end, untimed: they stay in memory only until it
   * resolves. Its failure ends the test. Default: absent, and the SUT's own times are not recorded.
   */
  readonly keepRecords?: ((set: RecordedSet) => Promise<void>) | undefined;
  /** Ends a performance run before its time. Default: absent. */
  readonly earlyEnd?: EarlyEnd | undefined;
  /** Watches LoadGen's process while a set of the performance phase is issued. Default: absent. */
  readonly generatorMonitor?: GeneratorMonitor | undefined;
  /** Called at the beginning of each phase, untimed. Must not throw. */
  readonly onPhase?: ((phase: TestPhase) => void) | undefined;
  /** Watches the samples of both phases. Default: absent, at no cost. */
  readonly sampleWatch?: SampleWatch | undefined;
  /**
   * About once a second while queries are issued and waited for, and at the end of each set. Must not throw and should be
   * short: it is timed.
   */
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
}

/** Who may end a performance run once it has seen enough. */
export interface EarlyEnd {
  /** Times above which a query counts as over. */
  readonly bounds: readonly QueryBound[];
  /** Asked ten times a second while queries are issued; true ends the issuing. Must not throw and should be short: it is timed. */
  readonly isDecided: (seen: SetProgress) => boolean;
  /** True: a lost sample is counted, and does not end the run. Default: false. */
  readonly goesOnAfterLoss?: boolean | undefined;
}

/** Results of a test whose SUT has been stopped and whose accuracy log is whole. */
export interface JudgedTest {
  readonly accuracy: AccuracyOutcome | null;
  readonly performance: PerformanceOutcome | null;
  readonly accuracyLogPath: string;
  /** How the test of another LoadGen ended; null where there was none, or where it never ends. */
  readonly driver: DriverEnd | null;
  /** Nodes of the SUT that reported more time than passed, over both phases. */
  readonly excessTimes: readonly ExcessTimes[];
  /** Responses that came to samples which had been given up, over both phases. */
  readonly lateResponses: number;
}

/** Additions of the caller to the verdict and to the logs. */
export interface Judgement {
  /** Reasons for INVALID that LoadGen, which knows no data and no network, cannot see. */
  readonly problems: readonly SutProblem[];
  /** Whole sentences for readers of the logs. */
  readonly notes: readonly string[];
  /** Lines for the detail log, under keys of the caller's own. */
  readonly details: readonly LoggedDetail[];
}

/** A line of the detail log that LoadGen does not know. */
export interface LoggedDetail {
  /** Begins with `longhaul_`. */
  readonly key: string;
  readonly value: Readonly<Record<string, string>>;
}

/** State that the phases of one test share. */
export interface TestContext {
  readonly parts: TestSetup;
  readonly effective: EffectiveSettings;
  readonly loadgen: LoadgenBehaviour;
  readonly logs: TestLogs;
  readonly sink: EngineResponseSink;
  /** Clock when the logs began. */
  readonly logBeginNs: number;
  /** Lives for the whole test: its values go on from set to set and phase to phase. */
  readonly selector: AccuracyLogSelector;
  readonly interruption: Interruption;
  /** Ids count up over the whole test. */
  readonly nextIds: { queryId: number; responseId: number; part: number };
}

/** Stands for the result of work that the abort signal overtook. */
export const INTERRUPTED: unique symbol = Symbol('interrupted');

/** The abort signal of a test, for work that waits. */
export class Interruption {
  readonly #signal: AbortSignal | undefined;
  readonly #whenInterrupted: Promise<typeof INTERRUPTED>;
  #listener: () => void = () => undefined;
  #onInterrupt: (() => void) | null = null;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    this.#whenInterrupted = new Promise((resolve) => {
      this.#listener = () => {
        resolve(INTERRUPTED);
        this.#onInterrupt?.();
      };
    });
    if (signal?.aborted) this.#listener();
    else signal?.addEventListener('abort', this.#listener);
  }

  get isInterrupted(): boolean {
    return this.#signal?.aborted ?? false;
  }

  /** The abort signal's reason, where that is a defect of the program. */
  get defect(): MlperfError | null {
    const reason: unknown = this.#signal?.reason;
    return reason instanceof MlperfError && reason.code === 'ERR_INTERNAL' ? reason : null;
  }

  /** Calls `callback` at once on the signal; null takes it back. One at a time. */
  notify(callback: (() => void) | null): void {
    this.#onInterrupt = callback;
  }

  /** Waits for `work`, but not beyond the signal. */
  async orInterrupted<T>(work: Promise<T>): Promise<T | typeof INTERRUPTED> {
    return await Promise.race([work, this.#whenInterrupted]);
  }

  dispose(): void {
    this.#signal?.removeEventListener('abort', this.#listener);
  }
}

/** A set that was issued, to whatever end. */
export interface IssuedSet {
  readonly plan: QueryPlan;
  readonly recorder: SampleRecorder;
  readonly end: SetEnd;
  /** Health of LoadGen's process during the set; null without a monitor. */
  readonly health: GeneratorHealth | null;
}

/** A set under the clock, for those who keep its records. */
export interface RecordedSet extends IssuedSet {
  /** Number among the sets of the performance phase, from 0: a run that was extended, or a search, has several. */
  readonly part: number;
  /** Number of its first query in the whole test. */
  readonly firstQueryId: number;
}
