import { configInvalid } from '../../../../shared/base/errors/mlperf-error.ts';
import type { Scenario } from '../../../../shared/domain/scenario.ts';
import type { RunnableTestId, TestId } from '../../../../shared/rules/rows/model-row.ts';
import { recordOf } from '../../../loadgen/logs/read/detail-log.ts';
import {
  isRunnableTest,
  SEED_NAMES,
  type SubmissionRound,
  seedsOfRound,
  test05SeedsOfRound,
} from '../../rules/submission-rounds.ts';
import { type ComplianceRun, check, type TestCheck } from './read-compliance-run.ts';

/**
 * Seed that selects the logged responses of a test run. Source: audit.config of TEST01 and TEST06
 * to TEST09.
 */
const ACCURACY_LOG_SEED = 720381539243781796n;

/** Library index of the sample that TEST04 repeats. Source: its audit.config. */
const SAME_SAMPLE_INDEX = 3;

/** Default number of responses that TEST01 requests LoadGen to log; the actual number is random. */
const SAMPLING_TARGET = 4096;

/**
 * Smaller numbers for benchmarks with large responses. Source: the audit.config of each benchmark,
 * the same from v4.1 to v6.1.
 */
const SAMPLING_TARGET_OF: Readonly<Record<string, number>> = {
  retinanet: 256,
  pointpainting: 256,
  'stable-diffusion-xl': 128,
  '3d-unet': 64,
  yolo: 64,
  'wan-2.2-t2v-a14b': 50,
};

/**
 * Lines of TEST04 for one model. LoadGen only reads lines for `*`, so a harness must rewrite these.
 */
const TEST04_OF_MODEL: Readonly<Record<string, Partial<Readonly<Record<Scenario, string>>>>> = {
  'stable-diffusion-xl': { Offline: 'min_query_count = 500' },
  'wan-2.2-t2v-a14b': {
    Offline: 'min_query_count = 20',
    SingleStream: 'min_query_count = 20',
  },
};

const SAMPLED = { effective_accuracy_log_rng_seed: ACCURACY_LOG_SEED };

/**
 * Lines of each test's audit.config, for all scenarios (`*.*`) or for that of the run, and the
 * detail log records that they produce, besides the seeds.
 */
const AUDIT_CONFIGS = {
  TEST01: {
    isForAll: true,
    settings: (benchmark: string) => [
      'mode = 2',
      `accuracy_log_rng_seed = ${ACCURACY_LOG_SEED}`,
      `accuracy_log_sampling_target = ${SAMPLING_TARGET_OF[benchmark] ?? SAMPLING_TARGET}`,
    ],
    records: SAMPLED,
  },
  TEST04: {
    isForAll: false,
    settings: (benchmark: string, scenario: Scenario) => [
      'mode = 2',
      'performance_issue_unique = 0',
      'performance_issue_same = 1',
      `performance_issue_same_index = ${SAME_SAMPLE_INDEX}`,
      ...[TEST04_OF_MODEL[benchmark]?.[scenario]].filter((line) => line !== undefined),
    ],
    records: {
      effective_performance_issue_unique: false,
      effective_performance_issue_same: true,
      effective_performance_issue_same_index: SAME_SAMPLE_INDEX,
    },
  },
  TEST05: { isForAll: true, settings: () => ['test05 = 1'], records: {} },
  TEST06: {
    isForAll: true,
    settings: () => [
      'mode = 2',
      `accuracy_log_rng_seed = ${ACCURACY_LOG_SEED}`,
      'accuracy_log_sampling_target = 100',
      'min_query_count = 100',
      'min_duration = 0',
      'sample_concatenate_permutation = 0',
    ],
    records: SAMPLED,
  },
} as const satisfies Readonly<Record<RunnableTestId, object>>;

/**
 * audit.config of a test for one benchmark in one scenario. Lines that the official file has for
 * the model are written for `*`, since LoadGen would ignore them.
 * @param benchmark Name as in mlperf.conf: `resnet50`, `stable-diffusion-xl`.
 */
export function auditConfigText(
  test: RunnableTestId,
  benchmark: string,
  scenario: Scenario,
): string {
  const { isForAll, settings } = AUDIT_CONFIGS[test];
  const head = `# audit.config of ${test} for ${benchmark} in ${scenario}, written by longhaul.\n`;
  const lines = settings(benchmark, scenario);
  return head + lines.map((line) => `*.${isForAll ? '*' : scenario}.${line}\n`).join('');
}

/** Checks that a run used a test's audit.config. */
export function auditCheck(test: TestId, round: SubmissionRound, tested: ComplianceRun): TestCheck {
  const wrong = wrongSettings(test, round, tested);
  const text =
    wrong.length === 0
      ? "the test run was made with the test's settings (audit.config)"
      : `the test run was not made with the test's settings: ${wrong.join('; ')}`;
  return check('audit settings', wrong.length === 0, text, {
    advice: "Run the test with the test's audit.config (longhaul does so by itself).",
  });
}

/**
 * Refuses an existing run without the test's audit.config: its other findings would be meaningless.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function requireTestRun(test: TestId, round: SubmissionRound, tested: ComplianceRun): void {
  const wrong = wrongSettings(test, round, tested);
  if (wrong.length === 0) return;
  throw configInvalid(
    `${tested.folder.folder} is no run of ${test} of round ${round}: ${wrong.join('; ')}`,
  );
}

/** Text for each record that differs from what the test sets. */
function wrongSettings(test: TestId, round: SubmissionRound, tested: ComplianceRun): string[] {
  const own = test === 'TEST05' ? test05SeedsOfRound(round) : undefined;
  const seeds = own ?? seedsOfRound(round);
  const expected: Readonly<Record<string, number | bigint | boolean>> = {
    ...(isRunnableTest(test) ? AUDIT_CONFIGS[test].records : SAMPLED),
    ...Object.fromEntries(SEED_NAMES.map((name) => [`effective_${name}`, seeds[name]])),
  };
  return Object.entries(expected)
    .filter(([key, value]) => !isSame(recordOf(tested, key), value))
    .map(([key, value]) => `${key} is ${String(recordOf(tested, key))}, not ${value}`);
}

function isSame(seen: unknown, value: number | bigint | boolean): boolean {
  // Large seeds are bigint, small ones numbers.
  const isWhole = typeof seen === 'bigint' || Number.isInteger(seen);
  return isWhole && typeof value !== 'boolean'
    ? BigInt(seen as number | bigint) === BigInt(value)
    : seen === value;
}
