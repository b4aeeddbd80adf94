import { packageVersion } from '../../shared/process/package-files.ts';
import { accuracyInWords, isMet } from '../benchmarks/quality.ts';
import { isValid, type RunReport } from './perform-run.ts';
import { runFigures, thresholdResults } from './run-thresholds.ts';

/** The result of a run for programs: what `longhaul run --json` prints. */
export function runDocument(report: RunReport): object {
  const { plan, outcome, notes, quality } = report;
  const { performance, verdicts, effectiveSettings } = outcome;
  const scored = report.accuracy.report;
  return {
    longhaul: packageVersion(),
    benchmark: plan.rules.key,
    scenario: effectiveSettings.scenario,
    mode: effectiveSettings.mode,
    round: plan.round,
    division: plan.division,
    sutName: outcome.sutName,
    result: resultOf(report),
    verdict: verdicts.longhaul,
    loadgenVerdict: verdicts.loadgen,
    figures: performance === null ? {} : runFigures(performance),
    thresholds: thresholdResults(plan, outcome),
    isGeneratorBound: performance?.isGeneratorBound ?? false,
    generatorBoundReason: performance?.generatorBoundReason ?? '',
    accuracy:
      scored === undefined
        ? null
        : {
            text: accuracyInWords(scored),
            value: scored.value,
            target: quality.target,
            isMet: isMet(scored, quality),
          },
    folder: plan.output,
    notes,
  };
}

function resultOf(report: RunReport): 'VALID' | 'INVALID' | 'INTERRUPTED' {
  if (report.outcome.isInterrupted) return 'INTERRUPTED';
  return isValid(report) ? 'VALID' : 'INVALID';
}
