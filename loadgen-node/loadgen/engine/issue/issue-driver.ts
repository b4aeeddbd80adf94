import type { BorrowedBytes } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import type { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import type { QueryPlan } from '../../schedule/query-plan.ts';

/** A set whose queries an {@link IssueDriver} issues. */
export interface DrivenSet {
  /**
   * Plan made here from the same settings. The driver corrects `sampleIndices` if it issues other
   * samples.
   */
  readonly plan: QueryPlan;
  /** Clock of the set, so that the driver can convert its own timestamps. */
  nowNs(): number;
  /**
   * Reports that queries go out now.
   * @param first Number of the first query in the plan.
   * @param count Consecutive queries of one issue thread that go out in one call.
   * @param atNs Time of issue, by {@link nowNs}.
   */
  issue(first: number, count: number, atNs: number): void;
  /** Reports that nothing more will be issued. */
  endIssuing(): void;
  /** Reports that the driver broke. */
  breakOff(error: MlperfError): void;
}

/** The end of a driver's test. */
export interface DriverEnd {
  /** `result_validity` of its own log; undefined if the log has none, as after an accuracy run. */
  readonly isValid: boolean | undefined;
  /** Errors in its own log, in whole sentences. */
  readonly errors: readonly string[];
  /**
   * Number of samples issued that differ from the plan, and other differences as whole sentences; 0
   * and empty if both agree.
   */
  readonly otherSamples: number;
  readonly differences: readonly string[];
  /** Effective settings in its own log that differ from the requested ones; null if none do. */
  readonly otherSettings: OtherSettings | null;
}

/** Effective settings of a driver that differ from the requested ones. */
export interface OtherSettings {
  /** A whole sentence. */
  readonly text: string;
  readonly needed: string;
  readonly seen: string;
}

/**
 * Another LoadGen (MLPerf's C++ one) that decides when each query goes out and judges the run
 * itself. The engine here follows it and records the same queries by its own clock, so every figure
 * exists twice.
 */
export interface IssueDriver {
  /**
   * Starts the other LoadGen's test.
   * @param name Asks the SUT for its name; called whenever the other LoadGen asks.
   * @throws MlperfError `ERR_CONFIG_INVALID` if the other LoadGen rejects the settings
   */
  begin(name: () => Promise<string>): void;
  /**
   * Waits until the other LoadGen requests the samples of its next set. @returns Their indices, in
   * its order.
   */
  nextSet(): Promise<ArrayLike<number>>;
  /**
   * Call when the samples of that set are loaded: the other LoadGen issues and reports queries
   * until the set is over.
   */
  drive(set: DrivenSet): void;
  /** Reports a completed sample of the set. Timed. */
  readonly complete: (sample: number, payload: BorrowedBytes, tokenCount: number) => void;
  /** Reports the first token of a sample of the set. Timed. */
  readonly firstToken: (sample: number, payload: BorrowedBytes) => void;
  /** Call when the set has ended: passes buffered responses to the other LoadGen at once. */
  handOn(): void;
  /**
   * Waits until its test has ended and its logs are complete. Never resolves if a sample was lost.
   */
  ended(): Promise<DriverEnd>;
}
