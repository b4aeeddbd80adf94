import { rounded } from '../../../../shared/base/text.ts';
import type { Scenario } from '../../../../shared/domain/scenario.ts';
import { pythonFloat } from '../../../loadgen/base/number-format.ts';
import { numberOf, recordOf } from '../../../loadgen/logs/read/detail-log.ts';
import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import { type ComplianceRun, check, isStream, RATE_KEYS } from './read-compliance-run.ts';
import { loweredShare } from './same-system.ts';

/**
 * Tests that compare speed with the submission run: share by which it may differ in the refused
 * direction. Source: their verify_performance.py.
 */
const SPEED_RULES = {
  TEST01: {
    tolerance: 0.1,
    refused: 'both',
    advice:
      'The system runs at another speed when LoadGen logs some of its responses: it may tell the two apart, or the machines were busy with other work during one of the runs. Compare the two summaries, and run both again on quiet machines.',
  },
  TEST04: {
    tolerance: 0.1,
    refused: 'faster',
    advice:
      'The system is faster when the same sample is requested again and again: something between LoadGen and the model may keep results or intermediate data, which the rules forbid, or the machines were busy with other work during the submission run. Look for caches in the SUT, its runtime and proxies, and run both again on quiet machines.',
  },
  TEST05: {
    tolerance: 0.05,
    refused: 'slower',
    advice:
      'The system is slower with other random seeds: it may be tuned to the order of samples and arrivals that the official seeds give, or the machines were busy with other work during one of the runs. Run both again on quiet machines.',
  },
} as const;

/** Score of a stream run up to which run-to-run variation is allowed to be 20 %. */
const RELAXED_UP_TO: Partial<Readonly<Record<Scenario, number>>> = {
  SingleStream: 200_000,
  MultiStream: 1_600_000,
};
const RELAXED_TOLERANCE = 0.2;

/**
 * Compares the speed of a test run with the submission run, like the round's verify_performance.py:
 * TEST01 within 10 % of it, TEST04 at most 10 % faster, TEST05 at most 5 % slower (SingleStream and
 * MultiStream: 20 % for short latencies). Rounds up to v5.0 read the summary with its two decimals;
 * from v5.1 on TEST01 reads the detail log. If the script ends without a verdict, the text has its
 * reason.
 * @returns The check, and the text of verify_performance.txt.
 */
export function comparePerformance(
  test: keyof typeof SPEED_RULES,
  round: SubmissionRound,
  { reference, tested }: { readonly reference: ComplianceRun; readonly tested: ComplianceRun },
) {
  const isDetail = test === 'TEST01' && round !== 'v4.1' && round !== 'v5.0';
  const { warnings, obstacle } = isDetail
    ? lookAtDetails([reference, tested])
    : lookAtSummaries(reference, tested);
  const begin = ['Verifying performance.', ...warnings];
  if (obstacle !== undefined) {
    return {
      text: [...begin, `TEST FAIL: ${obstacle}`, ''].join('\n'),
      check: check('performance', false, obstacle, { isOfficial: true, advice: OBSTACLE_ADVICE }),
    };
  }
  const scoreOf = (run: ComplianceRun) =>
    isDetail ? detailScore(run) : summaryScore(test, round, run);
  const [ref, got] = [scoreOf(reference), scoreOf(tested)];
  const { scenario } = reference;
  const { isMet, text } = judgeSpeed(test, scenario, { ref: ref.value, got: got.value }, isDetail);
  const [first, second] = isDetail ? ['Reference', 'Test'] : ['reference', 'test'];
  const scores = [`${first} score = ${ref.text}`, `${second} score = ${got.text}`];
  const verdict = isMet ? 'TEST PASS' : 'TEST FAIL: Test score invalid';
  const drawn = test === 'TEST05' ? drawnRates(reference, tested) : undefined;
  const isDrawn = drawn && got.value / ref.value > (LEFT_FOR_SYSTEM * drawn.got) / drawn.ref;
  const ofServer =
    scenario === 'Server' && test !== 'TEST04'
      ? `${SPEED_RULES[test].advice} In Server the rate is the target rate: a lowered one (--lower-qps) has to stay within the tolerance.`
      : SPEED_RULES[test].advice;
  const advice = drawn && isDrawn ? drawnAdvice(drawn) : ofServer;
  return {
    text: [...begin, ...scores, verdict, ''].join('\n'),
    check: check('performance', isMet, text, { isOfficial: true, advice }),
  };
}

