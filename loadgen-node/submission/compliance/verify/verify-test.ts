import { counted } from '../../../../shared/base/text.ts';
import type { TestId } from '../../../../shared/rules/rows/model-row.ts';
import { numberOf, recordOf } from '../../../loadgen/logs/read/detail-log.ts';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import { auditCheck } from './audit-settings.ts';
import {
  type ComplianceRun,
  check,
  readComplianceRun,
  type TestCheck,
} from './read-compliance-run.ts';
import { requireRound, requireSameSystem } from './same-system.ts';

/** Result of the checks specific to one test. */
interface TestFindings {
  readonly checks: readonly TestCheck[];
  /** Further facts for the reader, one sentence each. */
  readonly notes: readonly string[];
  /** Files to write: path in the test's folder (forward slashes) and text. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Folders of the runs that a test compares. */
export interface TestedFolders {
  readonly round: SubmissionRound;
  /** The submission's performance run. */
  readonly performance: string;
  /** TEST01, TEST08: the submission's accuracy run; its accuracy log must be whole. */
  readonly accuracy?: string;
  /** The test's run. */
  readonly test: string;
}

/**
 * Reads the runs of a test. `accuracyLog`: that of the accuracy run; empty if the test has none.
 * @param hasOwnDataSet True if the test's run has other samples than the submission's.
 * @throws MlperfError `ERR_CONFIG_INVALID` if the runs do not belong together, `ERR_CONFIG_FILE`
 *   or `ERR_OUTPUT` if a folder or a log cannot be read.
 */
export async function readTestedRuns(
  { round, performance, accuracy, test }: TestedFolders,
  hasOwnDataSet = false,
) {
  const reference = await readComplianceRun(performance);
  const ofAccuracy = accuracy === undefined ? undefined : await readComplianceRun(accuracy);
  const tested = await readComplianceRun(test);
  requireRound(reference, round);
  if (ofAccuracy !== undefined) requireSameSystem(reference, ofAccuracy, 'accuracy run');
  requireSameSystem(reference, tested, 'test run', hasOwnDataSet);
  return { reference, tested, accuracyLog: ofAccuracy?.folder.accuracy ?? '' };
}

/** Adds the checks required for every test run to a test's findings. */
export function verdictOn(
  test: TestId,
  round: SubmissionRound,
  tested: ComplianceRun,
  { checks: own, notes, texts }: TestFindings,
): TestVerdict {
  const common = COUNTED_TESTS.includes(test) ? completenessChecks(tested) : validityChecks(tested);
  const checks = [...own, ...common, auditCheck(test, round, tested)];
  return {
    test,
    round,
    hasPassed: checks.every(({ isMet }) => isMet),
    isOfficialPass: checks.every(({ isMet, isOfficial }) => isMet || !isOfficial),
    checks,
    notes,
    texts,
    isRehearsal: false,
    copies: new Map(LOGS_OF[test].map(([path, log]) => [path, tested.folder[log]])),
  };
}

/** Verdict on a compliance test, and its files for a submission. */
export interface TestVerdict {
  readonly test: TestId;
  readonly round: SubmissionRound;
  readonly hasPassed: boolean;
  /** True if the official tools accept the files. */
  readonly isOfficialPass: boolean;
  readonly checks: readonly TestCheck[];
  readonly notes: readonly string[];
  readonly texts: ReadonlyMap<string, string>;
  readonly isRehearsal: boolean;
  /** Files to copy: path in the test's folder, and source file of the run. */
  readonly copies: ReadonlyMap<string, string>;
}

const REHEARSAL = 'A rehearsal (longhaul compliance --rehearse): it counts for no submission.';

/**
 * Words by which official checkers and longhaul recognise a passed test; TEST06 has its own lines.
 */
const PASSED = [
  [/\bTEST PASS\b/g, 'TEST FAIL'],
  [/\bcheck pass: (?:True|Skipped)\b/g, 'check pass: False'],
] as const;

/**
 * The verdict of a rehearsal: not passed, whatever was met, and no checker accepts its files as
 * passed.
 */
export function rehearsed(verdict: TestVerdict): TestVerdict {
  const texts = [...verdict.texts].map(([path, text]): [string, string] => {
    if (!path.startsWith('verify_')) return [path, text];
    const refused = PASSED.reduce((left, [word, other]) => left.replace(word, other), text);
    return [path, `${REHEARSAL}\n${refused}`];
  });
  return {
    ...verdict,
    isRehearsal: true,
    hasPassed: false,
    isOfficialPass: false,
    texts: new Map(texts),
    notes: [REHEARSAL, ...verdict.notes],
  };
}

const ACCURACY_LOG = [`accuracy/${RUN_FILES.accuracy}`, 'accuracy'] as const;
const PERFORMANCE_LOGS = [
  [`performance/run_1/${RUN_FILES.summary}`, 'summary'],
  [`performance/run_1/${RUN_FILES.detail}`, 'detail'],
] as const;

/** Logs of its run that a submission includes for a test. */
const LOGS_OF = {
  TEST01: [ACCURACY_LOG, ...PERFORMANCE_LOGS],
  TEST04: PERFORMANCE_LOGS,
  TEST05: PERFORMANCE_LOGS,
  TEST06: [ACCURACY_LOG],
  TEST07: [ACCURACY_LOG, ...PERFORMANCE_LOGS],
  // The official tool does not truncate its accuracy log.
  TEST08: PERFORMANCE_LOGS,
  TEST09: [ACCURACY_LOG, ...PERFORMANCE_LOGS],
} as const;

/**
 * Checks of every test run beyond the official scripts: VALID by LoadGen's and longhaul's rules (no
 * lost sample, no lost node), and no error in its log, which the checkers refuse.
 */
function validityChecks(tested: ComplianceRun): TestCheck[] {
  const { summary, detail } = tested;
  const loadgen = recordOf(tested, 'result_validity') ?? 'neither VALID nor INVALID';
  const own = recordOf(tested, 'longhaul_validity');
  const reason = recordOf(tested, 'longhaul_invalid_reason');
  const why = own === 'VALID' || reason === undefined ? '' : `: ${String(reason)}`;
  const checks = [
    check('valid run', loadgen === 'VALID', `LoadGen calls the test run ${String(loadgen)}`, {
      advice: `A test counts only when its run is VALID: see "Result is" in ${summary.path}. A run that was broken off or lost a node has to be made again.`,
    }),
    check(
      'valid by longhaul',
      own === 'VALID',
      `longhaul calls the test run ${String(own)}${why}`,
      {
        advice: `Every longhaul_invalid_reason of ${detail.path} names one cause.`,
      },
    ),
    noErrors(tested),
  ];
  // Another LoadGen's log has no verdict of longhaul's.
  return own === undefined ? checks.filter(({ name }) => name !== 'valid by longhaul') : checks;
}

/** Tests whose run has a fixed number of queries, too few for a verdict on speed. */
const COUNTED_TESTS: readonly TestId[] = ['TEST06', 'TEST07', 'TEST09'];

/**
 * Checks of a run of {@link COUNTED_TESTS}: no query may be lost. In a run of another LoadGen,
 * errors in the log show a loss.
 */
function completenessChecks(tested: ComplianceRun): TestCheck[] {
  const lost = numberOf(tested, 'longhaul_performance_lost_samples') ?? 0;
  const wrong = numberOf(tested, 'longhaul_performance_contract_errors') ?? 0;
  const text = `${lost} samples of the test run were lost, ${wrong} responses broke the contract`;
  const advice =
    'Every sample of the test has to be answered, once: was a node lost, or the run broken off?';
  return [check('complete run', lost === 0 && wrong === 0, text, { advice }), noErrors(tested)];
}

function noErrors({ detail: { errorCount, errors, path } }: ComplianceRun): TestCheck {
  const [first] = errors;
  const seen =
    errorCount === 0
      ? 'no error'
      : `${counted(errorCount, 'error')}, the first: ${String(first?.value)}`;
  return check('no errors', errorCount === 0, `the log of the test run has ${seen}`, {
    advice: `The official checkers refuse a log with errors: ${path}:${first?.line}.`,
  });
}
