import type { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { TestOutcome, Verdict } from '../loadgen/engine/test-outcome.ts';
import type { NetworkAudit } from '../observe/audit/network-audit.ts';
import type { RunFigures } from '../observe/figures/figure-names.ts';
import type { SampleRecords } from '../observe/records/sample-records.ts';
import type { LoadTest, RunSummary } from '../observe/summary/run-summary.ts';
import type { ThresholdResult } from '../observe/thresholds/condition.ts';

/** Accuracy against its target, both from 0 to 1. */
export interface AccuracyResult {
  /** `top-1`, ... */
  readonly metric: string;
  readonly value: number;
  readonly target: number;
  readonly isMet: boolean;
}

/** What a test came to. INVALID is a result, not an error. */
export interface TestResult {
  readonly result: 'VALID' | 'INVALID' | 'INTERRUPTED';
  /** longhaul's verdict. */
  readonly verdict: Verdict;
  /** LoadGen's own, which ignores logged errors. */
  readonly loadgenVerdict: Verdict;
  /** Figures of the performance phase by name; times in ns. One that the test does not have is absent. */
  readonly figures: RunFigures;
  /** Of a test with `arrivals` other than LoadGen's: what its steps came to. */
  readonly loadTest: LoadTest | null;
  /** In the order of the settings; apart from the verdicts. */
  readonly thresholds: readonly ThresholdResult[];
  /** True also without thresholds. */
  readonly meetsThresholds: boolean;
  /** Null: no accuracy phase, or one without an accuracy. */
  readonly accuracy: AccuracyResult | null;
  /** Mode `find-peak`: the rate that LoadGen's own search found. */
  readonly peakTargetQps: number | null;
  /** A row per sample of the performance phase; null: there was none, it was a search, or none were kept. */
  readonly records: SampleRecords | null;
  /** Rules of the Network division; null for a SUT that is no QDL. */
  readonly audit: NetworkAudit | null;
  /** longhaul_summary.json; null for a SUT that is no QDL. */
  readonly summary: RunSummary | null;
  /** Why records or summary could not be written; null: they were. Logs and figures are whole all the same. */
  readonly problem: MlperfError | null;
  /** What a reader of the result has to know; whatever shows the result has to show them. */
  readonly notes: readonly string[];
  /** Folder of the logs. */
  readonly output: string;
  /** All that LoadGen knows of the test. Less stable than the other fields. */
  readonly outcome: TestOutcome;
}
