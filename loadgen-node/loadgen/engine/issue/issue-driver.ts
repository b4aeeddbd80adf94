import type { BorrowedBytes } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import type { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import type { QueryPlan } from '../../schedule/query-plan.ts';

/** A set whose queries an {@link IssueDriver} issues. */
export interface DrivenSet {
  /** Made here from the same settings. The driver corrects `sampleIndices` where it issues others. */
  readonly plan: QueryPlan;
  /** The clock of the set, for stamps of other clocks. */
  nowNs(): number;
  /**
   * Queries go out now.
   * @param first Number of the first in the plan.
   * @param count Neighbours of the same issue thread that go out in one call.
   * @param atNs When they were issued, by {@link nowNs}.
   */
  issue(first: number, count: number, atNs: number): void;
  /** Nothing more will be issued. */
  endIssuing(): void;
  /** The driver broke. */
  breakOff(error: MlperfError): void;
}

/** The end of a driver's test. */
export interface DriverEnd {
  /** `result_validity` of its own log; undefined where it has none, as after an accuracy run. */
  readonly isValid: boolean | undefined;
  /** Errors in its own log, in whole sentences. */
  readonly errors: readonly string[];
  /** Samples that it issued otherwise than the plan says, and what else differs, in whole sentences; both empty where the two agree. */
  readonly otherSamples: number;
  readonly differences: readonly string[];
  /** Settings in effect by its own log that are not those requested; null where they are. */
  readonly otherSettings: OtherSettings | null;
}

/** Settings of a driver that are not those requested. */
export interface OtherSettings {
  /** A whole sentence. */
  readonly text: string;
  readonly needed: string;
  readonly seen: string;
}

/**
 * Another LoadGen, which decides when each query goes out and judges the run by itself: MLPerf's own. The engine here follows it: it
 * records the same queries by its own clock, so that every figure exists twice.
 */
export interface IssueDriver {
  /**
   * Starts the other LoadGen's test.
   * @param name Asks the SUT for its name whenever the other LoadGen does.
   * @throws MlperfError `ERR_CONFIG_INVALID` where it does not take the settings
   */
  begin(name: () => Promise<string>): void;
  /** Waits until it wants the samples of its next set loaded. @returns Them, in its order. */
  nextSet(): Promise<ArrayLike<number>>;
  /** The samples of that set are loaded: it issues, and tells of it, until the set is over. */
  drive(set: DrivenSet): void;
  /** A sample of the set is complete. Timed. */
  readonly complete: (sample: number, payload: BorrowedBytes, tokenCount: number) => void;
  /** The first token of a sample of the set is there. Timed. */
  readonly firstToken: (sample: number, payload: BorrowedBytes) => void;
  /** The set has ended: responses that are held go to the other LoadGen now, before anything else is done. */
  handOn(): void;
  /** Waits for the end of its test and of its logs. Never resolves where a sample was lost. */
  ended(): Promise<DriverEnd>;
}
