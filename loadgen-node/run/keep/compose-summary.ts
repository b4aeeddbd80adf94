import { stringify } from 'yaml';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import type { TestOutcome } from '../../loadgen/engine/test-outcome.ts';
import type { GeneratorCeiling } from '../../loadgen/health/generator-health.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import type { NetworkAudit } from '../../observe/audit/network-audit.ts';
import { figuresOfOutcome } from '../../observe/figures/figures-of-outcome.ts';
import { figuresOf } from '../../observe/figures/figures-of-records.ts';
import { stepFigures } from '../../observe/figures/step-figures.ts';
import type { KeptRecords } from '../../observe/records/records-keeper.ts';
import type { SampleRecords } from '../../observe/records/sample-records.ts';
import { latencySplit } from '../../observe/split/latency-split.ts';
import {
  type LoadTest,
  type RunSummary,
  SUMMARY_SCHEMA_VERSION,
} from '../../observe/summary/run-summary.ts';
import { judgeThresholds } from '../../observe/thresholds/judge-thresholds.ts';
import { adviceOn } from '../../present/text/advice.ts';
import { accuracyInWords, isMet } from '../../samples/benchmarks/quality.ts';
import type { RunPlan } from '../plan/run-plan.ts';
import type { JudgedFigures, RunReport } from './run-report.ts';
import { summaryNodes } from './summary-nodes.ts';

/** What a summary is made of. */
export interface SummaryParts {
  readonly report: Omit<RunReport, 'summary' | 'problem'>;
  readonly audit: NetworkAudit;
  readonly kept: KeptRecords;
  /** Names of the SUT nodes in the order of their numbers. */
  readonly nodeNames: readonly string[];
  /** ISO 8601. */
  readonly startedAt: string;
  readonly ceiling: GeneratorCeiling | null;
}

/** Puts the result of a run together, one function per section; of one that was interrupted as far as it came. */
export function composeSummary(parts: SummaryParts): RunSummary {
  const { report, audit, ceiling } = parts;
  return {
    schemaVersion: SUMMARY_SCHEMA_VERSION,
    longhaul: packageVersion(),
    runId: audit.run.runId,
    protocol: audit.run.protocol,
    startedAt: parts.startedAt,
    ...whatOf(report),
    ...verdictsOf(report),
    ...figuresIn(report),
    ...generatorOf(report.outcome),
    split: splitOf(parts),
    health: report.outcome.performance?.health ?? null,
    ceiling,
    accuracy: accuracyOf(report),
    nodes: summaryNodes(audit),
    settings: settingsOf(report.plan),
    audit: audit.rules.map(({ id, verdict, why }) => ({ rule: id, verdict, text: why })),
    notes: report.notes,
    records: recordsOf(parts),
  };
}

function whatOf({
  plan,
  outcome,
}: SummaryParts['report']): Pick<
  RunSummary,
  'benchmark' | 'scenario' | 'mode' | 'round' | 'division' | 'sutName'
> {
  return {
    benchmark: plan.rules.key,
    scenario: plan.settings.scenario,
    mode: outcome.effectiveSettings.mode,
    round: plan.round,
    division: plan.dispatch.division,
    sutName: outcome.sutName,
  };
}

function verdictsOf({
  outcome,
  plan,
}: SummaryParts['report']): Pick<RunSummary, 'result' | 'verdict' | 'loadgenVerdict'> {
  const { isInterrupted, verdicts } = outcome;
  const { isValid, reasons } = verdicts.longhaul;
  const judged = isValid ? 'VALID' : 'INVALID';
  const advised = reasons.map((reason) => ({
    ...reason,
    advice: adviceOn(reason, outcome, plan.arrivals),
  }));
  return {
    result: isInterrupted ? 'INTERRUPTED' : judged,
    verdict: { isValid, reasons: advised },
    loadgenVerdict: verdicts.loadgen,
  };
}

function figuresIn(report: JudgedFigures): JudgedFigures {
  const { figures, thresholds, contractErrors } = report;
  const { peakTargetQps, targetPercentile, latencyBoundNs, loadTest } = report;
  return {
    ...{ figures, thresholds, contractErrors },
    ...{ peakTargetQps, targetPercentile, latencyBoundNs, loadTest },
  };
}

/**
 * Figures of a run and what follows from them.
 * @param records Those of the run's result; null: there are none, and the figures are those of the outcome.
 */
export function figuresOfRun(
  { outcome, plan }: Pick<RunReport, 'outcome' | 'plan'>,
  records: SampleRecords | null,
): JudgedFigures {
  const { performance, effectiveSettings, peakTargetQps } = outcome;
  const { scenario, targetLatencyNs, useTokenLatencies } = effectiveSettings;
  const contractErrors = performance?.counts.contractErrors ?? 0;
  // A token model has bounds for its tokens, and none for the whole latency.
  const latencyBoundNs = scenario === 'Server' && !useTokenLatencies ? targetLatencyNs : null;
  const ofOutcome = performance === null ? {} : figuresOfOutcome(performance);
  const figures =
    records === null ? ofOutcome : figuresOf(records, { scenario, latencyBoundNs, contractErrors });
  return {
    figures,
    thresholds: judgeThresholds(plan.thresholds, figures),
    contractErrors,
    peakTargetQps,
    targetPercentile:
      performance === null || scenario === 'Offline' ? null : performance.summary.target.percentile,
    latencyBoundNs,
    loadTest: loadTestOf(plan, records),
  };
}

/** Arrivals other than LoadGen's and their steps; null: they were LoadGen's. */
function loadTestOf({ arrivals }: RunPlan, records: SampleRecords | null): LoadTest | null {
  if (arrivals === undefined) return null;
  const hasSteps = arrivals.kind === 'step' && records !== null;
  const steps = hasSteps ? stepFigures(records, arrivals.steps) : null;
  return { arrivals: arrivals.text, steps };
}

function generatorOf({
  performance,
}: TestOutcome): Pick<RunSummary, 'isGeneratorBound' | 'generatorBoundReason'> {
  return {
    isGeneratorBound: performance?.isGeneratorBound ?? false,
    generatorBoundReason: performance?.generatorBoundReason ?? '',
  };
}

function splitOf({ kept: { records }, nodeNames }: SummaryParts): RunSummary['split'] {
  return records === null ? null : latencySplit(records, { nodeNames });
}

function accuracyOf({ accuracy, quality }: SummaryParts['report']): RunSummary['accuracy'] {
  const { report } = accuracy;
  if (report === undefined) return null;
  return {
    text: accuracyInWords(report),
    value: report.value,
    target: quality.target,
    isMet: isMet(report, quality),
  };
}

/** What was neither said nor has a default is left out. */
function settingsOf({ asked }: RunPlan): RunSummary['settings'] {
  return asked
    .filter(({ raw }) => raw !== undefined)
    .map(({ key, raw, source }) => ({
      key,
      value: stringify(raw, { collectionStyle: 'flow' }).trim(),
      source,
    }));
}

function recordsOf({ report: { outcome }, kept }: SummaryParts): RunSummary['records'] {
  if (kept.rowsInFile === null) return null;
  return {
    file: RUN_FILES.records,
    rows: kept.rowsInFile,
    parts: outcome.performance?.parts ?? [],
  };
}
