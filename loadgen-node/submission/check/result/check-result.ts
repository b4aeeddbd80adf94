import { posix } from 'node:path';
import type { NetworkAudit } from '../../../observe/audit/network-audit.ts';
import { metricOf } from '../../rules/result-metric.ts';
import type { CheckContext } from '../read/check-context.ts';
import { checkFileList, PERFORMANCE_FILES, POWER_LOG } from '../read/check-folders.ts';
import { isStrict, type ResultSite } from '../read/result-site.ts';
import type { RunLog } from '../read/run-log.ts';
import type { CheckedResult } from '../report/check-report.ts';
import { checkAccuracy } from './check-accuracy.ts';
import { checkAudit } from './check-audit.ts';
import { checkBandwidth, wireBytesOf } from './check-bandwidth.ts';
import { checkCompliance } from './check-compliance.ts';
import { checkMarks } from './check-marks.ts';
import { checkMeasurements } from './check-measurements.ts';
import { checkPerformanceRun } from './check-performance.ts';
import { checkPlausible } from './check-plausible.ts';
import { measuredScenario } from './inferred-result.ts';

/** Checks all of one result: a scenario of a model on a system. */
export async function checkResult(
  context: CheckContext,
  found: ResultSite,
): Promise<CheckedResult> {
  const site = { ...found, measured: await measuredScenario(context, found) };
  checkRuns(context, site);
  checkMeasurements(context, site);
  const log = await checkPerformance(context, site);
  const accuracy = await checkAccuracy(context, site);
  const tests = isStrict(site)
    ? await checkCompliance(context, site, log)
    : new Map<string, RunLog>();
  const runs: [string, RunLog | undefined][] = [
    ['performance', log],
    ['accuracy', accuracy.log],
    ...tests,
  ];
  const audits =
    site.division === 'network'
      ? checkNetwork(context, site, runs)
      : new Map<string, NetworkAudit>();
  const logs = new Map(runs.flatMap(([run, one]) => (one === undefined ? [] : [[run, one]])));
  checkPlausible(context, site, { logs, audits });
  checkMarks(context, site, { logs, audits, notes: accuracy.text?.notes ?? [] });
  return checkedResult(site, log, accuracy.text?.line);
}

/** One run per result; a power measurement beside it is left to the official tools. */
function checkRuns({ layout, listing, findings }: CheckContext, site: ResultSite): void {
  const folder = posix.dirname(layout.performance(site.place));
  for (const name of listing.entries(folder).folders) {
    const path = posix.join(folder, name);
    if (name === 'power') findings.add('power-unchecked', path, 'Power was measured.');
    else if (name !== 'run_1' && name !== 'ranging') {
      findings.add('extra-run', path, `${name} lies beside run_1.`);
    }
  }
}

async function checkPerformance(
  context: CheckContext,
  site: ResultSite,
): Promise<RunLog | undefined> {
  const folder = context.layout.performance(site.place);
  const { needed, allowed = [] } = PERFORMANCE_FILES;
  const list = { needed, allowed: [...allowed, POWER_LOG] };
  if (!checkFileList(context, folder, list)) return undefined;
  return checkPerformanceRun(context, site, folder);
}

function checkNetwork(
  context: CheckContext,
  site: ResultSite,
  runs: readonly (readonly [string, RunLog | undefined])[],
): Map<string, NetworkAudit> {
  const audits = new Map<string, NetworkAudit>();
  for (const [run, log] of runs) {
    if (log === undefined) continue;
    const audit = checkAudit(context, site, run, log);
    if (audit !== undefined) audits.set(run, audit);
  }
  const [, log] = runs[0] ?? [];
  if (log !== undefined) {
    checkBandwidth(context, site, { log, wire: wireBytesOf(audits.get('performance')) });
  }
  return audits;
}

function checkedResult(
  { division, submitter, system, modelFolder, model, scenario, measured }: ResultSite,
  log: RunLog | undefined,
  accuracy: string | undefined,
): CheckedResult {
  const metric = metricOf(model, scenario, measured);
  const figure = (key: string): number | null => log?.optionalNumber(key) ?? null;
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
