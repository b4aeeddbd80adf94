import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { asOneLine } from '../../../../shared/base/text.ts';
import { readAccuracyLog } from '../../../loadgen/logs/read/accuracy-log-reader.ts';
import { accuracyText } from '../../../run/keep/accuracy-file.ts';
import { repeatsInWords } from '../../../samples/benchmarks/score-each.ts';
import type { AccuracyReport } from '../../../samples/data-set/data-set.ts';
import { VERIFY_FILES } from '../../rules/test-files.ts';
import { requireWholeLog } from '../../truncate/cut-log.ts';
import {
  type AccuracyPair,
  type AnswersBySight,
  accuracyLine,
  answersBySight,
  DEVIATIONS_MAX,
  type LogPair,
  type ResponseScorer,
  scorePair,
} from '../responses/answers-by-sight.ts';
import {
  compareResponses,
  type ResponseComparison,
  type ResponseType,
} from '../responses/compare-responses.ts';
import { type Proportion, shareOf } from '../responses/proportions.ts';
import { comparePerformance } from './compare-performance.ts';
import { check, type TestCheck } from './read-compliance-run.ts';
import { readTestedRuns, type TestedFolders, type TestVerdict, verdictOn } from './verify-test.ts';

/** Input of TEST01: its runs, and how to compare their responses. */
export interface Test01 extends TestedFolders {
  readonly accuracy: string;
  /** How the official script reads a response. */
  readonly responseType: ResponseType;
  /** Percent by which the accuracy may differ if responses do: 1, or 0.1 for the 99.9 % models. */
  readonly accuracyTolerancePercent: number;
  /**
   * Tolerances of metrics with their own; those listed here are compared in addition to the
   * benchmark's.
   */
  readonly metricTolerancePercents?: Readonly<Record<string, number>> | undefined;
  /** Undefined if longhaul has no accuracy script for the benchmark. */
  readonly scorer?: ResponseScorer;
}

/**
 * TEST01: are responses in performance mode the same as in accuracy mode, at the same speed? The
 * script compares the first element of each response; longhaul compares all bytes. If they differ,
 * accuracies decide: officially of the first logged response to each sample, in longhaul of every
 * logged one, and by how often a sample occurred before.
 * @throws MlperfError as {@link readTestedRuns}
 */
export async function verifyTest01(test: Test01): Promise<TestVerdict> {
  const runs = await readTestedRuns(test);
  const { accuracyLog, tested } = runs;
  const testLog = tested.folder.accuracy;
  for (const log of [accuracyLog, testLog]) await requireWholeLog(log, 'use');
  const compared = await compareResponses(accuracyLog, testLog, test.responseType);
  const performance = comparePerformance('TEST01', test.round, runs);
  const scored = await scoreTest(test.scorer, compared, { accuracyLog, testLog });
  return verdictOn('TEST01', test.round, tested, {
    checks: [
      responsesCheck(compared, test, scored.pair),
      scored.pairs === undefined
        ? wholeCheck(compared, test, scored.sights)
        : wholeMetricCheck(compared, test, scored.pairs),
      ...rightAnswersCheck(scored.sights),
      coverageCheck(compared),
      performance.check,
    ],
    notes: scored.notes,
    texts: new Map([
      [VERIFY_FILES.accuracy, verifyAccuracyText(compared, test.responseType)],
      [VERIFY_FILES.performance, performance.text],
      ...scored.texts,
    ]),
  });
}

function isOfficialMatch(compared: ResponseComparison): boolean {
  const { firstElementMismatches, matchedEntries, brokenResponse } = compared;
  return brokenResponse === undefined && firstElementMismatches === 0 && matchedEntries > 0;
}

