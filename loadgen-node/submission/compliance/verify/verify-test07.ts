import { configInvalid } from '../../../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readNamedText } from '../../../../shared/base/files/read-file.ts';
import { pythonFloat } from '../../../loadgen/base/number-format.ts';
import { readAccuracyLog } from '../../../loadgen/logs/read/accuracy-log-reader.ts';
import { TEST_FAIL, TEST_PASS, VERIFY_FILES } from '../../rules/test-files.ts';
import { requireWholeLog } from '../../truncate/cut-log.ts';
import { check } from './read-compliance-run.ts';
import { readTestedRuns, type TestedFolders, type TestVerdict, verdictOn } from './verify-test.ts';

/** Input of TEST07: its runs, and the score of its responses. */
export interface Test07 extends TestedFolders {
  /** Name of the model: `gpt-oss-120b`. */
  readonly model: string;
  /** File with the output of the benchmark's accuracy script for the test's accuracy log. */
  readonly accuracyOutput: string;
}

/**
 * Smallest score of each model, and the sample count of the test's data set. Source: audit.config
 * of TEST07 (test07_accuracy_threshold, min_query_count).
 */
const RULES: Readonly<Record<string, { readonly threshold: number; readonly samples: number }>> = {
  'gpt-oss-120b': { threshold: 60.698, samples: 990 },
};

/**
 * Score in an accuracy script's output; the first one counts. Source: run_verification.py,
 * --score-pattern.
 */
const SCORE = /'exact_match':\s*([\d.]+)/;

const RULE_LINE = '='.repeat(80);

/**
 * TEST07: does the system reach the required accuracy in performance mode? The test has its own
 * data set. The official script runs the benchmark's accuracy script; longhaul lacks that script,
 * and reads its output.
 * @throws MlperfError as {@link readTestedRuns}, and `ERR_CONFIG_INVALID` if the output is
 *   already a verdict.
 */
export async function verifyTest07(test: Test07): Promise<TestVerdict> {
  const { tested } = await readTestedRuns(test, true);
  const rule = RULES[test.model];
  if (rule === undefined) throw configInvalid(`TEST07 has no threshold for ${test.model}`);
  await requireWholeLog(tested.folder.accuracy, 'use');
  const output = readNamedText(test.accuracyOutput, FILE_BYTES_MAX.document);
  if (output.includes(TEST_PASS) || output.includes(TEST_FAIL)) {
    throw configInvalid(
      `--accuracy-output ${test.accuracyOutput} has a verdict in it: what the benchmark's accuracy script printed is needed, without that of run_verification.py`,
    );
  }
  const { threshold } = rule;
  const found = Number(SCORE.exec(output)?.[1] ?? Number.NaN);
  const isMet = found >= threshold;
  const lines = Number.isNaN(found)
    ? ['Error: Could not parse accuracy score']
    : [
        `Accuracy score: ${pythonFloat(found)}`,
        `Accuracy threshold: ${pythonFloat(threshold)}`,
        `Accuracy check pass: ${isMet ? 'True' : 'False'}`,
      ];
  const summary = [RULE_LINE, 'TEST07 Verification Summary', RULE_LINE, ...lines];
  const text = Number.isNaN(found)
    ? `${test.accuracyOutput} has no line 'exact_match': <score>`
    : `the accuracy script found ${found}; needed: at least ${threshold}`;
  return verdictOn('TEST07', test.round, tested, {
    checks: [
      check('accuracy', isMet, text, { isOfficial: true, advice: ADVICE }),
      await coverageCheck(tested.folder.accuracy, rule.samples),
    ],
    notes: [
      `the score is what ${test.accuracyOutput} says: longhaul did not compute it, and cannot tell whether it is of this accuracy log`,
    ],
    texts: new Map([
      [
        VERIFY_FILES.accuracy,
        `${output}\n${[...summary, isMet ? TEST_PASS : TEST_FAIL, ''].join('\n')}`,
      ],
    ]),
  });
}

const ADVICE =
  'Is the output that of the accuracy script over the accuracy log of this run, with the data set of the test (acc_eval_compliance_gpqa) as its reference? If so, the system is right less often in performance mode than it has to be.';

/**
 * Checks that all samples were scored: a score over some of them is another figure, though the
 * official script accepts it.
 */
export async function coverageCheck(log: string, needed: number) {
  const samples = new Set<number>();
  let entries = 0;
  for await (const { sampleIndex } of readAccuracyLog(log)) {
    entries += 1;
    samples.add(sampleIndex);
  }
  const text = `${entries} responses to ${samples.size} samples were logged; the data set of the test has ${needed}`;
  return check('coverage', samples.size >= needed, text, {
    advice:
      'Every sample of the data set has to be logged. Was the run made with the newest audit.config of the test (performance_issue_unique = 1), and was it not broken off?',
  });
}
