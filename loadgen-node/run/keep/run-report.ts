import { stringify } from 'yaml';
import type { NodeActivity } from '../../../qdl/index.ts';
import type { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import type { NameCall } from '../../../shared/evidence/evidence-schema.ts';
import { confNameOf } from '../../../shared/rules/benchmark-rules.ts';
import { isSutLost } from '../../loadgen/engine/issue/issue-threads.ts';
import type { TestOutcome } from '../../loadgen/engine/test-outcome.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import type { GeneratorCeiling } from '../../loadgen/results/generator-health.ts';
import { judgeThresholds, type ThresholdResult } from '../../observe/figures/condition.ts';
import { type RunFigures, withoutRates } from '../../observe/figures/figure-names.ts';
import { figuresOfOutcome } from '../../observe/figures/figures-of-outcome.ts';
import { figuresOf } from '../../observe/figures/figures-of-records.ts';
import { stepFigures } from '../../observe/figures/step-figures.ts';
import { type NetworkAudit, sharedCores } from '../../observe/network-audit.ts';
import type { KeptRecords } from '../../observe/records/records-keeper.ts';
import type { SampleRecords } from '../../observe/records/sample-records.ts';
import { latencySplit } from '../../observe/split/latency-split.ts';
import { serverStatistics } from '../../observe/split/server-statistics.ts';
import {
  boundsInSummary,
  type LoadTest,
  type RunSummary,
  SUMMARY_SCHEMA_VERSION,
} from '../../observe/summary/run-summary.ts';
import { adviceOn } from '../../present/text/advice.ts';
import { accuracyInWords, isMet } from '../../samples/benchmarks/score-each.ts';
import type { DataSetCheck } from '../../samples/data-set/check-data-set.ts';
import type { NamedQuality } from '../../samples/data-set/data-set.ts';
import type { RunHost } from '../host/host.ts';
import { servedModelText } from '../judge/run-notes.ts';
import type { ScoredAccuracy } from '../judge/score-accuracy.ts';
import type { RunPlan } from '../plan/run-plan.ts';

/** Figures of a run, and what follows from them. */
export interface ReportedFigures extends Pick<RunSummary, 'latencyBoundNs' | 'tokenBounds'> {
  readonly figures: RunFigures;
  /** Results of the user's thresholds. */
  readonly thresholds: readonly ThresholdResult[];
  readonly contractErrors: number;
  /** Result of LoadGen's own search for the peak; null without one. */
  readonly peakTargetQps: number | null;
  /** Percentile of the scenario, 0 to 1; null in Offline, and without a performance run. */
  readonly targetPercentile: number | null;
  /** Arrivals other than LoadGen's, and their steps; null for LoadGen's. */
  readonly loadTest: LoadTest | null;
}

/** One run that came to its end. */
export interface RunReport extends ReportedFigures {
  readonly plan: RunPlan;
  readonly dataSetCheck: DataSetCheck;
  /** The nodes' models as text; empty if the SUT has no nodes. */
  readonly models: readonly string[];
  readonly quality: NamedQuality;
  /** All calls of LoadGen's Name() to nodes. */
  readonly nameCalls: readonly NameCall[];
  readonly outcome: TestOutcome;
  readonly accuracy: ScoredAccuracy;
  /** Notes and marks for the reader; the same as in the logs. */
  readonly notes: readonly string[];
  /** Notes that change the meaning of the figures, without the note on one machine. */
  readonly keyNotes: readonly string[];
  /** Null if the SUT has no nodes: there is no network to audit. */
  readonly audit: NetworkAudit | null;
  /** Content of longhaul_summary.json; null if the SUT has no nodes. */
  readonly summary: RunSummary | null;
  /** The records that the figures are computed from; null without records. */
  readonly records: SampleRecords | null;
  /**
   * Files that could not be written, and errors outside the measurement: verdict and figures are
   * complete anyway.
   */
  readonly problems: readonly MlperfError[];
}

/** A report before the last of its files is written. */
export type EndedReport = Omit<RunReport, 'problems' | 'summary'> & {
  readonly summary: ComposedSummary | null;
};

/** A summary without the texts derived from it. */
type ComposedSummary = Omit<RunSummary, 'rows' | 'keyNotes'>;

/** True if the run is VALID by longhaul's rules. */
export function isValid({ outcome }: Pick<RunReport, 'outcome'>): boolean {
  return outcome.verdicts.longhaul.isValid;
}

/** Reports files that could not be written. */
export function tellProblems(
  { problems }: Pick<RunReport, 'problems'>,
  host: Pick<RunHost, 'report'>,
): void {
  for (const { message } of problems) host.report(`longhaul: ${message}`);
}

/**
 * True if every threshold of a run is met, or if there are none. Thresholds change neither
 * LoadGen's verdict nor longhaul's.
 */
export function meetsThresholds({ thresholds }: Pick<RunReport, 'thresholds'>): boolean {
  return thresholds.every(({ isMet }) => isMet);
}

/** Output of `longhaul run --json`: longhaul_summary.json and its path. */
export function runDocument({ summary, plan }: RunReport): object {
  return { ...summary, folder: plan.output };
}

/**
 * Composes the summary of a run; of an interrupted run, up to the interruption.
 * @param nodeNames In the order of the nodes' numbers.
 * @param startedAt ISO 8601.
 */
export function composeSummary(
  report: Omit<RunReport, 'summary' | 'problems'>,
  {
    audit,
    ceiling,
    kept,
    nodeNames,
    startedAt,
    usage,
  }: {
    readonly audit: NetworkAudit;
    readonly kept: KeptRecords;
    readonly nodeNames: readonly string[];
    readonly startedAt: string;
    /** The nodes' reports on their machines, in the same order. */
    readonly usage: readonly (readonly NonNullable<NodeActivity['usage']>[])[];
    readonly ceiling: GeneratorCeiling | null;
  },
): ComposedSummary {
  const { outcome, plan, accuracy, quality } = report;
  const { performance, isInterrupted, verdicts } = outcome;
  const { isValid, reasons } = verdicts.longhaul;
  const judged = isValid ? 'VALID' : 'INVALID';
  const scored = accuracy.report;
  return {
    schemaVersion: SUMMARY_SCHEMA_VERSION,
    longhaul: packageVersion(),
    runId: audit.run.runId,
    protocol: audit.run.protocol,
    startedAt,
    benchmark: confNameOf(plan.rules),
    scenario: plan.settings.scenario,
    mode: outcome.effectiveSettings.mode,
    round: plan.round,
    division: audit.run.division,
    ...(audit.run.engine !== undefined && { engine: audit.run.engine }),
    sutName: outcome.sutName,
    labels: plan.labels,
    result: isInterrupted ? 'INTERRUPTED' : judged,
    verdict: {
      isValid,
      cause: verdicts.longhaul.cause,
      reasons: reasons.map((reason) => ({
        ...reason,
        advice: adviceOn(reason, outcome, plan),
      })),
    },
    loadgenVerdict: verdicts.loadgen,
    figures: report.figures,
    thresholds: report.thresholds,
    contractErrors: report.contractErrors,
    peakTargetQps: report.peakTargetQps,
    targetPercentile: report.targetPercentile,
    latencyBoundNs: report.latencyBoundNs,
    tokenBounds: report.tokenBounds,
    loadTest: report.loadTest,
    isGeneratorBound: performance?.isGeneratorBound ?? false,
    generatorBoundReason: performance?.generatorBoundReason ?? '',
    split:
      kept.records === null
        ? null
        : latencySplit(kept.records, {
            nodeNames,
            isOneMachine: sharedCores(audit) !== null,
            hasModel: plan.rules.isSynthetic !== true,
            isGeneratorBound: performance?.isGeneratorBound,
          }),
    health: performance?.health ?? null,
    ceiling,
    accuracy:
      scored === undefined
        ? null
        : {
            text: accuracyInWords(scored),
            value: scored.value,
            target: quality.target,
            isMet: isMet(scored, quality),
          },
    nodes: summaryNodes(audit).map((node, i) => {
      const points = usage[i] ?? [];
      return points.length === 0 ? node : { ...node, usage: points };
    }),
    settings: settingsOf(plan),
    audit: audit.rules.map(({ id, verdict, why }) => ({ rule: id, verdict, text: why })),
    notes: report.notes,
    records:
      kept.rowsInFile === null
        ? null
        : { file: RUN_FILES.records, rows: kept.rowsInFile, parts: performance?.parts ?? [] },
  };
}

/**
 * Figures of a run, and what follows from them.
 * @param records Records of the run's result; null: the figures come from the outcome.
 */
export function figuresOfRun(
  outcome: TestOutcome,
  plan: RunPlan,
  records: SampleRecords | null,
  { report: scored }: ScoredAccuracy,
): ReportedFigures {
  const { performance, effectiveSettings, peakTargetQps } = outcome;
  const { scenario, bounds, lanes } = effectiveSettings;
  const contractErrors = performance?.counts.contractErrors ?? 0;
  const ofOutcome = performance === null ? {} : figuresOfOutcome(performance);
  const measured =
    records === null ? ofOutcome : figuresOf(records, { scenario, lanes, contractErrors });
  const isLost = performance !== null && isSutLost(performance.endCause);
  const figures = isLost ? withoutRates(measured) : measured;
  return {
    figures,
    thresholds: judgeThresholds(plan.thresholds, {
      ...figures,
      ...(scored !== undefined && { accuracy: scored.value }),
    }),
    contractErrors,
    peakTargetQps,
    targetPercentile:
      performance === null || scenario === 'Offline' ? null : performance.summary.target.percentile,
    ...boundsInSummary(bounds),
    loadTest: loadTestOf(plan, records),
  };
}

function loadTestOf({ arrivals }: RunPlan, records: SampleRecords | null): LoadTest | null {
  if (arrivals === undefined) return null;
  const hasSteps = arrivals.kind === 'step' && records !== null;
  const steps = hasSteps ? stepFigures(records, arrivals.steps) : null;
  return { arrivals: arrivals.text, steps };
}

/** Omits settings without a value and without a default. */
function settingsOf({ asked }: RunPlan): RunSummary['settings'] {
  return asked
    .filter(({ raw }) => raw !== undefined)
    .map(({ key, raw, source }) => ({
      key,
      value: stringify(raw, { collectionStyle: 'flow' }).trim(),
      source,
    }));
}

/** The SUT nodes of a run for its summary. */
export function summaryNodes(audit: NetworkAudit): RunSummary['nodes'] {
  const { server: requests } = audit;
  return audit.nodes.map((node) => {
    const { address, description, streams, ours } = node;
    const reported = node.server;
    const counts = {
      issuedSamples: ours.sampleCount,
      completedSamples: ours.completedCount,
      failedSamples: ours.failedCount,
    };
    if (reported === undefined || requests === null) {
      return {
        address,
        name: streams[0]?.nodeName ?? description?.name ?? '',
        model: streams[0]?.model ?? description?.model?.name ?? '',
        ...counts,
      };
    }
    const asked = audit.nameCalls[0]?.nodes.find((one) => one.address === address);
    const { serverName, serverVersion, statistics } = reported;
    return {
      address,
      name: asked?.name ?? serverName,
      model: servedModelText(reported, requests),
      ...counts,
      server: {
        name: serverName,
        version: serverVersion,
        statistics: statistics === null ? null : serverStatistics(statistics),
      },
    };
  });
}