/** verify_accuracy.txt as printed by the official verify_accuracy.py; the same in all rounds. */
function verifyAccuracyText(compared: ResponseComparison, type: ResponseType): string {
  const { brokenResponse } = compared;
  const begin = [
    'Verifying accuracy. This might take a while...',
    'Reading accuracy mode results...',
    'Reading performance mode results...',
  ];
  if (brokenResponse !== undefined) {
    return [...begin, `TEST FAIL: ${brokenText(brokenResponse, type)}`, ''].join('\n');
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

function brokenText(
  { sampleIndex, bytes }: NonNullable<ResponseComparison['brokenResponse']>,
  type: ResponseType,
): string {
  return `the response to sample ${sampleIndex} has ${bytes} bytes, which are no ${type} values`;
}

/** Accuracies of the responses, and their texts. */
async function scoreTest(
  scorer: ResponseScorer | undefined,
  compared: ResponseComparison,
  logs: LogPair,
) {
  if (scorer === undefined) {
    return unscored('longhaul has no accuracy script for this benchmark');
  }
  try {
    const { testEntries, testSamples } = compared;
    if (testEntries === 0) return unscored('the test logged no response');
    const { own, pair, ...decisive } = await scoreResponses(scorer, compared, logs);
    const marks = scorer.marks().map(asOneLine);
    const scores = {
      accuracy: own,
      ...(pair && { baseline_accuracy: pair.baseline, compliance_accuracy: pair.compliance }),
    };
    return {
      pair,
      ...decisive,
      notes: [
        `accuracy of the logged responses: ${lastLine(own)}${repeatsInWords(testEntries, { ...own, sampleCount: testSamples })}`,
        ...marks,
      ],
      // The fallback's two files must be absent if the script says PASS.
      texts: Object.entries(scores).map(([name, report]): [path: string, text: string] => [
        `accuracy/${name}.txt`,
        accuracyText(accuracyLine(report), marks),
      ]),
    };
  } catch (error) {
    if (!(error instanceof MlperfError) || error.code === 'ERR_OUTPUT') throw error;
    return unscored(error.message);
  }
}

/**
 * Scores as many responses as the comparison leaves open.
 * @returns `pair`: if the official script says FAIL, for its fallback. `sights` or `pairs`: if
 *   any byte differs; `sights` if the metric is a share of correct samples.
 */
async function scoreResponses(scorer: ResponseScorer, compared: ResponseComparison, logs: LogPair) {
  const { counts, wholeMismatches, testEntries, testSamples } = compared;
  const isMatch = isOfficialMatch(compared);
  const doDiffer = wholeMismatches > 0;
  if (!doDiffer && isMatch) {
    const own = await scorer.score(readAccuracyLog(logs.testLog));
    return { own, pair: undefined, sights: undefined, pairs: undefined };
  }
  const first = await scorePair(logs, counts, scorer);
  const own = first.compliance;
  const found = { own, pair: isMatch ? undefined : first };
  if (!doDiffer) return { ...found, sights: undefined, pairs: undefined };
  if (own.correctCount !== undefined) {
    return { ...found, sights: await answersBySight(logs, scorer), pairs: undefined };
  }
  const last = testEntries > testSamples ? [await scorePair(logs, counts, scorer, 'last')] : [];
  return { ...found, sights: undefined, pairs: [first, ...last] };
}

/** If a script prints several lines, the last one has the score. */
function lastLine(report: AccuracyReport): string {
  return accuracyLine(report).split('\n').at(-1) as string;
}

function unscored(why: string) {
  const note = `accuracy/accuracy.txt is missing, since ${why}: put there what the benchmark's accuracy script prints of the test's accuracy log`;
  return { pair: undefined, sights: undefined, pairs: undefined, notes: [note], texts: [] };
}

/**
 * The script's decision; if responses differ, its fallback compares the accuracies of the first
 * response to each sample.
 */
function responsesCheck(
  compared: ResponseComparison,
  test: Test01,
  pair: AccuracyPair | undefined,
): TestCheck {
  const { firstElementMismatches, matchedEntries, brokenResponse } = compared;
  const { testEntries, testSamples } = compared;
  const decided = (isMet: boolean, text: string, more: Partial<TestCheck> = {}): TestCheck =>
    check('responses', isMet, text, { isOfficial: true, ...more });
  if (brokenResponse !== undefined) {
    return decided(false, brokenText(brokenResponse, test.responseType), {
      advice:
        'The official script breaks off here. Is it told the right type (--response-type), and are all responses of one form?',
    });
  }
  const seen = `the first ${test.responseType} of ${matchedEntries} logged responses was compared with the accuracy run's: ${firstElementMismatches} differ`;
  if (matchedEntries === 0) {
    return decided(false, seen, {
      advice:
        'No response of the test could be compared. Was the run made with audit.config, and is the accuracy run one of the same data set?',
    });
  }
  if (firstElementMismatches === 0) return decided(true, seen);
  if (pair === undefined) {
    return decided(false, `${seen}; the accuracies could not be compared`, { advice: ADVICE });
  }
  const { baseline, compliance } = pair;
  const { isNear, text } = nearness(pair, test);
  return decided(
    isNear,
    `${seen}; accuracy on the same samples: accuracy run ${lastLine(baseline)}, test run ${lastLine(compliance)}, ${text}`,
    {
      warning:
        'the official script says TEST FAIL; only its fallback to accuracies passes, which scores the first logged response to each ' +
        `sample: ${testEntries - testSamples} of ${testEntries} responses do not count there. longhaul's own checks below score all of them.`,
      advice: ADVICE,
    },
  );
}

const ADVICE =
  'The system answers otherwise in performance mode than in accuracy mode. Look for modes, precisions or shortcuts that depend on load, batch size or on a sample having been seen before; numbers that vary from run to run are allowed as long as the accuracy stays.';

function apart(deltaPercent: number, tolerance: number): string {
  return `apart by ${deltaPercent.toFixed(4)} %, allowed ${tolerance} %`;
}

/** True if two accuracies are close enough in each required metric. */
function nearness(
  { baseline, deltaPercents }: AccuracyPair,
  { accuracyTolerancePercent, metricTolerancePercents: own = {} }: Test01,
) {
  const compared = [...deltaPercents].filter(
    ([metric]) => metric === baseline.metric || Object.hasOwn(own, metric),
  );
  const tolerance = (metric: string): number => own[metric] ?? accuracyTolerancePercent;
  const texts = compared.map(([metric, delta]) => {
    const text = apart(delta, tolerance(metric));
    return compared.length === 1 ? text : `${metric} ${text}`;
  });
  return {
    isNear: compared.every(([metric, delta]) => delta <= tolerance(metric)),
    text: texts.join(', '),
  };
}

/**
 * Compares all bytes of all logged responses; if they differ, the accuracies of all of them decide.
 */
function wholeCheck(
  compared: ResponseComparison,
  { accuracyTolerancePercent: tolerance }: Test01,
  sights: AnswersBySight | undefined,
): TestCheck {
  const { wholeMismatches, testEntries, testSamples, differingSamples } = compared;
  const name = 'whole responses';
  const seen = `all bytes of ${testEntries} logged responses were compared with the accuracy run's: ${wholeMismatches} differ`;
  if (wholeMismatches === 0) return check(name, true, seen);
  const which = `${seen}, the first for the samples ${differingSamples.slice(0, 5)}`;
  if (sights === undefined) {
    return check(name, false, `${which}; the accuracies could not be compared`, { advice: ADVICE });
  }
  const { accuracyRun, logged, deltaPercent } = sights;
  return check(
    name,
    deltaPercent <= tolerance,
    `${which}; right of all logged responses: ${rightInWords(logged)}; the accuracy run to the same: ${rightInWords(accuracyRun)}; ${apart(deltaPercent, tolerance)}`,
    {
      warning: `${differingSamples.length} of ${testSamples} samples were answered otherwise than in the accuracy run. Their accuracy is within the tolerance; is the system known to be not deterministic?`,
      advice: ADVICE,
    },
  );
}

/**
 * {@link wholeCheck} for a metric that is not a share of correct samples (mAP, F1): the accuracies
 * of the first logged response to each sample decide, and those of the last response to each
 * repeated sample.
 */
function wholeMetricCheck(
  { wholeMismatches, testEntries, differingSamples }: ResponseComparison,
  test: Test01,
  pairs: readonly AccuracyPair[],
): TestCheck {
  const seen = `all bytes of ${testEntries} logged responses were compared with the accuracy run's: ${wholeMismatches} differ, the first for the samples ${differingSamples.slice(0, 5)}`;
  const texts = pairs.map(
    (pair, i) =>
      `${i === 0 ? 'first' : 'last'} logged responses ${lastLine(pair.compliance)}, accuracy run to the same samples ${lastLine(pair.baseline)}, ${nearness(pair, test).text}`,
  );
  const isMet = pairs.every((pair) => nearness(pair, test).isNear);
  return check('whole responses', isMet, [seen, ...texts].join('; '), {
    warning: `${differingSamples.length} samples were answered otherwise than in the accuracy run. Their accuracy is within the tolerance; is the system known to be not deterministic?`,
    advice: ADVICE,
  });
}

/**
 * Checks whether the test is correct less often than chance explains, overall or for repeated
 * samples.
 */
function rightAnswersCheck(sights: AnswersBySight | undefined): TestCheck[] {
  if (sights === undefined) return [];
  const { first, repeats, deviations } = sights;
  const text =
    `right of the first logged responses to each sample: ${rightInWords(first)}; of the repeats: ${rightInWords(repeats)}. ` +
    `Compared sample by sample with the accuracy run's response and the first one, the others are right less often by ${deviations.toFixed(1)} ` +
    `standard deviations; fails from ${DEVIATIONS_MAX}, as one honest test of 1000 does whose answers vary`;
  const advice =
    'The system is right less often in performance mode, or for samples that it has seen before, and chance does not explain it. An accuracy run asks for each sample once and cannot show it. Look for what the system keeps of a sample, and for what it does otherwise under load.';
  return [check('right answers', deviations < DEVIATIONS_MAX, text, { advice })];
}

function rightInWords(proportion: Proportion): string {
  const { correct, total } = proportion;
  if (total === 0) return 'none was logged';
  return `${correct} of ${total} (${(100 * shareOf(proportion)).toFixed(3)} %)`;
}

function coverageCheck(compared: ResponseComparison): TestCheck {
  const { testEntries, missingSamples, accuracyMismatches } = compared;
  const twice =
    accuracyMismatches === 0
      ? ''
      : `; in it ${accuracyMismatches} further responses differ from the first one to their sample`;
  const text = `${testEntries} responses were logged; ${missingSamples} of their samples are not in the accuracy log${twice}`;
  const advice =
    'Every logged response needs its counterpart: an accuracy run issues every sample of the data set once. Was its log truncated or cut off?';
  return check('coverage', testEntries > 0 && missingSamples === 0, text, { advice });
}
