import { posix } from 'node:path';
import { at } from '../../../../shared/base/at.ts';
import type { TestId } from '../../../../shared/rules/rows/model-row.ts';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import { readSummaryLog } from '../../../loadgen/logs/read/summary-log.ts';
import { usualBaselinePercent } from '../../rules/submission-model.ts';
import { TEST_FAIL, TEST_PASS, VERIFY_FILES, VERIFY_FILES_OF } from '../../rules/test-files.ts';
import {
  checkFileList,
  checkPresent,
  documentLines,
  LOGS,
  POWER_LOG,
  readRunLog,
  toolLines,
  wholeMessage,
} from '../read/read-document.ts';
import type { RunLog } from '../read/run-log.ts';
import { type CheckContext, type ResultSite, testsOf } from '../read/sites.ts';
import { accuracyPattern, checkAccuracyLog, HASH_LINE, onlyHash } from './check-accuracy.ts';

/** Tests whose run is checked like that of a result. */
const PERFORMANCE_TESTS: readonly TestId[] = ['TEST01', 'TEST04', 'TEST05'];

/** Files in which checks from v6.0 on require TEST PASS on a separate line. */
const WHOLE_LINE = /\/TEST0[18]\/verify_accuracy\.txt$/;

/** Lines of TEST06, each with its allowed words. */
const TEST06_LINES: readonly (readonly string[])[] = [
  ['First token check pass: True', 'First token check pass: Skipped'],
  ['EOS check pass: True'],
  ['Sample length check pass: True'],
];

/** Checks the compliance tests of a result. @returns Logs of the tests that have logs. */
export async function checkCompliance(site: ResultSite, performance: RunLog | undefined) {
  const logs = new Map<TestId, RunLog>();
  for (const test of testsOf(site)) {
    const folder = site.layout.compliance(site.place, test);
    if (!site.listing.hasFolder(folder)) continue;
    const log = await checkTest(site, test, folder);
    if (log === undefined) continue;
    logs.set(test, log);
    site.findings.check('test', { ...site, file: log.file, log, test, performance });
  }
  return logs;
}

async function checkTest(site: ResultSite, test: TestId, folder: string) {
  const paths = VERIFY_FILES_OF[test].map((name) => posix.join(folder, name));
  if (test === 'TEST01') await checkTest01(site, folder);
  for (const path of paths) {
    if (test === 'TEST06') checkTest06(site, path);
    // The accuracies may replace TEST01's verdict on the responses.
    else if (test !== 'TEST01' || !path.endsWith(VERIFY_FILES.accuracy)) checkPass(site, path);
  }
  if (!PERFORMANCE_TESTS.includes(test)) return undefined;
  return checkPerformanceRun(site, posix.join(folder, 'performance', 'run_1'), test);
}

/** Checks that a file says TEST PASS. */
function checkPass(context: CheckContext, path: string): void {
  if (!checkPresent(context, path)) return;
  const lines = toolLines(context, path);
  if (isPass(context, path, lines)) return;
  const last = lines.findLast((line) => line.trim() !== '') ?? '';
  context.findings.add('test-not-passed', path, `It ends "${last.slice(0, 90)}".`);
}

/** True if a verification passed by the round's tools; one with both verdicts is a finding. */
function isPass(context: CheckContext, path: string, lines: readonly string[]): boolean {
  const isWholeLine = context.layout.isFlat && WHOLE_LINE.test(path);
  const isPassed = lines.some((line) =>
    isWholeLine ? line.trim() === TEST_PASS : line.includes(TEST_PASS),
  );
  const failed = lines.findIndex((line) => line.includes(TEST_FAIL));
  if (isPassed && failed >= 0) {
    context.findings.add('test-verdict-mixed', path, `It says ${TEST_FAIL} as well.`, failed + 1);
  }
  return isPassed;
}

