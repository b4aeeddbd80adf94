import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configInvalid, withReason } from '../../../shared/base/errors/mlperf-error.ts';
import { makeFolder } from '../../../shared/base/files/read-file.ts';
import { resolveSettings, type SettingSources } from '../../../shared/config/resolve-settings.ts';
import type { RunnableTestId } from '../../../shared/rules/rows/model-row.ts';
import { RUN_FILES, type RunFolder } from '../../loadgen/logs/read/run-folder.ts';
import type { TestSettings } from '../../loadgen/settings/test-settings.ts';
import type { RunHost } from '../../run/host/host.ts';
import { type RunReport, tellProblems } from '../../run/keep/run-report.ts';
import { isCppEngine } from '../../run/plan/run-engine.ts';
import { planRun, type RunPlan } from '../../run/plan/run-plan.ts';
import { inspectRun, type RunSources, recordedSettings } from '../../run/plan/run-record.ts';
import { RUN_SETTINGS } from '../../run/plan/run-settings.ts';
import { performRun } from '../../run/session.ts';
import { type ComplianceValues, DECIDED_BY_TEST } from './compliance-settings.ts';
import { forgetVerdict } from './test-folder.ts';
import { auditConfigText } from './verify/audit-settings.ts';

/** A test's run before it is planned. */
export interface TestRun {
  readonly test: RunnableTestId;
  readonly sources: RunSources;
  /** Folder for its logs. */
  readonly folder: string;
  /** Share by which the target rate is lowered: 0.05 is 5 % below the submission run's. */
  readonly loweredShare: number | undefined;
  readonly isRehearsal: boolean;
}

/** Combines the submission run's record, if longhaul made it, with flags of the command. */
export function runSources(
  { record }: Pick<RunFolder, 'record'>,
  flags: SettingSources['flags'],
): RunSources {
  const file = recordedSettings(record);
  for (const key of DECIDED_BY_TEST) file.delete(key);
  return { file, flags };
}

/**
 * True if a test's run needs the C++ LoadGen, because the submission run used it. @throws
 * MlperfError as {@link inspectRun}
 */
export function makesCppRun(
  { run, testRun }: Pick<ComplianceValues, 'run' | 'testRun'>,
  flags: SettingSources['flags'],
): boolean {
  const sources = runSources({ record: join(run, RUN_FILES.record) }, flags);
  return testRun === undefined && isCppEngine(inspectRun(sources).engine);
}

/**
 * Plans a test's run: like the submission run, with the test's audit.config applied last.
 * @throws MlperfError `ERR_CONFIG_INVALID`, ... as {@link planRun}
 */
export function planTestRun(run: TestRun): RunPlan {
  const { test, folder } = run;
  const plain = resolveRun(run);
  const submission = planRun(plain.values, { asked: plain.settings });
  const { scenario } = submission.settings;
  const lowered = run.loweredShare === undefined ? undefined : lowerRate(run, submission.settings);
  const { values, settings } = resolveRun(run, lowered);
  const text = auditConfigText(test, values.benchmark, scenario);
  const plan = planRun(values, {
    asked: settings,
    // LoadGen's name of the file, as in the detail log.
    audit: { name: 'audit.config', text },
  });
  if (test === 'TEST06' && !plan.settings.useTokenLatencies) {
    throw configInvalid(
      `TEST06 checks tokens, and ${values.benchmark} counts no tokens: the mlperf.conf of the round does not set use_token_latencies; ` +
        `if its nodes send tokens, add --user-conf FILE with the line ${values.benchmark}.*.use_token_latencies = 1`,
    );
  }
  const mark = `a rehearsal of ${test} (compliance --rehearse): it counts for no submission`;
  return { ...plan, output: folder, ...(run.isRehearsal && { planMark: mark }) };
}

/**
 * Makes a test's run, with its logs and audit.config in the folder.
 * @param verdictFolder Folder of an earlier verdict, which is removed because its run is
 *   replaced.
 * @throws MlperfError as {@link performRun}
 */
export async function performTestRun(
  plan: RunPlan,
  { test, verdictFolder }: { readonly test: RunnableTestId; readonly verdictFolder: string },
  host: RunHost,
): Promise<RunReport> {
  const onBegin = (): void => {
    forgetVerdict(verdictFolder, host);
    const path = auditPath(plan.output);
    withReason(`cannot write ${path}`, () => {
      makeFolder(plan.output);
      writeFileSync(path, auditConfigText(test, plan.rules.key, plan.settings.scenario));
    });
  };
  const report = await performRun(plan, host, { onBegin });
  tellProblems(report, host);
  return report;
}

function auditPath(folder: string): string {
  return join(folder, 'audit.config');
}

/** Settings of the test's run; its record marks those set by the test. */
function resolveRun({ sources, folder, test }: TestRun, lowered?: ReturnType<typeof lowerRate>) {
  const rate = lowered === undefined ? {} : { targetQps: String(lowered.qps) };
  const byTest = { mode: 'performance', runs: '1', output: folder, auditConf: auditPath(folder) };
  const file = new Map(sources.file);
  // TEST06 judges no latency, and counts the tokens of a model whose submission run may have a
  // latency bound (gptj).
  if (test === 'TEST06') file.delete('targetLatency');
  const { values, settings } = resolveSettings(RUN_SETTINGS, {
    section: 'run',
    file,
    flags: { ...sources.flags, ...rate, ...byTest },
  });
  const sourceOf = (key: string): string | undefined => {
    if (Object.hasOwn(byTest, key)) return `compliance ${test}`;
    return key === 'targetQps' ? lowered?.source : undefined;
  };
  return {
    values,
    settings: settings.map((one) => ({ ...one, source: sourceOf(one.key) ?? one.source })),
  };
}

/**
 * Percent by which a Server run may be slower than the submission run; its rate is its target rate.
 */
const SERVER_TOLERANCE: Partial<Readonly<Record<RunnableTestId, number>>> = {
  TEST01: 10,
  TEST05: 5,
};

function lowerRate({ test, loweredShare = 0 }: TestRun, settings: TestSettings) {
  const { scenario } = settings;
  // Rounded to the user's digits: the product has noise in its last digits.
  const percent = Number((100 * loweredShare).toPrecision(12));
  if (scenario !== 'Server' && scenario !== 'Offline') {
    const why = `${scenario} has no target rate; it is for Server and Offline`;
    throw configInvalid(`--lower-qps ${percent}: ${why}`);
  }
  const most = SERVER_TOLERANCE[test];
  if (scenario === 'Server' && most !== undefined && percent >= most) {
    const why = `${test} allows a Server run to be less than ${most} % slower than the submission run`;
    throw configInvalid(`--lower-qps ${percent}: ${why}`);
  }
  const before = scenario === 'Server' ? settings.serverTargetQps : settings.offlineExpectedQps;
  const qps = Number((before * (1 - loweredShare)).toPrecision(12));
  const source = `compliance ${test}: --lower-qps ${percent} of ${before}`;
  return { qps, source };
}
