import type { Scenario } from '../../../../shared/domain/scenario.ts';
import type { RunnableTestId } from '../../rules/test-ids.ts';

/** Seed that chooses which responses of a test run are logged. Source: audit.config of TEST01 and TEST06. */
export const ACCURACY_LOG_SEED = 720381539243781796n;

/** Library index of the one sample that TEST04 asks for again and again. Source: its audit.config. */
export const SAME_SAMPLE_INDEX = 3;

/** Responses of a token benchmark that TEST06 wants logged. Source: its audit.config. */
const TEST06_SAMPLING_TARGET = 100;

/** Responses that TEST01 wants logged where nothing else is said. */
const SAMPLING_TARGET = 4096;

/** Benchmarks with large responses log fewer. Source: the audit.config of each benchmark, the same from v4.1 to v6.1. */
const SAMPLING_TARGET_OF: Readonly<Record<string, number>> = {
  retinanet: 256,
  pointpainting: 256,
  'stable-diffusion-xl': 128,
  '3d-unet': 64,
  yolo: 64,
  'wan-2.2-t2v-a14b': 50,
};

/** Lines of TEST04 for one model. LoadGen reads the lines for `*` only: a harness has to feed it these. */
const TEST04_OF_MODEL: Readonly<Record<string, Partial<Readonly<Record<Scenario, string>>>>> = {
  'stable-diffusion-xl': { Offline: 'min_query_count = 500' },
  'wan-2.2-t2v-a14b': {
    Offline: 'min_query_count = 20',
    SingleStream: 'min_query_count = 20',
  },
};

/** Responses that TEST01 asks LoadGen to log of a benchmark; how many it does log is left to chance. */
function samplingTargetOf(benchmark: string): number {
  return SAMPLING_TARGET_OF[benchmark] ?? SAMPLING_TARGET;
}

/**
 * Text of audit.config for a test of one benchmark in one scenario. What the official file says for the model
 * alone stands there for `*`, since LoadGen would pass over it.
 * @param benchmark Name as in mlperf.conf: `resnet50`, `stable-diffusion-xl`.
 */
export function auditConfigText(
  test: RunnableTestId,
  benchmark: string,
  scenario: Scenario,
): string {
  const settings = settingsOf(test, benchmark, scenario);
  const head = `# audit.config of ${test} for ${benchmark} in ${scenario}, written by longhaul.\n`;
  return head + settings.map((line) => `${line}\n`).join('');
}

function settingsOf(test: RunnableTestId, benchmark: string, scenario: Scenario): string[] {
  switch (test) {
    case 'TEST01':
      return [
        '*.*.mode = 2',
        `*.*.accuracy_log_rng_seed = ${ACCURACY_LOG_SEED}`,
        `*.*.accuracy_log_sampling_target = ${samplingTargetOf(benchmark)}`,
      ];
    case 'TEST04': {
      const own = TEST04_OF_MODEL[benchmark]?.[scenario];
      return [
        `*.${scenario}.mode = 2`,
        `*.${scenario}.performance_issue_unique = 0`,
        `*.${scenario}.performance_issue_same = 1`,
        `*.${scenario}.performance_issue_same_index = ${SAME_SAMPLE_INDEX}`,
        ...(own === undefined ? [] : [`*.${scenario}.${own}`]),
      ];
    }
    case 'TEST05':
      return ['*.*.test05 = 1'];
    case 'TEST06':
      return [
        '*.*.mode = 2',
        `*.*.accuracy_log_rng_seed = ${ACCURACY_LOG_SEED}`,
        `*.*.accuracy_log_sampling_target = ${TEST06_SAMPLING_TARGET}`,
        '*.*.min_query_count = 100',
        '*.*.min_duration = 0',
        '*.*.sample_concatenate_permutation = 0',
      ];
  }
}
