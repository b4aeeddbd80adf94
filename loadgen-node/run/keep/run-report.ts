import type { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { NameCall } from '../../../shared/evidence/evidence-schema.ts';
import type { TestOutcome } from '../../loadgen/engine/test-outcome.ts';
import type { NetworkAudit } from '../../observe/audit/network-audit.ts';
import type { SampleRecords } from '../../observe/records/sample-records.ts';
import type { RunSummary } from '../../observe/summary/run-summary.ts';
import type { DataSetCheck } from '../../samples/data-set/check-data-set.ts';
import type { NamedQuality } from '../../samples/data-set/data-set.ts';
import type { ScoredAccuracy } from '../judge/score-accuracy.ts';
import type { RunPlan } from '../plan/run-plan.ts';

/** One run that came to its end. */
export interface RunReport extends JudgedFigures {
  readonly plan: RunPlan;
  readonly dataSetCheck: DataSetCheck;
  /** The models of the nodes, for people; none where the SUT has no nodes. */
  readonly models: readonly string[];
  readonly quality: NamedQuality;
  /** All calls of LoadGen's Name() to nodes. */
  readonly nameCalls: readonly NameCall[];
  readonly outcome: TestOutcome;
  readonly accuracy: ScoredAccuracy;
  /** What a reader of the result has to know; the same as in the logs. */
  readonly notes: readonly string[];
  /** Null where the SUT has no nodes: there is no network to audit. */
  readonly audit: NetworkAudit | null;
  /** What longhaul_summary.json says; null where the SUT has no nodes. */
  readonly summary: RunSummary | null;
  /** The records that the figures are of; null where there are none. */
  readonly records: SampleRecords | null;
  /** Why something beside LoadGen's logs could not be written; null: all was. The logs are whole all the same. */
  readonly problem: MlperfError | null;
}

/** The figures of a run and what follows from them, as longhaul_summary.json has them. */
export type JudgedFigures = Pick<
  RunSummary,
  | 'figures'
  | 'thresholds'
  | 'contractErrors'
  | 'peakTargetQps'
  | 'targetPercentile'
  | 'latencyBoundNs'
> & { readonly loadTest: Exclude<RunSummary['loadTest'], undefined> };

/** True when the run is VALID by longhaul's rules. */
export function isValid({ outcome }: Pick<RunReport, 'outcome'>): boolean {
  return outcome.verdicts.longhaul.isValid;
}

/** True when every threshold of a run is met; without any it is. They change neither LoadGen's verdict nor longhaul's. */
export function meetsThresholds({ thresholds }: Pick<RunReport, 'thresholds'>): boolean {
  return thresholds.every(({ isMet }) => isMet);
}

/** The result of a run for programs, what `longhaul run --json` prints: longhaul_summary.json, and where it lies. */
export function runDocument({ summary, plan }: RunReport): object {
  return { ...summary, folder: plan.output };
}
