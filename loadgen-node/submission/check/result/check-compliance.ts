import { posix } from 'node:path';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import { sampleRateKey } from '../../rules/result-metric.ts';
import type { AccuracyTarget } from '../../rules/submission-model.ts';
import type { TestId } from '../../rules/test-ids.ts';
import type { CheckContext } from '../read/check-context.ts';
import { checkFileList, checkPresent, PERFORMANCE_FILES } from '../read/check-folders.ts';
import { documentLines, toolLines } from '../read/read-document.ts';
import { type ResultSite, runFolder } from '../read/result-site.ts';
import type { RunLog } from '../read/run-log.ts';
import { accuracyPattern, HASH_LINE, SHA256_LINE } from './accuracy-lines.ts';
import { checkAccuracyLog } from './check-accuracy-log.ts';
import { checkPerformanceRun } from './check-performance.ts';

/** Tests whose run is checked as that of a result is. */
const PERFORMANCE_TESTS: readonly TestId[] = ['TEST01', 'TEST04', 'TEST05'];

const PASS = 'TEST PASS';
const FAIL = 'TEST FAIL';

const VERIFY_ACCURACY = 'verify_accuracy.txt';

/** Lines of TEST06, each with the words that it may have. */
const TEST06_LINES: readonly (readonly string[])[] = [
  ['First token check pass: True', 'First token check pass: Skipped'],
  ['EOS check pass: True'],
  ['Sample length check pass: True'],
];

/** Shares of the result's rate between which that of a test has to lie. */
const RATE_SHARES: Partial<Record<TestId, { readonly low: number; readonly high: number }>> = {
  TEST01: { low: 0.9, high: 1.1 },
  TEST04: { low: 0, high: 1.1 },
  TEST05: { low: 0.95, high: Infinity },
};

/** Largest difference of the two accuracies of TEST01's fallback, in percent. */
const BASELINE_PERCENT = 1;
const BASELINE_PERCENT_999 = 0.1;

/** Checks the compliance tests of a result. @returns Logs of the tests that have some. */
export async function checkCompliance(
  context: CheckContext,
  site: ResultSite,
  performance: RunLog | undefined,
): Promise<ReadonlyMap<TestId, RunLog>> {
  const logs = new Map<TestId, RunLog>();
  const { layout, listing, findings } = context;
  if (site.model === undefined) return logs;
  for (const test of site.model.tests) {
    const folder = layout.compliance(site.place, test);
    if (!listing.hasFolder(folder)) {
      findings.add('test-missing', folder, `${test} is missing.`);
      continue;
    }
    const log = await checkTest(context, site, test);
    if (log === undefined) continue;
    logs.set(test, log);
    checkRate(site, test, { log, performance });
  }
  const above = posix.dirname(layout.compliance(site.place, 'TEST'));
  for (const name of listing.entries(above).folders) {
    if (!/^TEST\d/.test(name) || (site.model.tests as readonly string[]).includes(name)) continue;
    findings.add('test-not-asked', posix.join(above, name), `The model has no ${name}.`);
  }
  return logs;
}

async function checkTest(
  context: CheckContext,
  site: ResultSite,
  test: TestId,
): Promise<RunLog | undefined> {
  const folder = context.layout.compliance(site.place, test);
  if (test === 'TEST01') await checkTest01(context, site, folder);
  else if (test === 'TEST06') checkTest06(context, folder);
  else if (test === 'TEST09') checkPass(context, posix.join(folder, 'verify_output_len.txt'));
  else if (test === 'TEST07' || test === 'TEST08') {
    checkPass(context, posix.join(folder, VERIFY_ACCURACY));
  }
  if (!PERFORMANCE_TESTS.includes(test)) return undefined;
  checkPass(context, posix.join(folder, 'verify_performance.txt'));
  const run = runFolder(context.layout, site, test);
  if (!checkFileList(context, run, PERFORMANCE_FILES)) return undefined;
  return checkPerformanceRun(context, site, run, test);
}

/** A file that has to say TEST PASS. */
function checkPass(context: CheckContext, path: string): void {
  if (!checkPresent(context, path)) return;
  const lines = toolLines(context, path);
  if (isPass(context, path, lines)) return;
  const last = lines.findLast((line) => line.trim() !== '') ?? '';
  context.findings.add('test-not-passed', path, `It ends "${last.slice(0, 90)}".`);
}

/** Whether a verification passed as the round's tools read it; a file with both verdicts is told. */
function isPass(context: CheckContext, path: string, lines: readonly string[]): boolean {
  const isWholeLine = context.round !== 'v4.1' && posix.basename(path) === VERIFY_ACCURACY;
  const isPassed = lines.some((line) => (isWholeLine ? line.trim() === PASS : line.includes(PASS)));
  const failed = lines.findIndex((line) => line.includes(FAIL));
  if (isPassed && failed >= 0) {
    context.findings.add('test-verdict-mixed', path, `It says ${FAIL} as well.`, failed + 1);
  }
  return isPassed;
}

