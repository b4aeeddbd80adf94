import {
  choice,
  count,
  percentile,
  type SettingTable,
  type SettingValues,
  text,
  toggle,
} from '../../../shared/config/setting.ts';
import type { TestId } from '../../../shared/rules/rows/model-row.ts';
import type { RunSources } from '../../run/plan/run-record.ts';
import { RUN_SETTINGS } from '../../run/plan/run-settings.ts';
import { TOKEN_TYPES } from '../../samples/data-set/token-numbers.ts';
import { isRunnableTest } from '../rules/submission-rounds.ts';
import { RESPONSE_TYPES } from './responses/compare-responses.ts';
import { END_TOKEN_DEFAULT } from './verify/verify-test06.ts';

/** Settings of `longhaul compliance TESTnn` besides those of `longhaul run`. */
export const COMPLIANCE_SETTINGS = {
  run: text('folder', "the submission's performance run", { required: true }),
  accuracyRun: text(
    'folder',
    "TEST01, TEST08: the submission's accuracy run (default: --run, if it has both)",
  ),
  testRun: text('folder', 'verify this run of the test instead of making one'),
  output: text('folder', 'folder for the results (default: RUN/compliance)'),
  rehearse: toggle(
    'try the way, also with a performance run that is INVALID: marked, and of no use in a submission',
  ),
  lowerQps: percentile('lower the target rate of the test by so many percent'),
  model: text('name', 'model of the round, where the benchmark has several: dlrm-v2-99.9'),
  responseType: choice(
    RESPONSE_TYPES,
    "TEST01: how the official script reads a response (default: the benchmark's)",
  ),
  tokenType: choice(
    TOKEN_TYPES,
    "TEST06: type of a token (default: int32 where the benchmark's nodes send it, else the official script's of the round)",
  ),
  endToken: count(
    { min: 0, max: 2 ** 31 - 1 },
    `TEST06: token that ends a text (default: the benchmark's; mostly ${END_TOKEN_DEFAULT})`,
  ),
  accuracyOutput: text(
    'file',
    "TEST07: what the benchmark's accuracy script printed of the test's accuracy log",
  ),
};

/** Effective values of {@link COMPLIANCE_SETTINGS}. */
export type ComplianceValues = SettingValues<typeof COMPLIANCE_SETTINGS>;

/** Benchmarks of tests that longhaul only verifies. */
const GIVEN_BENCHMARKS = {
  TEST07: 'gpt-oss-120b',
  TEST08: 'dlrm-v3',
  TEST09: 'gpt-oss-120b, e2e-rag-qna',
} as const;

/** Purpose of each test. */
export const TEST_ABOUT: Readonly<Record<TestId, string>> = {
  TEST01: 'responses in performance mode are those of accuracy mode',
  TEST04: 'the same sample again and again is no faster (no caching)',
  TEST05: 'other random seeds are no slower (rounds to v4.1)',
  TEST06: 'tokens of responses are those streamed and counted',
  TEST07: `the accuracy in performance mode is enough (verified only: ${GIVEN_BENCHMARKS.TEST07})`,
  TEST08: `predictions are as good as in accuracy mode (verified only: ${GIVEN_BENCHMARKS.TEST08})`,
  TEST09: `responses are as long as the reference (verified only: ${GIVEN_BENCHMARKS.TEST09})`,
};

/** Example flags of a test that is verified only from given runs. */
const GIVEN_FLAGS = {
  TEST07: '--benchmark gpt-oss-120b --accuracy-output accuracy-script-output.txt',
  TEST08: '--benchmark dlrm-v3 --accuracy-run results/accuracy',
  TEST09: '--benchmark gpt-oss-120b',
} as const;

/** Last lines of a test's help. */
export function testExample(test: TestId): string {
  if (isRunnableTest(test)) {
    return `
Example:
  longhaul compliance TEST01 --run results/server --accuracy-run results/server-accuracy

The run of the test is made with the settings of the submission run (longhaul_run.yaml in its
folder); flags win over them. OUTPUT/TESTnn holds what a submission needs, and README.md;
OUTPUT/TESTnn-run the logs of the run.

Exit codes: 0 passed, 3 failed, 2 wrong flag or runs that do not belong together, 4 SUT, 5 data set,
6 this machine, 130 Ctrl-C.`;
  }
  return `
Example:
  longhaul compliance ${test} --run results/server --test-run results/${test.toLowerCase()} \\
    ${GIVEN_FLAGS[test]}

longhaul does not have the benchmark: it verifies a run that the benchmark's own harness made with
the official audit.config of the test. OUTPUT/${test} holds what a submission needs, and README.md.

Exit codes: 0 passed, 3 failed, 2 wrong flag or runs that do not belong together.`;
}

/** Run settings that a test sets itself. */
export const DECIDED_BY_TEST = [
  'mode',
  'runs',
  'output',
  'auditConf',
  'prefixWithDatetime',
  'thresholds',
] as const;

/** Run settings that override the submission run's; the server's model is that of its record. */
const RUN_FLAGS: SettingTable = Object.fromEntries(
  Object.entries(RUN_SETTINGS).filter(
    ([key]) => key !== 'model' && !(DECIDED_BY_TEST as readonly string[]).includes(key),
  ),
);

/**
 * {@link RUN_FLAGS} for a test; a test that is only verified accepts benchmarks that longhaul
 * lacks.
 */
export function runFlagsOf(test: TestId): SettingTable {
  const { benchmark } = RUN_FLAGS;
  if (isRunnableTest(test) || benchmark === undefined) return RUN_FLAGS;
  const help = `${GIVEN_BENCHMARKS[test]} (default: as longhaul_run.yaml of --run says)`;
  return { ...RUN_FLAGS, benchmark: { ...benchmark, help } };
}

/** Flags of the test's run, out of the flags of the command. */
export function flagsOfRun(flags: RunSources['flags']): RunSources['flags'] {
  return Object.fromEntries(Object.entries(flags).filter(([key]) => Object.hasOwn(RUN_FLAGS, key)));
}
