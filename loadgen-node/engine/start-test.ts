import type { Clock } from '../../shared/clock/clock.ts';
import type { QuerySampleLibrary } from '../../shared/domain/query-sample-library.ts';
import type { SystemUnderTest } from '../../shared/domain/system-under-test.ts';
import type { LoadgenBehaviour } from '../settings/loadgen-behaviour.ts';
import type { LogSettings } from '../settings/log-settings.ts';
import type { TestSettings } from '../settings/test-settings.ts';
import type { RunProgress, TestOutcome } from './test-outcome.ts';

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
  /** Ctrl-C: nothing more is issued, outstanding samples get a second, the logs say "incomplete". */
  readonly signal?: AbortSignal;
  /** About once a second while queries are issued. Must not throw and should be short: it is timed. */
  readonly onProgress?: (progress: RunProgress) => void;
}

/**
 * Runs one test: accuracy, performance, or both (LoadGen: StartTest).
 *
 * INVALID is a result, not an error. Whatever happens, the SUT is stopped once and the logs are
 * written as far as the test came.
 * @throws MlperfError `ERR_OUTPUT` before anything is issued when the logs cannot be opened, later
 *   when the disk fails; `ERR_CONFIG_INVALID` when the settings cannot be run; whatever the SUT's
 *   first name, the SUT's start or the sample library throw.
 */
export function startTest(parts: TestParts): Promise<TestOutcome> {
  throw new Error(`not yet: ${parts.settings.scenario}`);
}
