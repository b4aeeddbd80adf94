import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import { auditCheck, validityChecks } from './common-checks.ts';
import { comparePerformance } from './compare-performance.ts';
import { firstQueryCheck } from './first-query-check.ts';
import { ratesInWords } from './rate-statistic.ts';
import { type ComplianceRun, readComplianceRun } from './read-compliance-run.ts';
import { requireRound, requireSameSystem } from './same-system.ts';
import { serverLatencyCheck, tailNote } from './server-latencies.ts';
import { type TestVerdict, testVerdict } from './test-verdict.ts';

/** What TEST04 and TEST05 compare. */
export interface SpeedTest {
  readonly round: SubmissionRound;
  /** Folder of the submission's performance run. */
  readonly performance: string;
  /** Folder of the test's run. */
  readonly test: string;
}

/**
 * TEST04: is the system faster when the same sample is asked for again and again? The official comparison is one of
 * rates. In Server, where the arrivals decide the rate, longhaul compares latencies as well; in Server and SingleStream it
 * looks for a cache that filled up in the submission run.
 * @throws MlperfError as {@link readSpeedTest}
 */
export async function verifyTest04(test: SpeedTest): Promise<TestVerdict> {
  const { round } = test;
  const { reference, tested } = await readSpeedTest(test);
  const performance = comparePerformance('TEST04', round, reference, tested);
  const own = [serverLatencyCheck(reference, tested), firstQueryCheck(reference)];
  const notes = [ratesInWords(reference, tested), tailNote(reference, tested)];
  return testVerdict({
    test: 'TEST04',
    round,
    checks: [
      performance.check,
      ...own.filter((check) => check !== undefined),
      ...validityChecks(tested),
      auditCheck('TEST04', round, tested),
    ],
    notes: notes.filter((note) => note !== undefined),
    texts: new Map([['verify_performance.txt', performance.text]]),
    copies: performanceLogs(tested),
  });
}

/**
 * The two runs of a test of speed.
 * @throws MlperfError `ERR_CONFIG_INVALID` when they do not belong together, `ERR_CONFIG_FILE` or `ERR_OUTPUT` when a
 *   folder or a log cannot be read.
 */
export async function readSpeedTest({
  round,
  performance,
  test,
}: SpeedTest): Promise<{ reference: ComplianceRun; tested: ComplianceRun }> {
  const reference = await readComplianceRun(performance);
  const tested = await readComplianceRun(test);
  requireRound(reference, round);
  requireSameSystem(reference, tested, 'test run');
  return { reference, tested };
}

/** Logs that a submission has of a test of speed. */
export function performanceLogs({ folder }: ComplianceRun): Map<string, string> {
  return new Map([
    [`performance/run_1/${RUN_FILES.summary}`, folder.summary],
    [`performance/run_1/${RUN_FILES.detail}`, folder.detail],
  ]);
}