interface DrawnRates {
  readonly ref: number;
  readonly got: number;
}

/**
 * Ratio of the two rates, each relative to its schedule, above which the schedules explain a failed
 * test: less than half of TEST05's tolerance is then left for the system.
 */
const LEFT_FOR_SYSTEM = 0.975;

/**
 * Scheduled rates of two Server runs with the same target rate and other seeds: other seeds draw
 * another schedule, whose rate comes near the target rate only in a long run. Undefined in other
 * scenarios, and if a log lacks one.
 */
function drawnRates(reference: ComplianceRun, tested: ComplianceRun): DrawnRates | undefined {
  if (reference.scenario !== 'Server' || loweredShare(reference, tested) > 0) return undefined;
  const [ref, got] = [numberOf(reference, SCHEDULED), numberOf(tested, SCHEDULED)];
  return ref === undefined || got === undefined || !(got > 0) ? undefined : { ref, got };
}

const SCHEDULED = 'result_scheduled_samples_per_sec';

function drawnAdvice({ ref, got }: DrawnRates): string {
  return `The other seeds drew another schedule, of ${rounded(got, 4)} queries/s; that of the submission run had ${rounded(ref, 4)}. This explains most of the difference: a run of few queries draws a rate that is not near the target rate. Make both runs longer (--min-duration, --min-query-count).`;
}

const OBSTACLE_ADVICE =
  'A comparison needs two VALID runs without errors: see "Result is" in both summaries and what stands below it, and the errors in the detail logs.';

/**
 * Warnings that the older scripts print before comparing two summaries, the submission run's first;
 * `obstacle`: why they do not compare them.
 */
function lookAtSummaries(reference: ComplianceRun, tested: ComplianceRun) {
  const warnings: string[] = [];
  for (const [side, { summary, detail }] of Object.entries({ reference, test: tested })) {
    if (summary.values.get('Result is') === 'INVALID') {
      const name = side === 'reference' ? 'Reference' : 'Test';
      return { warnings, obstacle: `${name} results are invalid` };
    }
    const { errorCount } = detail;
    if (errorCount > 0) warnings.push(`WARNING: ${errorCount} ERROR reported in ${side} results`);
  }
  return { warnings, obstacle: undefined };
}

/** The newer scripts read detail logs; they crash when they try to print a warning about errors. */
function lookAtDetails(runs: readonly ComplianceRun[]) {
  const [obstacle] = runs.flatMap((run) => {
    const { path, errorCount } = run.detail;
    const key = DETAIL_SCORE[run.scenario];
    return [
      ...(numberOf(run, key) === undefined ? [`No ${key} in ${path}`] : []),
      ...(recordOf(run, 'result_validity') === 'VALID' ? [] : [`Invalid results in ${path}`]),
      ...(errorCount > 0 ? [`${errorCount} errors in ${path}`] : []),
    ];
  });
  return { warnings: [], obstacle };
}

/** Detail log record of a run's score. */
const DETAIL_SCORE: Readonly<Record<Scenario, string>> = {
  ...RATE_KEYS,
  SingleStream: 'early_stopping_latency_ss',
  MultiStream: 'early_stopping_latency_ms',
};

/** Score if a log has none. */
const NO_SCORE = { value: 0, text: '0' };