/** Verdict on the responses, or the two accuracies that may replace it. */
async function checkTest01(site: ResultSite, folder: string): Promise<void> {
  const { findings, listing } = site;
  const verify = posix.join(folder, VERIFY_FILES.accuracy);
  const accuracy = posix.join(folder, 'accuracy');
  const isThere = checkPresent(site, verify);
  const isPassed = isThere && isPass(site, verify, toolLines(site, verify));
  const baselines = ['baseline_accuracy.txt', 'compliance_accuracy.txt'];
  const files = [RUN_FILES.accuracy, RUN_FILES.accuracyText];
  // Checks from v6.0 on compare the list only if the responses differ.
  const extra = site.layout.isFlat && isPassed ? 'extra-file' : 'test-extra-file';
  if (!checkFileList(site, accuracy, files, baselines, extra)) return;
  const paths = baselines.map((name) => posix.join(accuracy, name));
  for (const path of paths) {
    if (!isPassed || !listing.hasFile(path)) continue;
    findings.add('baseline-beside-pass', path, 'verify_accuracy.txt says TEST PASS.');
  }
  if (isThere && !isPassed) checkBaselines(site, paths);
  const file = posix.join(accuracy, RUN_FILES.accuracyText);
  const lines = listing.hasFile(file) ? documentLines(site, file) : [];
  const hashLines = lines.filter((line) => HASH_LINE.test(line));
  if (listing.hasFile(file)) findings.check('test01Hashes', { file, hashLines });
  const log = posix.join(accuracy, RUN_FILES.accuracy);
  await checkAccuracyLog(site, log, onlyHash(hashLines), 'test01-log-not-truncated');
}

function checkBaselines(site: ResultSite, paths: readonly string[]): void {
  const { findings, listing, model } = site;
  const missing = paths.filter((path) => !listing.hasFile(path));
  for (const path of missing) {
    findings.add('baseline-missing', path, 'verify_accuracy.txt has no TEST PASS.');
  }
  if (missing.length > 0 || model === undefined) return;
  const usual = usualBaselinePercent(model);
  for (const { metric, lower } of model.accuracy) {
    if (lower === undefined) continue;
    const [a, b] = paths.map((path) => figureIn(site, path, metric));
    const percent = model.baselinePercents?.[metric] ?? usual;
    const isNear = a && b && a > 0 && b > 0 && 100 * Math.abs(1 - a / b) <= percent;
    if (isNear) continue;
    const text = `${metric} is ${a ?? 'missing'} and ${b ?? 'missing'}; within ${percent} %.`;
    findings.add('baseline-differs', at(paths, 1), text);
  }
}

/** The figure of a metric; the last line counts, as in the official tools. */
function figureIn(context: CheckContext, path: string, metric: string): number | undefined {
  const pattern = accuracyPattern(metric, context.round);
  const digits = toolLines(context, path).flatMap((line) => pattern.exec(line)?.[1] ?? []);
  return digits.length === 0 ? undefined : Number(digits.at(-1));
}

function checkTest06(context: CheckContext, path: string): void {
  if (!checkPresent(context, path)) return;
  const lines = toolLines(context, path).map((line) => line.trim());
  const missing = TEST06_LINES.filter((words) => !words.some((word) => lines.includes(word)));
  for (const [word] of missing) {
    context.findings.add('test-not-passed', path, `It has no line "${word}".`);
  }
}

/**
 * Checks the logs of a performance run of a result or of a compliance test.
 * @param folder performance/run_1.
 * @returns The detail log; undefined if missing.
 */
export async function checkPerformanceRun(site: ResultSite, folder: string, test?: TestId) {
  const { listing, findings } = site;
  const hasPower = listing.hasFolder(posix.join(posix.dirname(folder), 'power'));
  const allowed = hasPower ? [RUN_FILES.accuracy, POWER_LOG] : [RUN_FILES.accuracy];
  // v0.5's checker also wants the accuracy log.
  const needed = site.round === 'v0.5' ? [...LOGS, RUN_FILES.accuracy] : LOGS;
  const extra = test === undefined ? 'extra-file' : 'test-extra-file';
  if (!checkFileList(site, folder, needed, allowed, extra)) return undefined;
  const log = await readRunLog(site, folder);
  if (log === undefined) return undefined;
  const run = { ...site, file: log.file, log, test };
  findings.check('performance', run);
  const file = posix.join(folder, RUN_FILES.summary);
  if (!listing.hasFile(file)) return log;
  const summary = await readSummaryLog(listing.pathOf(file)).catch((error: unknown) => {
    findings.add('no-plain-file', file, `It cannot be read: ${wholeMessage(error)}.`);
  });
  if (summary !== undefined) findings.check('summary', { ...run, file, summary });
  return log;
}
