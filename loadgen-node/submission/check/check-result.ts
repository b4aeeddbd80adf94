import type { NetworkAudit } from '../../observe/audit/network-audit.ts';
import { metricOf } from '../rules/result-metric.ts';
import type { RunLog } from './read/run-log.ts';
import type { ResultSite } from './read/sites.ts';
import type { CheckedResult } from './report/check-report.ts';
import { checkAccuracy } from './result/accuracy-text.ts';
import { checkAudit } from './result/check-audit.ts';
import { checkCompliance } from './result/check-compliance.ts';
import { checkPerformanceRun } from './result/check-performance.ts';
import { measuredScenario } from './result/inferred-result.ts';
import { checkMeasurements } from './result/measurements.ts';

/** Checks all of one result: a scenario of a model on a system. */
export async function checkResult(found: ResultSite): Promise<CheckedResult> {
  const site = { ...found, measured: await measuredScenario(found) };
  const { findings, layout } = site;
  findings.check('result', site);
  checkMeasurements(site);
  const log = await checkPerformanceRun(site, layout.performance(site.place));
  const accuracy = await checkAccuracy(site);
  const tests = await checkCompliance(site, log);
  const runs = new Map<string, RunLog>();
  if (log !== undefined) runs.set('performance', log);
  if (accuracy.log !== undefined) runs.set('accuracy', accuracy.log);
  for (const [test, one] of tests) runs.set(test, one);
  const audits = new Map<string, NetworkAudit>();
  for (const [run, one] of site.division === 'network' ? runs : []) {
    const audit = checkAudit(site, run, one);
    if (audit !== undefined) audits.set(run, audit);
  }
  findings.check('read', { ...site, runs, audits, notes: accuracy.text?.notes ?? [] });
  return checkedResult(site, log, accuracy.text?.figures[0]?.[0]?.text);
}

function checkedResult(
  { division, submitter, system, modelFolder, model, scenario, measured }: ResultSite,
  log: RunLog | undefined,
  accuracy: string | undefined,
): CheckedResult {
  const metric = metricOf(model, scenario, measured);
  const figure = (key: string): number | null => log?.number(key) ?? null;
  return {
    division,
    submitter,
    system,
    model: modelFolder,
    scenario,
    metric,
    value: figure(metric),
    p99Ns: figure('result_99.00_percentile_latency_ns'),
    boundNs: scenario === 'Offline' ? null : figure('effective_target_latency_ns'),
    accuracy: accuracy ?? null,
  };
}
