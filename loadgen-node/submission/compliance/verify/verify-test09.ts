import { configInvalid } from '../../../../shared/base/errors/mlperf-error.ts';
import { formatFixed, pythonFloat } from '../../../loadgen/base/number-format.ts';
import { readAccuracyLog } from '../../../loadgen/logs/read/accuracy-log-reader.ts';
import { TEST_FAIL, TEST_PASS, VERIFY_FILES } from '../../rules/test-files.ts';
import { requireWholeLog } from '../../truncate/cut-log.ts';
import { check } from './read-compliance-run.ts';
import { readTestedRuns, type TestedFolders, type TestVerdict, verdictOn } from './verify-test.ts';
import { coverageCheck } from './verify-test07.ts';

/** Input of TEST09. */
export interface Test09 extends TestedFolders {
  /** Name of the model: `gpt-oss-120b`. */
  readonly model: string;
}

/**
 * Bounds on the mean token count, and the data set's sample count. Source: audit.config of TEST09
 * of each model (test09_min_output_tokens, test09_max_output_tokens, min_query_count).
 */
const RULES: Readonly<
  Record<string, { readonly least: number; readonly most: number; readonly samples: number }>
> = {
  'gpt-oss-120b': { least: 1150.38, most: 1406.02, samples: 6396 },
  'e2e-rag-qna': { least: 246.43, most: 301.19, samples: 824 },
};

/** Bytes per token in the accuracy log. */
const TOKEN_BYTES = 4;

const RULE_LINE = '='.repeat(80);

/**
 * TEST09: are responses in performance mode as long, on average, as the reference's? Truncated ones
 * would be faster. The official script counts whole tokens of 4 bytes and ignores a remainder;
 * longhaul refuses such a response, and one whose token count differs from that used for the rate.
 * @throws MlperfError as {@link readTestedRuns}
 */
export async function verifyTest09(test: Test09): Promise<TestVerdict> {
  const { tested } = await readTestedRuns(test);
  const rule = RULES[test.model];
  if (rule === undefined) throw configInvalid(`TEST09 has no bounds for ${test.model}`);
  const log = tested.folder.accuracy;
  await requireWholeLog(log, 'use');
  const lengths: number[] = [];
  const faults: string[] = [];
  for await (const { sampleIndex, response, tokenCount } of readAccuracyLog(log)) {
    const length = Math.floor(response.length / TOKEN_BYTES);
    lengths.push(length);
    if (response.length % TOKEN_BYTES !== 0) {
      faults.push(`sample ${sampleIndex} has ${response.length} bytes`);
    } else if (tokenCount !== undefined && tokenCount !== length) {
      faults.push(`sample ${sampleIndex} has ${length} tokens, logged are ${tokenCount}`);
    }
  }
  const { text, mean, isMet } = judgeLengths(lengths, rule);
  const seen =
    faults.length === 0
      ? `so it is in ${lengths.length}`
      : `not so in ${faults.length} of ${lengths.length}; the first: ${faults[0]}`;
  const meanText =
    mean === undefined ? 'no response was logged' : `${mean.toFixed(2)} tokens on average`;
  return verdictOn('TEST09', test.round, tested, {
    checks: [
      check('length', isMet, `${meanText}; needed: ${rule.least} to ${rule.most}`, {
        isOfficial: true,
        advice: LENGTH_ADVICE,
      }),
      check(
        'tokens',
        faults.length === 0,
        `a response is as many int32 tokens as were counted: ${seen}`,
        {
          advice: TOKEN_ADVICE,
        },
      ),
      await coverageCheck(log, rule.samples),
    ],
    notes: [],
    texts: new Map([[VERIFY_FILES.outputLength, text]]),
  });
}

const LENGTH_ADVICE =
  'Does the SUT send token numbers as int32, and generate with the settings of the benchmark (length limit, reasoning effort)? If so, its responses are shorter or longer than those of the reference.';
const TOKEN_ADVICE =
  'The rate in tokens is of the counts that the SUT reports: they have to be true.';

/** The verdict, and verify_output_len.txt as written by the official script. */
function judgeLengths(
  lengths: readonly number[],
  { least, most }: { readonly least: number; readonly most: number },
) {
  if (lengths.length === 0) {
    // The script ends without a verdict.
    const text = `${TEST_FAIL}: No entries found in MLPerf log\n`;
    return { text, mean: undefined, isMet: false };
  }
  const sum = lengths.reduce((left, length) => left + length, 0);
  const mean = sum / lengths.length;
  const variance =
    lengths.reduce((left, length) => left + (length - mean) ** 2, 0) / lengths.length;
  const [isLong, isShort] = [mean >= least, mean <= most];
  const python = (is: boolean): string => (is ? 'True' : 'False');
  const meanLine = `Mean output tokens: ${formatFixed(mean, 2)}`;
  const lines = [
    ...[RULE_LINE, 'TEST09: Verify Output Token Length in Performance Mode', RULE_LINE, ''],
    ...['Output Token Length Statistics', '-'.repeat(40)],
    ...[`Total samples: ${lengths.length}`, meanLine],
    `Min output tokens: ${lengths.reduce((a, b) => Math.min(a, b))}`,
    `Max output tokens: ${lengths.reduce((a, b) => Math.max(a, b))}`,
    `Std deviation: ${formatFixed(Math.sqrt(variance), 2)}`,
    ...['', RULE_LINE, 'Verification Results', RULE_LINE, meanLine],
    ...[`Min threshold: ${pythonFloat(least)}`, `Max threshold: ${pythonFloat(most)}`],
    ...[`Min check pass: ${python(isLong)}`, `Max check pass: ${python(isShort)}`],
    ...['', isLong && isShort ? TEST_PASS : TEST_FAIL, ''],
  ];
  return { text: lines.join('\n'), mean, isMet: isLong && isShort };
}
