import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { asOneLine } from '../../../../shared/base/text/one-line.ts';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import { repeatsInWords } from '../../../samples/benchmarks/score-accuracy-log.ts';
import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import {
  type AccuracyPair,
  accuracyLine,
  firstOfEach,
  loggedResponses,
  type ResponseScorer,
  scorePair,
} from '../responses/accuracy-fallback.ts';
import {
  type AnswersBySight,
  answersBySight,
  DEVIATIONS_MAX,
} from '../responses/answers-by-sight.ts';
import {
  compareResponses,
  type ResponseComparison,
  type ResponseType,
} from '../responses/compare-responses.ts';
import { type Proportion, shareOf } from '../responses/two-proportions.ts';
import { auditCheck, validityChecks } from './common-checks.ts';
import { comparePerformance } from './compare-performance.ts';
import { readComplianceRun } from './read-compliance-run.ts';
import { requireRound, requireSameSystem } from './same-system.ts';
import { type TestCheck, type TestVerdict, testVerdict } from './test-verdict.ts';

/** What TEST01 compares. */
export interface Test01 {
  readonly round: SubmissionRound;
  /** Folder of the submission's performance run. */
  readonly performance: string;
  /** Folder of its accuracy run; its accuracy log has to be whole. */
  readonly accuracy: string;
  /** Folder of the test's run. */
  readonly test: string;
  /** How the official script reads a response. */
  readonly responseType: ResponseType;
  /** Percent by which the accuracy may differ where responses do: 1, or 0.1 for the models of 99.9 %. */
  readonly accuracyTolerancePercent: number;
  /** Undefined where nobody can score the benchmark's responses. */
  readonly scorer?: ResponseScorer;
}

/**
 * TEST01: are responses in performance mode the same as in accuracy mode, at the same speed? The script compares
 * the first element of each response; longhaul compares all of it. Where they differ, accuracies decide: officially of
 * the first logged response to each sample, with longhaul of every logged one, and by how often a sample was seen before.
 * @throws MlperfError `ERR_CONFIG_INVALID` when the runs do not belong together, `ERR_CONFIG_FILE` or
 *   `ERR_OUTPUT` when a folder or a log cannot be read.
 */
export async function verifyTest01(test: Test01): Promise<TestVerdict> {
  const { round } = test;
  const reference = await readComplianceRun(test.performance);
  const accuracy = await readComplianceRun(test.accuracy);
  const tested = await readComplianceRun(test.test);
  requireRound(reference, round);
  requireSameSystem(reference, accuracy, 'accuracy run');
  requireSameSystem(reference, tested, 'test run');
  const compared = await compareResponses(
    accuracy.folder.accuracy,
    tested.folder.accuracy,
    test.responseType,
  );
  const performance = comparePerformance('TEST01', round, reference, tested);
  const scored = await scoreTest(test, compared, accuracy.folder.accuracy, tested.folder.accuracy);
  const isExact = isOfficialMatch(compared);
  const texts = new Map([
    ['verify_accuracy.txt', verifyAccuracyText(compared, test.responseType)],
    ['verify_performance.txt', performance.text],
    ...scored.texts(isExact),
  ]);
  return testVerdict({
    test: 'TEST01',
    round,
    checks: [
      responsesCheck(compared, test, scored.pair),
      wholeCheck(compared, test, scored.sights),
      ...rightAnswersCheck(scored.sights),
      coverageCheck(compared),
      performance.check,
      ...validityChecks(tested),
      auditCheck('TEST01', round, tested),
    ],
    notes: scored.notes,
    texts,
    copies: new Map([
      [`accuracy/${RUN_FILES.accuracy}`, tested.folder.accuracy],
      [`performance/run_1/${RUN_FILES.summary}`, tested.folder.summary],
      [`performance/run_1/${RUN_FILES.detail}`, tested.folder.detail],
    ]),
  });
}

function isOfficialMatch(compared: ResponseComparison): boolean {
  const { firstElementMismatches, matchedEntries, brokenResponse } = compared;
  return brokenResponse === undefined && firstElementMismatches === 0 && matchedEntries > 0;
}

