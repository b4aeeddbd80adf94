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

/**
 * Everything a test needs. The engine receives its parts ready-made: it builds no SUT and no
 * library.
 */
export interface TestSetup {
  readonly sut: SystemUnderTest;
  readonly qsl: QuerySampleLibrary;
  readonly settings: TestSettings;
  /**
   * Classes of queries that are judged apart; sample order is LoadGen's, whatever the shares.
   * Default: one lane with the bounds of the settings.
   */
  readonly lanes?: readonly LaneRequest[] | undefined;
  readonly clock: Clock;
  readonly log: LogSettings;
  /** LoadGen version to follow, decided by the round. Default: v4.1's. */
  readonly loadgen?: LoadgenBehaviour;
  /** Lines for the detail log about the configuration files, in order. Default: none. */
  readonly configEvents?: readonly ConfigEvent[];
  /**
   * Token latencies of the settings before audit.config, which decide what is logged about tokens
   * (LoadGen: StartTest). Default: those of `settings`.
   */
  readonly usesTokenLatenciesBeforeAudit?: boolean;
  /**
   * True: times between tokens are recorded in timed sets, if the SUT reports tokens as they come.
   * Default: false.
   */
  readonly timesTokens?: boolean;
  /**
   * True: extends a performance run until early stopping decides (Rule: inference_rules v4.1,
   * appendix). LoadGen does not do this; the logs note it. Default: false.
   */
  readonly extendsUntilDecided?: boolean;
  /**
   * Server: due times of the performance phase, in place of LoadGen's Poisson arrivals. LoadGen
   * does not do this; the logs note it. Default: LoadGen's.
   */
  readonly arrivals?: OtherArrivals | undefined;
  /**
   * Reasons why the test is not an MLPerf scenario: each mark is an error in the detail log.
   * Default: none.
   */
  readonly departures?: readonly { readonly mark: string }[] | undefined;
  /** Another LoadGen that issues the queries. Default: none, the clock here issues. */
  readonly driver?: IssueDriver | undefined;
  /** Longest time without a completion while samples are outstanding, in ns; then the run ends. */
  readonly stallTimeoutNs: number;
  /** Longest wait for outstanding samples after a fault of the SUT, in ns. */
  readonly drainTimeoutNs: number;
  /**
   * Largest share before a run is generator-bound. Server: p99 of LoadGen's dispatch lag / latency
   * bound. SingleStream and MultiStream: median delay of its event loop / typical latency. Default:
   * 0.1.
   */
  readonly generatorLagShareMax?: number | undefined;
  /** Check of the program's files against their manifest; goes to the detail log. */
  readonly selfCheck?: SelfCheck;
  /** Ctrl-C: stops issuing, outstanding samples get one more second, the logs say "incomplete". */
  readonly signal?: AbortSignal;
  /** Callbacks that watch, judge and store. Default: none. */
  readonly observer?: TestObserver;
}

/**
 * Callbacks that watch a test, judge what LoadGen cannot see, and store its records; the engine
 * does not depend on them.
 */
export interface TestObserver {
  /**
   * Called once at the end, untimed, before the verdict is made and written, so that screen and
   * logs agree. Must not throw.
   */
  readonly judge?: (test: JudgedTest) => Promise<Judgement>;
  /**
   * Receives the records of each set of the performance phase after its end, untimed; they stay in
   * memory only until it resolves. Its failure ends the test. Default: absent; then the SUT's own
   * times are not recorded.
   */
  readonly keepRecords?: ((set: RecordedSet) => Promise<void>) | undefined;
  /** Ends a performance run early. Default: absent. */
  readonly earlyEnd?: EarlyEnd | undefined;
  /** Watches LoadGen's process while a set of the performance phase is issued. Default: absent. */
  readonly generatorMonitor?: GeneratorMonitor | undefined;
  /** Called at the beginning of each phase, untimed. Must not throw. */
  readonly onPhase?: ((phase: TestPhase) => void) | undefined;
  /** Watches the samples of both phases. Default: absent, at no cost. */
  readonly sampleWatch?: SampleWatch | undefined;
  /**
   * Called about once a second while queries are issued and waited for, and at the end of each set.
   * Must not throw and should be fast: it is timed.
   */
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
}

/** Decides when a performance run may end early. */
export interface EarlyEnd {
  /** Times above which a query counts as late. */
  readonly bounds: readonly QueryBound[];
  /**
   * Called ten times a second while queries are issued; true ends the issuing. Must not throw and
   * should be fast: it is timed.
   */
  readonly isDecided: (seen: SetProgress) => boolean;
  /** True: a lost sample is counted and does not end the run. Default: false. */
  readonly goesOnAfterLoss?: boolean | undefined;
}

/** Results of a test after its SUT stopped and its accuracy log was closed. */
export interface JudgedTest {
  readonly accuracy: AccuracyOutcome | null;
  readonly performance: PerformanceOutcome | null;
  readonly accuracyLogPath: string;
  /** End of the other LoadGen's test; null without one, or if it never ends. */
  readonly driver: DriverEnd | null;
  /** SUT nodes that reported more time than passed, over both phases. */
  readonly excessTimes: readonly ExcessTimes[];
  /** Responses to abandoned samples, over both phases. */
  readonly lateResponses: number;
}

/** The caller's additions to the verdict and to the logs. */
export interface Judgement {
  /** Reasons for INVALID outside LoadGen's view, which knows no data and no network. */
  readonly problems: readonly SutProblem[];
  /** Whole sentences for readers of the logs. */
  readonly notes: readonly string[];
  /** Lines for the detail log, under the caller's own keys. */
  readonly details: readonly LoggedDetail[];
}

/** A line of the detail log that LoadGen does not know. */
export interface LoggedDetail {
  /** Starts with `longhaul_`. */
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
  /** One selector for the whole test: its values continue from set to set and phase to phase. */
  readonly selector: AccuracyLogSelector;
  readonly interruption: Interruption;
  /** Next ids; they count up over the whole test. */
  readonly nextIds: { queryId: number; responseId: number; part: number };
}

/** Result of work that was cut off by the abort signal. */
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

  /** The abort signal's reason if it is a defect of the program, else null. */
  get defect(): MlperfError | null {
    const reason: unknown = this.#signal?.reason;
    return reason instanceof MlperfError && reason.code === 'ERR_INTERNAL' ? reason : null;
  }

  /** Sets the callback for the signal; null removes it. One at a time. */
  notify(callback: (() => void) | null): void {
    this.#onInterrupt = callback;
  }

  /** Waits for `work`, or until the signal. */
  async orInterrupted<T>(work: Promise<T>): Promise<T | typeof INTERRUPTED> {
    return await Promise.race([work, this.#whenInterrupted]);
  }

  dispose(): void {
    this.#signal?.removeEventListener('abort', this.#listener);
  }
}

/** A set after it was issued, however it ended. */
export interface IssuedSet {
  readonly plan: QueryPlan;
  readonly recorder: SampleRecorder;
  readonly end: SetEnd;
  /** Health of LoadGen's process during the set; null without a monitor. */
  readonly health: GeneratorHealth | null;
}

/** A timed set, as input for its records. */
export interface RecordedSet extends IssuedSet {
  /**
   * Number of the set in the performance phase, from 0: an extended run, or a search, has several.
   */
  readonly part: number;
  /** Number of its first query in the test. */
  readonly firstQueryId: number;
}
