import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import type { Round } from '../../../shared/rules/rounds/rounds.ts';
import { modelOfFolder, modelsOfBenchmark } from '../rules/models-of-rounds.ts';
import type { SubmissionModel } from '../rules/submission-model.ts';
import { SUBMISSION_ROUNDS, type SubmissionRound } from '../rules/submission-rounds.ts';
import type { RunnableTestId } from '../rules/test-ids.ts';

/** What a round says of a test of a benchmark. */
export interface TestApplies {
  /** The model that is tested; undefined for a benchmark that no round has. */
  readonly model?: SubmissionModel;
  /** For people, where no round asks for the test. */
  readonly note?: string;
}

/**
 * Whether a round has a test for a benchmark. A benchmark that no round has (`digits`) may be tested all the same.
 * @param model Name or folder of the model, where the benchmark has several: `dlrm-v2-99.9`.
 * @throws MlperfError `ERR_CONFIG_INVALID` telling what there is.
 */
export function requireTest(
  test: RunnableTestId,
  benchmark: string,
  round: SubmissionRound,
  model?: string,
): TestApplies {
  if (test === 'TEST05' && round !== 'v4.1') {
    throw configInvalid(`round ${round} has no TEST05: rounds after v4.1 dropped it`);
  }
  const models = modelsOfBenchmark(round, benchmark);
  const [first] = models;
  if (first !== undefined) {
    const named = model === undefined ? first : modelOfFolder(round, model);
    if (named === undefined || !models.includes(named)) {
      const names = models.map(({ name }) => name).join(', ');
      throw configInvalid(
        `--model ${model}: round ${round} has for benchmark ${benchmark}: ${names}`,
      );
    }
    if (named.tests.includes(test)) return { model: named };
    const has = named.tests.length === 0 ? 'no test' : named.tests.join(', ');
    throw configInvalid(`round ${round} has no ${test} for ${named.name}; it has ${has}`);
  }
  const others = SUBMISSION_ROUNDS.filter((it) => modelsOfBenchmark(it, benchmark).length > 0);
  if (others.length > 0) {
    throw configInvalid(
      `round ${round} has no benchmark ${benchmark}; there it is in ${others.join(', ')}`,
    );
  }
  return {
    note: `No round has the benchmark ${benchmark}: the test shows something, but counts for none.`,
  };
}

/**
 * The round as one of those whose submissions are known.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function submissionRound(round: Round): SubmissionRound {
  const found = SUBMISSION_ROUNDS.find((known) => known === round);
  if (found !== undefined) return found;
  throw configInvalid(
    `--round ${round}: the compliance tests of this round are not known; there is: ${SUBMISSION_ROUNDS.join(', ')}`,
  );
}

/**
 * Percent by which accuracies may differ where responses do.
 * Source: submission checkers of all rounds (1, 0.1 for models of 99.9 %).
 */
export function accuracyTolerancePercent(model: SubmissionModel | undefined): number {
  return model?.name.includes('99.9') === true ? 0.1 : 1;
}