/** Text of verify_accuracy.txt as the official verify_accuracy.py prints it; the same in all rounds. */
function verifyAccuracyText(compared: ResponseComparison, type: ResponseType): string {
  const { brokenResponse } = compared;
  const begin = [
    'Verifying accuracy. This might take a while...',
    'Reading accuracy mode results...',
    'Reading performance mode results...',
  ];
  if (brokenResponse !== undefined) {
    const { sampleIndex, bytes } = brokenResponse;
    const why = `the response to sample ${sampleIndex} has ${bytes} bytes, which are no ${type} values`;
    return [...begin, `TEST FAIL: ${why}`, ''].join('\n');
  }
  return [
    ...begin,
    `num_acc_log_entries = ${compared.accuracyEntries}`,
    `num_acc_log_duplicate_keys = ${compared.accuracyDuplicates}`,
    `num_acc_log_data_mismatch = ${compared.accuracyMismatches}`,
    `num_perf_log_entries = ${compared.testEntries}`,
    `num_perf_log_qsl_idx_match = ${compared.matchedEntries}`,
    `num_perf_log_data_mismatch = ${compared.firstElementMismatches}`,
    `num_missing_qsl_idxs = ${compared.missingSamples}`,
    isOfficialMatch(compared) ? 'TEST PASS' : 'TEST FAIL',
    '',
    '',
  ].join('\n');
}

/** What scoring gave. */
interface ScoredTest {
  readonly pair: AccuracyPair | undefined;
  /** Undefined where all responses are the accuracy run's. */
  readonly sights: AnswersBySight | undefined;
  readonly notes: readonly string[];
  /** Files of accuracy/; the two of the fallback must not be there where the script says PASS. */
  texts(isExact: boolean): [string, string][];
}

async function scoreTest(
  { scorer }: Test01,
  compared: ResponseComparison,
  accuracyLog: string,
  testLog: string,
): Promise<ScoredTest> {
  if (scorer === undefined) {
    return unscored('longhaul has no accuracy script for this benchmark');
  }
  try {
    const logged = await loggedResponses(testLog);
    if (logged.length === 0) return unscored('the test logged no response');
    const responses = firstOfEach(logged);
    const needsPair = !isOfficialMatch(compared);
    const pair = needsPair ? await scorePair(accuracyLog, responses, scorer) : undefined;
    const own = pair?.compliance ?? (await scorer.score(responses));
    const doDiffer = compared.wholeMismatches > 0;
    const sights = doDiffer ? await answersBySight(accuracyLog, logged, scorer) : undefined;
    const ownMarks = scorer.marks().map(asOneLine);
    const marks = ownMarks.map((mark) => `note: ${mark}`);
    const file = (line: string): string => [line, ...marks, ''].join('\n');
    return {
      ...{ pair, sights },
      notes: [
        `accuracy of the logged responses: ${accuracyLine(own)}${repeatsInWords(compared.testEntries, responses.length)}`,
        ...ownMarks,
      ],
      texts: (isExact) => [
        ['accuracy/accuracy.txt', file(accuracyLine(own))],
        ...(isExact || pair === undefined
          ? []
          : ([
              ['accuracy/baseline_accuracy.txt', file(accuracyLine(pair.baseline))],
              ['accuracy/compliance_accuracy.txt', file(accuracyLine(pair.compliance))],
            ] as [string, string][])),
      ],
    };
  } catch (error) {
    if (!(error instanceof MlperfError) || error.code === 'ERR_OUTPUT') throw error;
    return unscored(error.message);
  }
}

function unscored(why: string): ScoredTest {
  const note = `accuracy/accuracy.txt is missing, since ${why}: put there what the benchmark's accuracy script prints of the test's accuracy log`;
  return { pair: undefined, sights: undefined, notes: [note], texts: () => [] };
}

function responsesCheck(
  compared: ResponseComparison,
  { accuracyTolerancePercent, responseType }: Test01,
  pair: AccuracyPair | undefined,
): TestCheck {
  const name = 'responses';
  const { firstElementMismatches, matchedEntries, brokenResponse } = compared;
  const seen =
    brokenResponse === undefined
      ? `the first ${responseType} of ${matchedEntries} logged responses was compared with the accuracy run's: ${firstElementMismatches} differ`
      : `the response to sample ${brokenResponse.sampleIndex} has ${brokenResponse.bytes} bytes, which are no ${responseType} values`;
  if (isOfficialMatch(compared)) return { name, isMet: true, isOfficial: true, text: seen };
  if (brokenResponse !== undefined) {
    const advice =
      'The official script breaks off here. Is it told the right type (--response-type), and are all responses of one form?';
    return { name, isMet: false, isOfficial: true, text: seen, advice };
  }
  if (matchedEntries === 0) {
    const advice =
      'No response of the test could be compared. Was the run made with audit.config, and is the accuracy run one of the same data set?';
    return { name, isMet: false, isOfficial: true, text: seen, advice };
  }
  return {
    name,
    isOfficial: true,
    ...decideByFallback(seen, pair, compared, accuracyTolerancePercent),
  };
}

const ADVICE =
  'The system answers otherwise in performance mode than in accuracy mode. Look for modes, precisions or shortcuts that depend on load, batch size or on a sample having been seen before; numbers that vary from run to run are allowed as long as the accuracy stays.';

