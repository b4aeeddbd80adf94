import { posix } from 'node:path';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import type { NetworkAudit } from '../../observe/audit/network-audit.ts';
import { inferredFigure, mayInfer, metricOf } from '../rules/result-metric.ts';
import type { SubmissionScenario } from '../rules/submission-model.ts';
import { sha256OfFile } from '../tree/file-work.ts';
import { suitesOf } from './read/description-values.ts';
import type { RunLog } from './read/run-log.ts';
import type { CheckContext, ResultSite } from './read/sites.ts';
import type { CheckedResult } from './report/check-report.ts';
import { checkAccuracy } from './result/check-accuracy.ts';
import { checkAudit } from './result/check-audit.ts';
import { checkCompliance, checkPerformanceRun } from './result/check-compliance.ts';
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

/**
 * The scenario that was measured: that of the folder, unless the result is inferred. It is where the system may infer
 * it, and its logs are copies of those of the measured scenario beside it; a notice says so then.
 * Source: inference_rules v4.1, "Benchmarks" ("create copies of the directories for the inferred results").
 */
async function measuredScenario(site: ResultSite): Promise<SubmissionScenario> {
  const { scenario, division, description, place, scenarios } = site;
  if (division === 'network' || !mayInfer(suitesOf(description), scenario)) return scenario;
  const { layout, listing, logs, findings } = site;
  const file = posix.join(layout.performance(place), RUN_FILES.detail);
  if (!listing.hasFile(file)) return scenario;
  // What cannot be read is found when the log is checked.
  const log = await logs.read(file).catch(() => undefined);
  const seen = log?.records.get('effective_scenario')?.value;
  const isSeen = ([, one]: [string, unknown]): boolean => seen !== undefined && one === seen;
  const [folder, from] = [...scenarios].find(isSeen) ?? [];
  if (from === undefined || inferredFigure(scenario, from) === undefined) return scenario;
  const source = { ...place, scenario: folder as SubmissionScenario };
  const pairs = [layout.performance, layout.accuracy].map((of) =>
    [place, source].map((one) => posix.join(of.call(layout, one), RUN_FILES.detail)),
  );
  for (const pair of pairs) {
    if (!(await areEqual(site, pair as [string, string]))) return scenario;
  }
  findings.add('result-inferred', layout.result(place), `It is inferred from ${from}.`);
  return from;
}

async function areEqual({ listing }: CheckContext, files: [string, string]): Promise<boolean> {
  const [bytes, other] = files.map((file) => listing.bytesOf(file));
  if (bytes === undefined || bytes !== other) return false;
  const digests = files.map((file) => sha256OfFile(listing.pathOf(file)));
  const [digest, same] = await Promise.all(digests).catch(() => [undefined, '']);
  return digest === same;
}
