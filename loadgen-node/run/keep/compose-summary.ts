import { stringify } from 'yaml';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import type { GeneratorCeiling } from '../../loadgen/health/generator-health.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import type { NetworkAudit } from '../../observe/audit/network-audit.ts';
import { figuresOfOutcome } from '../../observe/figures/figures.ts';
import { figuresOf, stepFigures } from '../../observe/figures/figures-of-records.ts';
import type { KeptRecords } from '../../observe/records/records-keeper.ts';
import type { SampleRecords } from '../../observe/records/sample-records.ts';
import { latencySplit } from '../../observe/split/latency-split.ts';
import { serverStatistics } from '../../observe/split/server-statistics.ts';
import {
  type LoadTest,
  type RunSummary,
  SUMMARY_SCHEMA_VERSION,
} from '../../observe/summary/run-summary.ts';
import { judgeThresholds } from '../../observe/thresholds/condition.ts';
import { adviceOn } from '../../present/text/advice.ts';
import { accuracyInWords, isMet } from '../../samples/benchmarks/score-each.ts';
import { oipModelText } from '../judge/oip-notes.ts';
import type { RunPlan } from '../plan/run-plan.ts';
import type { JudgedFigures, RunReport } from './run-report.ts';

/** The parts of a run's summary. */
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

/** Puts the result of a run together; of one that was interrupted as far as it came. */
export function composeSummary(parts: SummaryParts): RunSummary {
  const { report, audit, ceiling, kept, nodeNames, startedAt } = parts;
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
    benchmark: plan.rules.key,
    scenario: plan.settings.scenario,
    mode: outcome.effectiveSettings.mode,
    round: plan.round,
    division: plan.dispatch.division,
    sutName: outcome.sutName,
    result: isInterrupted ? 'INTERRUPTED' : judged,
    verdict: {
      isValid,
      reasons: reasons.map((reason) => ({
        ...reason,
        advice: adviceOn(reason, outcome, plan.arrivals),
      })),
    },
    loadgenVerdict: verdicts.loadgen,
    figures: report.figures,
    thresholds: report.thresholds,
    contractErrors: report.contractErrors,
    peakTargetQps: report.peakTargetQps,
    targetPercentile: report.targetPercentile,
    latencyBoundNs: report.latencyBoundNs,
    loadTest: report.loadTest,
    isGeneratorBound: performance?.isGeneratorBound ?? false,
    generatorBoundReason: performance?.generatorBoundReason ?? '',
    split: kept.records === null ? null : latencySplit(kept.records, { nodeNames }),
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
    nodes: summaryNodes(audit),
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

/** Settings without a value, said or by default, are left out. */
function settingsOf({ asked }: RunPlan): RunSummary['settings'] {
  return asked
    .filter(({ raw }) => raw !== undefined)
    .map(({ key, raw, source }) => ({
      key,
      value: stringify(raw, { collectionStyle: 'flow' }).trim(),
      source,
    }));
}

/** The SUT nodes of a run as its summary has them. */
export function summaryNodes({ nodes, nameCalls, oip: ofRun }: NetworkAudit): RunSummary['nodes'] {
  return nodes.map(({ address, description, streams, ours, oip }) => {
    const counts = {
      issuedSamples: ours.sampleCount,
      completedSamples: ours.completedCount,
      failedSamples: ours.failedCount,
    };
    if (oip === undefined || ofRun === null) {
      return {
        address,
        name: streams[0]?.nodeName ?? description?.name ?? '',
        model: streams[0]?.model ?? description?.model?.name ?? '',
        ...counts,
      };
    }
    const asked = nameCalls[0]?.nodes.find((node) => node.address === address);
    const { serverName, serverVersion, statistics } = oip;
    return {
      address,
      name: asked?.name ?? serverName,
      model: oipModelText(oip, ofRun),
      ...counts,
      server: {
        name: serverName,
        version: serverVersion,
        statistics: statistics === null ? null : serverStatistics(statistics),
      },
    };
  });
}
