import type { Clock } from '../../shared/clock/clock.ts';
import type { QuerySampleLibrary } from '../../shared/domain/query-sample-library.ts';
import type { SystemUnderTest } from '../../shared/domain/system-under-test.ts';
import type { TestLogs } from '../logs/test-logs.ts';
import type { AccuracyLogSelector } from '../schedule/accuracy-log-selection.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import type { LoadgenBehaviour } from '../settings/loadgen-behaviour.ts';
import type { LogSettings } from '../settings/log-settings.ts';
import type { TestSettings } from '../settings/test-settings.ts';
import type { Interruption } from './interruption.ts';
import type { EngineResponseSink } from './response-sink.ts';
import type { AccuracyOutcome, RunProgress } from './test-outcome.ts';
import type { SutProblem } from './verdicts.ts';

/** Everything a test needs. The parts come ready-made: the engine builds no SUT and no library. */
export interface TestParts {
  readonly sut: SystemUnderTest;
  readonly qsl: QuerySampleLibrary;
  readonly settings: TestSettings;
  readonly clock: Clock;
  readonly log: LogSettings;
  /** LoadGen whose behaviour is followed; the round decides. Default: v4.1's. */
  readonly loadgen?: LoadgenBehaviour;
  /** Longest time without any completion while samples are outstanding, in ns; then the run ends. */
  readonly stallTimeoutNs: number;
  /** Longest wait for outstanding samples after a fault of the SUT, in ns. */
  readonly drainTimeoutNs: number;
  /**
   * Server: share of the latency bound that p99 of LoadGen's own dispatch lag may take before the run is
   * generator-bound. Default: 0.1.
   */
  readonly generatorLagShareMax?: number | undefined;
  /** Ctrl-C: nothing more is issued, outstanding samples get a second, the logs say "incomplete". */
  readonly signal?: AbortSignal;
  /**
   * Called once at the end, untimed, before the verdict is made and written: screen and logs must say
   * the same. Must not throw.
   */
  readonly judge?: (test: JudgedTest) => Promise<Judgement>;
  /** About once a second while queries are issued. Must not throw and should be short: it is timed. */
  readonly onProgress?: (progress: RunProgress) => void;
}

/** What is known when the SUT has been stopped and the accuracy log is whole. */
export interface JudgedTest {
  readonly accuracy: AccuracyOutcome | null;
  readonly accuracyLogPath: string;
}

/** What the caller adds to the verdict and to the logs. */
export interface Judgement {
  /** Reasons for INVALID that LoadGen, which knows no data and no network, cannot see. */
  readonly problems: readonly SutProblem[];
  /** What a reader of the logs has to know; whole sentences. */
  readonly notes: readonly string[];
}

/** What the phases of one test share. */
export interface TestContext {
  readonly parts: TestParts;
  readonly effective: EffectiveSettings;
  readonly loadgen: LoadgenBehaviour;
  readonly logs: TestLogs;
  readonly sink: EngineResponseSink;
  /** Lives for the whole test: its values go on from set to set and phase to phase. */
  readonly selector: AccuracyLogSelector;
  readonly interruption: Interruption;
  /** Ids count up over the whole test. */
  readonly nextIds: { queryId: number; responseId: number };
}
