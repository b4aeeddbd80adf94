import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { counted } from '../../../../shared/base/text/counted.ts';
import { SEED_NAMES, seedsOfRound, test05SeedsOfRound } from '../../rules/round-seeds.ts';
import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import type { RunnableTestId } from '../../rules/test-ids.ts';
import { ACCURACY_LOG_SEED, SAME_SAMPLE_INDEX } from './audit-settings.ts';
import { type ComplianceRun, numberOf, recordOf } from './read-compliance-run.ts';
import type { TestCheck } from './test-verdict.ts';

/**
 * What longhaul asks of every test run, beyond the official verification scripts: VALID by LoadGen's rules and
 * by longhaul's (no lost sample, no lost node), and no error in its log, for which the checkers refuse it.
 */
export function validityChecks(tested: ComplianceRun): TestCheck[] {
  return [loadgenValidity(tested), ...longhaulValidity(tested), noErrors(tested)];
}

/**
 * What is asked of a run of TEST06: its 100 queries are too few for a verdict on speed, but none may be lost.
 * Of another LoadGen's run the errors in the log tell.
 */
export function completenessChecks(tested: ComplianceRun): TestCheck[] {
  const lost = numberOf(tested, 'longhaul_performance_lost_samples') ?? 0;
  const wrong = numberOf(tested, 'longhaul_performance_contract_errors') ?? 0;
  const isMet = lost === 0 && wrong === 0;
  const advice =
    'Every sample of the test has to be answered, once: was a node lost, or the run broken off?';
  return [
    {
      name: 'complete run',
      isMet,
      isOfficial: false,
      text: `${lost} samples of the test run were lost, ${wrong} responses broke the contract`,
      ...(isMet ? {} : { advice }),
    },
    noErrors(tested),
  ];
}

function loadgenValidity(tested: ComplianceRun): TestCheck {
  const seen = recordOf(tested, 'result_validity');
  const isMet = seen === 'VALID';
  return {
    name: 'valid run',
    isMet,
    isOfficial: false,
    text: `LoadGen calls the test run ${seen === undefined ? 'neither VALID nor INVALID' : String(seen)}`,
    ...(isMet
      ? {}
      : {
          advice: `A test counts only when its run is VALID: see "Result is" in ${tested.summary.path}. A run that was broken off or lost a node has to be made again.`,
        }),
  };
}

function longhaulValidity(tested: ComplianceRun): TestCheck[] {
  const seen = recordOf(tested, 'longhaul_validity');
  if (seen === undefined) return [];
  const isMet = seen === 'VALID';
  const reason = recordOf(tested, 'longhaul_invalid_reason');
  const why = isMet || reason === undefined ? '' : `: ${String(reason)}`;
  return [
    {
      name: 'valid by longhaul',
      isMet,
      isOfficial: false,
      text: `longhaul calls the test run ${String(seen)}${why}`,
      ...(isMet
        ? {}
        : { advice: `Every longhaul_invalid_reason of ${tested.detail.path} names one cause.` }),
    },
  ];
}

function noErrors(tested: ComplianceRun): TestCheck {
  const { errorCount, errors, path } = tested.detail;
  const [first] = errors;
  const isMet = errorCount === 0;
  return {
    name: 'no errors',
    isMet,
    isOfficial: false,
    text: isMet
      ? 'the log of the test run has no error'
      : `the log of the test run has ${counted(errorCount, 'error')}, the first: ${String(first?.value)}`,
    ...(isMet
      ? {}
      : { advice: `The official checkers refuse a log with errors: ${path}:${first?.line}.` }),
  };
}

/** Records of the detail log that a test's audit.config leaves there, besides the seeds. */
const AUDIT_RECORDS: Readonly<
  Record<RunnableTestId, Readonly<Record<string, number | bigint | boolean>>>
> = {
  TEST01: { effective_accuracy_log_rng_seed: ACCURACY_LOG_SEED },
  TEST04: {
    effective_performance_issue_unique: false,
    effective_performance_issue_same: true,
    effective_performance_issue_same_index: SAME_SAMPLE_INDEX,
  },
  TEST05: {},
  TEST06: { effective_accuracy_log_rng_seed: ACCURACY_LOG_SEED },
};

/** Whether a run was made with a test's audit.config. */
export function auditCheck(
  test: RunnableTestId,
  round: SubmissionRound,
  tested: ComplianceRun,
): TestCheck {
  const wrong = wrongSettings(test, round, tested);
  const isMet = wrong.length === 0;
  return {
    name: 'audit settings',
    isMet,
    isOfficial: false,
    text: isMet
      ? "the test run was made with the test's settings (audit.config)"
      : `the test run was not made with the test's settings: ${wrong.join('; ')}`,
    ...(isMet
      ? {}
      : { advice: "Run the test with the test's audit.config (longhaul does so by itself)." }),
  };
}

/**
 * Refuses a run that is there and was not made with the test's audit.config: whatever else is found in it means nothing.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function requireTestRun(
  test: RunnableTestId,
  round: SubmissionRound,
  tested: ComplianceRun,
): void {
  const wrong = wrongSettings(test, round, tested);
  if (wrong.length === 0) return;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `${tested.folder.folder} is no run of ${test} of round ${round}: ${wrong.join('; ')}`,
  );
}

/** Each record that is not as the test leaves it, in words. */
function wrongSettings(
  test: RunnableTestId,
  round: SubmissionRound,
  tested: ComplianceRun,
): string[] {
  const own = test === 'TEST05' ? test05SeedsOfRound(round) : undefined;
  const seeds = own ?? seedsOfRound(round);
  const expected = {
    ...AUDIT_RECORDS[test],
    ...Object.fromEntries(SEED_NAMES.map((name) => [`effective_${name}`, seeds[name]])),
  };
  return Object.entries(expected)
    .filter(([key, value]) => !isSame(recordOf(tested, key), value))
    .map(([key, value]) => `${key} is ${String(recordOf(tested, key))}, not ${value}`);
}

function isSame(seen: unknown, value: number | bigint | boolean): boolean {
  // Seeds are bigint where they are large, numbers where they are small.
  const isWhole = typeof seen === 'bigint' || Number.isInteger(seen);
  return isWhole && typeof value !== 'boolean'
    ? BigInt(seen as number | bigint) === BigInt(value)
    : seen === value;
}