/** Where responses differ, the official fallback compares the accuracies of the first logged response to each sample. */
function decideByFallback(
  seen: string,
  pair: AccuracyPair | undefined,
  { testEntries, testSamples }: ResponseComparison,
  tolerance: number,
): Pick<TestCheck, 'isMet' | 'text' | 'advice' | 'warning'> {
  if (pair === undefined) {
    const text = `${seen}; the accuracies could not be compared`;
    return { isMet: false, text, advice: ADVICE };
  }
  const { baseline, compliance } = pair;
  const isMet = pair.deltaPercent <= tolerance;
  const text = `${seen}; accuracy on the same samples: accuracy run ${accuracyLine(baseline)}, test run ${accuracyLine(compliance)}, apart by ${pair.deltaPercent.toFixed(4)} %, allowed ${tolerance} %`;
  if (!isMet) return { isMet, text, advice: ADVICE };
  const unseen = testEntries - testSamples;
  const warning =
    'the official script says TEST FAIL; only its fallback to accuracies passes, which scores the first logged response to each ' +
    `sample: ${unseen} of ${testEntries} responses count for nothing there. longhaul's own checks below score all of them.`;
  return { isMet, text, warning };
}

/** All bytes of all logged responses; where they differ, the accuracies of all of them decide. */
function wholeCheck(
  compared: ResponseComparison,
  { accuracyTolerancePercent: tolerance }: Test01,
  sights: AnswersBySight | undefined,
): TestCheck {
  const { wholeMismatches, testEntries, testSamples, differingSamples } = compared;
  const base = { name: 'whole responses', isOfficial: false } as const;
  const seen = `all bytes of ${testEntries} logged responses were compared with the accuracy run's: ${wholeMismatches} differ`;
  if (wholeMismatches === 0) return { ...base, isMet: true, text: seen };
  const which = `${seen}, the first for the samples ${differingSamples.slice(0, 5)}`;
  if (sights === undefined) {
    const text = `${which}; the accuracies could not be compared`;
    return { ...base, isMet: false, text, advice: ADVICE };
  }
  const { accuracyRun, logged, deltaPercent } = sights;
  const isMet = deltaPercent <= tolerance;
  const text = `${which}; right of all logged responses: ${rightInWords(logged)}; the accuracy run to the same: ${rightInWords(accuracyRun)}; apart by ${deltaPercent.toFixed(4)} %, allowed ${tolerance} %`;
  if (!isMet) return { ...base, isMet, text, advice: ADVICE };
  const warning = `${differingSamples.length} of ${testSamples} samples were answered otherwise than in the accuracy run. Their accuracy is within the tolerance; is the system known to be not deterministic?`;
  return { ...base, isMet, text, warning };
}

/** Is the test right less often than chance explains, all in all or where a sample was seen before? */
function rightAnswersCheck(sights: AnswersBySight | undefined): TestCheck[] {
  if (sights === undefined) return [];
  const { first, repeats, deviations } = sights;
  const isMet = deviations < DEVIATIONS_MAX;
  const text =
    `right of the first logged responses to each sample: ${rightInWords(first)}; of the repeats: ${rightInWords(repeats)}. ` +
    `Compared sample by sample with the accuracy run's response and the first one, the others are right less often by ${deviations.toFixed(1)} ` +
    `standard deviations; fails from ${DEVIATIONS_MAX}, as one honest test of 1000 does whose answers vary`;
  const advice =
    'The system is right less often in performance mode, or for samples that it has seen before, and chance does not explain it. An accuracy run asks for each sample once and cannot show it. Look for what the system keeps of a sample, and for what it does otherwise under load.';
  return [{ name: 'right answers', isMet, isOfficial: false, text, ...(isMet ? {} : { advice }) }];
}

function rightInWords(proportion: Proportion): string {
  const { correct, total } = proportion;
  if (total === 0) return 'none was logged';
  return `${correct} of ${total} (${(100 * shareOf(proportion)).toFixed(3)} %)`;
}

function coverageCheck(compared: ResponseComparison): TestCheck {
  const { testEntries, missingSamples, accuracyMismatches } = compared;
  const isMet = testEntries > 0 && missingSamples === 0;
  const twice =
    accuracyMismatches === 0
      ? ''
      : `; in it ${accuracyMismatches} further responses differ from the first one to their sample`;
  const text = `${testEntries} responses were logged; ${missingSamples} of their samples are not in the accuracy log${twice}`;
  const advice =
    'Every logged response needs its counterpart: an accuracy run issues every sample of the data set once. Was its log truncated or cut off?';
  const name = 'coverage';
  return { name, isMet, isOfficial: false, text, ...(isMet ? {} : { advice }) };
}