/** Verdict on the responses, or the two accuracies that stand in for it. */
async function checkTest01(context: CheckContext, site: ResultSite, folder: string): Promise<void> {
  const { findings, listing } = context;
  const verify = posix.join(folder, VERIFY_ACCURACY);
  const accuracy = posix.join(folder, 'accuracy');
  const isThere = checkPresent(context, verify);
  const isPassed = isThere && isPass(context, verify, toolLines(context, verify));
  const baselines = ['baseline_accuracy.txt', 'compliance_accuracy.txt'];
  const files = [RUN_FILES.accuracy, RUN_FILES.accuracyText];
  const isFolder = checkFileList(context, accuracy, { needed: files, allowed: baselines });
  if (!isFolder) return;
  const paths = baselines.map((name) => posix.join(accuracy, name));
  const present = paths.filter((path) => listing.hasFile(path));
  if (isPassed) {
    for (const path of present) {
      findings.add('baseline-beside-pass', path, 'verify_accuracy.txt says TEST PASS.');
    }
  } else if (isThere) checkBaselines(context, site, paths);
  const text = posix.join(accuracy, RUN_FILES.accuracyText);
  const hash = listing.hasFile(text) ? hashIn(context, text) : undefined;
  await checkAccuracyLog(context, posix.join(accuracy, RUN_FILES.accuracy), {
    hash,
    tooLarge: 'test01-log-not-truncated',
  });
}

function hashIn(context: CheckContext, path: string): string | undefined {
  const lines = documentLines(context, path).filter((line) => HASH_LINE.test(line));
  if (lines.length === 0) {
    context.findings.add('test01-hash-missing', path, 'It has no line hash=....');
  }
  if (lines.length > 1) {
    const text = `It has ${lines.length} hashes: the log was truncated more than once.`;
    context.findings.add('hash-twice', path, text);
  }
  const odd = lines.find((line) => !SHA256_LINE.test(line));
  if (odd !== undefined) {
    context.findings.add('hash-malformed', path, `"${odd.slice(0, 90)}" is no such line.`);
  }
  return lines.length === 1 ? SHA256_LINE.exec(lines[0] ?? '')?.[1] : undefined;
}

function checkBaselines(context: CheckContext, site: ResultSite, paths: readonly string[]): void {
  const { findings, listing } = context;
  const missing = paths.filter((path) => !listing.hasFile(path));
  for (const path of missing) {
    findings.add('baseline-missing', path, 'verify_accuracy.txt has no TEST PASS.');
  }
  if (missing.length > 0 || site.model === undefined) return;
  const [baseline, compliance] = paths as [string, string];
  for (const target of site.model.accuracy) {
    if (target.lower === undefined) continue;
    const figures = [baseline, compliance].map((path) => figureIn(context, path, target));
    const [a, b] = figures;
    const percents = site.model.baselinePercents?.[target.metric];
    const usual = site.model.name.includes('99.9') ? BASELINE_PERCENT_999 : BASELINE_PERCENT;
    const percent = percents ?? usual;
    const isNear =
      a !== undefined && b !== undefined && a > 0 && b > 0 && 100 * Math.abs(1 - a / b) <= percent;
    if (isNear) continue;
    const text = `${target.metric} is ${a ?? 'missing'} and ${b ?? 'missing'}; within ${percent} %.`;
    findings.add('baseline-differs', compliance, text);
  }
}

/** The last line counts, as the official tools have it. */
function figureIn(
  context: CheckContext,
  path: string,
  { metric }: AccuracyTarget,
): number | undefined {
  const pattern = accuracyPattern(metric, context.round);
  const digits = toolLines(context, path).flatMap((line) => pattern.exec(line)?.[1] ?? []);
  return digits.length === 0 ? undefined : Number(digits.at(-1));
}

function checkTest06(context: CheckContext, folder: string): void {
  const path = posix.join(folder, VERIFY_ACCURACY);
  if (!checkPresent(context, path)) return;
  const lines = toolLines(context, path).map((line) => line.trim());
  const missing = TEST06_LINES.filter((words) => !words.some((word) => lines.includes(word)));
  for (const [word] of missing) {
    context.findings.add('test-not-passed', path, `It has no line "${word}".`);
  }
}

/** The figures that verify_performance.txt was made from, compared again. */
function checkRate(
  { measured }: ResultSite,
  test: TestId,
  { log, performance }: { log: RunLog; performance: RunLog | undefined },
): void {
  const shares = RATE_SHARES[test];
  const key = sampleRateKey(measured);
  if (shares === undefined || key === undefined) return;
  const rate = log.optionalNumber(key);
  const result = performance?.optionalNumber(key);
  if (rate === undefined || result === undefined || !(result > 0)) return;
  const share = rate / result;
  if (share >= shares.low && share <= shares.high) return;
  const text = `${rate} samples/s are ${(100 * share).toFixed(1)} % of the result's ${result}.`;
  log.tellOf('test-rate-differs', key, text);
}