/** Score of a run, and its text as Python prints it. */
function detailScore(run: ComplianceRun) {
  const value = numberOf(run, DETAIL_SCORE[run.scenario]);
  return value === undefined ? NO_SCORE : { value, text: pythonFloat(value) };
}

/**
 * Summary lines of a run's score: for rounds up to v5.0, and from v5.1 on, where percentiles have a
 * decimal.
 */
const SCORE_LABELS: Readonly<Record<Scenario, readonly [old: RegExp, later: RegExp]>> = {
  Server: [/^Completed samples per second/, /^Completed samples per second/],
  Offline: [/^Samples per second/, /^Samples per second/],
  SingleStream: [
    /Early stopping 90th percentile estimate/,
    /Early stopping (90th|90.0th|99.9th) percentile estimate/,
  ],
  MultiStream: [
    /Early stopping 99th percentile estimate/,
    /Early stopping (99th|99.0th) percentile estimate/,
  ],
};

function summaryScore(test: string, round: SubmissionRound, run: ComplianceRun) {
  const { scenario, summary } = run;
  const [old, later] = SCORE_LABELS[scenario];
  const pattern = round === 'v4.1' || round === 'v5.0' ? old : later;
  const text = [...summary.values].findLast(([label]) => pattern.test(label))?.[1];
  const value = Number(text);
  if (text === undefined || !Number.isFinite(value)) return NO_SCORE;
  if (test !== 'TEST04' || !isStream(scenario)) return { value, text };
  // TEST04 converts a latency in ns to a rate, so that higher is faster in every scenario.
  return { value: 1e9 / value, text: pythonFloat(1e9 / value) };
}

function judgeSpeed(
  test: keyof typeof SPEED_RULES,
  scenario: Scenario,
  { ref, got }: { readonly ref: number; readonly got: number },
  isInclusive: boolean,
) {
  const { tolerance, refused } = SPEED_RULES[test];
  const allowed = ref <= (RELAXED_UP_TO[scenario] ?? -1) ? RELAXED_TOLERANCE : tolerance;
  // The score of SingleStream and MultiStream is a latency: lower is faster.
  const isLatency = isStream(scenario) && test !== 'TEST04';
  const [least, most] = [ref * (1 - allowed), ref * (1 + allowed)];
  const isEnough = got > least || (isInclusive && got === least);
  const isNotTooMuch = got < most || (isInclusive && got === most);
  const limit = `${isInclusive ? 'at most' : 'under'} ${100 * allowed} %`;
  const rules = {
    both: { isMet: isEnough && isNotTooMuch, needed: `${limit} more or less` },
    faster: { isMet: isNotTooMuch, needed: `${limit} more, or any less` },
    slower: isLatency
      ? { isMet: isNotTooMuch, needed: `${limit} more, or any less` }
      : { isMet: isEnough, needed: `${limit} less, or any more` },
  };
  const { isMet, needed } = rules[refused];
  const [what, unit] = isLatency ? ['a latency of', 'ns'] : ['a rate of', 'samples/s'];
  const percent = ref === 0 ? '' : ` (${percentBeside(got / ref - 1, allowed)})`;
  return {
    isMet,
    text: `submission run: ${what} ${rounded(ref, 7)} ${unit}; test run: ${rounded(got, 7)} ${unit}${percent}; needed: ${needed}`,
  };
}

/** A difference with more than two decimals where two would make it equal to its limit. */
function percentBeside(share: number, limit: number): string {
  const isLimit = (decimals: number): boolean =>
    Math.abs(100 * share).toFixed(decimals) === (100 * limit).toFixed(decimals);
  return signedPercent(
    share,
    [2, 3, 4, 5].find((decimals) => !isLimit(decimals)),
  );
}

/** @param share 0.05 gives `+5.00 %`. */
export function signedPercent(share: number, decimals = 2): string {
  return `${share < 0 ? '-' : '+'}${Math.abs(100 * share).toFixed(decimals)} %`;
}
