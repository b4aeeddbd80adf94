import { rounded } from '../../../../shared/base/figures/figure-text.ts';
import type { Scenario } from '../../../../shared/domain/scenario.ts';
import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import { pythonFloat } from './python-number.ts';
import { type ComplianceRun, numberOf, recordOf } from './read-compliance-run.ts';
import type { TestCheck } from './test-verdict.ts';

/** Tests whose speed is compared with that of the submission run. */
export type PerformanceTestId = 'TEST01' | 'TEST04' | 'TEST05';

/** The comparison of a test's speed, in the form of the official verify_performance.py. */
export interface PerformanceComparison {
  /** Text of verify_performance.txt. */
  readonly text: string;
  readonly check: TestCheck;
}

/** Score of a run as its round's script reads it. */
interface Score {
  readonly value: number;
  /** As the script prints it. */
  readonly text: string;
}

const NO_SCORE: Score = { value: 0, text: '0' };

/**
 * Compares the speed of a test run with that of the submission run as the round's verify_performance.py does:
 * TEST01 within 10 % of it, TEST04 at most 10 % faster, TEST05 at most 5 % slower (streams: 20 % where
 * latencies are short). Rounds to v5.0 read the summary, with its two decimals; TEST01 reads the detail log from
 * v5.1 on. Where the script ends without a verdict, its reason stands in the text.
 */
export function comparePerformance(
  test: PerformanceTestId,
  round: SubmissionRound,
  reference: ComplianceRun,
  tested: ComplianceRun,
): PerformanceComparison {
  const isDetail = test === 'TEST01' && round !== 'v4.1' && round !== 'v5.0';
  const { warnings, obstacle } = isDetail
    ? lookAtDetails([reference, tested])
    : lookAtSummaries(reference, tested);
  const begin = ['Verifying performance.', ...warnings];
  const base = { name: 'performance', isOfficial: true } as const;
  if (obstacle !== undefined) {
    return {
      text: [...begin, `TEST FAIL: ${obstacle}`, ''].join('\n'),
      check: { ...base, isMet: false, text: obstacle, advice: OBSTACLE_ADVICE },
    };
  }
  const [ref, got] = isDetail
    ? [detailScore(reference), detailScore(tested)]
    : [summaryScore(test, round, reference), summaryScore(test, round, tested)];
  const { scenario } = reference;
  const isMet = isWithin(test, scenario, { ref: ref.value, got: got.value }, isDetail);
  const [first, second] = isDetail ? ['Reference', 'Test'] : ['reference', 'test'];
  const scores = [`${first} score = ${ref.text}`, `${second} score = ${got.text}`];
  const verdict = isMet ? 'TEST PASS' : 'TEST FAIL: Test score invalid';
  const text = inWords(test, scenario, ref.value, got.value);
  return {
    text: [...begin, ...scores, verdict, ''].join('\n'),
    check: { ...base, isMet, text, ...(isMet ? {} : { advice: adviceOn(test, scenario) }) },
  };
}

/** What a script says before it compares, and why it does not come to that. */
interface FirstLook {
  readonly warnings: readonly string[];
  readonly obstacle?: string;
}

/** The older scripts read summaries, the submission run's first. */
function lookAtSummaries(reference: ComplianceRun, tested: ComplianceRun): FirstLook {
  const warnings: string[] = [];
  for (const [side, run] of [
    ['reference', reference],
    ['test', tested],
  ] as const) {
    if (run.summary.values.get('Result is') === 'INVALID') {
      const name = side === 'reference' ? 'Reference' : 'Test';
      return { warnings, obstacle: `${name} results are invalid` };
    }
    const { errorCount } = run.detail;
    if (errorCount > 0) warnings.push(`WARNING: ${errorCount} ERROR reported in ${side} results`);
  }
  return { warnings };
}

/** The newer scripts read detail logs; they break off at the warning that they want to print of errors. */
function lookAtDetails(runs: readonly ComplianceRun[]): FirstLook {
  for (const run of runs) {
    const { path, errorCount } = run.detail;
    const key = DETAIL_SCORE[run.scenario];
    if (numberOf(run, key) === undefined) {
      return { warnings: [], obstacle: `No ${key} in ${path}` };
    }
    if (recordOf(run, 'result_validity') !== 'VALID') {
      return { warnings: [], obstacle: `Invalid results in ${path}` };
    }
    if (errorCount > 0) return { warnings: [], obstacle: `${errorCount} errors in ${path}` };
  }
  return { warnings: [] };
}

/** Records of the detail log with a run's score. */
const DETAIL_SCORE: Readonly<Record<Scenario, string>> = {
  Offline: 'result_samples_per_second',
  Server: 'result_completed_samples_per_sec',
  SingleStream: 'early_stopping_latency_ss',
  MultiStream: 'early_stopping_latency_ms',
};

function detailScore(run: ComplianceRun): Score {
  const value = numberOf(run, DETAIL_SCORE[run.scenario]);
  return value === undefined ? NO_SCORE : { value, text: pythonFloat(value) };
}

/** Lines of the summary with a run's score; from v5.1 on percentiles have a decimal. */
function isScoreLabel(label: string, scenario: Scenario, round: SubmissionRound): boolean {
  const isOld = round === 'v4.1' || round === 'v5.0';
  switch (scenario) {
    case 'Server':
      return label.startsWith('Completed samples per second');
    case 'Offline':
      return label.startsWith('Samples per second');
    case 'SingleStream':
      return (isOld ? SINGLE_STREAM_OLD : SINGLE_STREAM).test(label);
    case 'MultiStream':
      return (isOld ? MULTI_STREAM_OLD : MULTI_STREAM).test(label);
  }
}

const SINGLE_STREAM_OLD = /Early stopping 90th percentile estimate/;
const SINGLE_STREAM = /Early stopping (90th|90.0th|99.9th) percentile estimate/;
const MULTI_STREAM_OLD = /Early stopping 99th percentile estimate/;
const MULTI_STREAM = /Early stopping (99th|99.0th) percentile estimate/;

function summaryScore(test: PerformanceTestId, round: SubmissionRound, run: ComplianceRun): Score {
  const { scenario, summary } = run;
  let text: string | undefined;
  for (const [label, value] of summary.values) {
    if (isScoreLabel(label, scenario, round)) text = value;
  }
  if (text === undefined) return NO_SCORE;
  const value = Number(text);
  if (!Number.isFinite(value)) return NO_SCORE;
  if (test !== 'TEST04' || !isStream(scenario)) return { value, text };
  // TEST04 turns a latency in ns into a rate, so that more is faster in every scenario.
  return { value: 1e9 / value, text: pythonFloat(1e9 / value) };
}

function isStream(scenario: Scenario): boolean {
  return scenario === 'SingleStream' || scenario === 'MultiStream';
}

/** Score of a stream run up to which run-to-run variation is allowed to be 20 %. */
const RELAXED_UP_TO: Partial<Readonly<Record<Scenario, number>>> = {
  SingleStream: 200_000,
  MultiStream: 1_600_000,
};

const TOLERANCE = { TEST01: 0.1, TEST04: 0.1, TEST05: 0.05 } as const;

function toleranceOf(test: PerformanceTestId, scenario: Scenario, reference: number): number {
  return reference <= (RELAXED_UP_TO[scenario] ?? -1) ? 0.2 : TOLERANCE[test];
}

function isWithin(
  test: PerformanceTestId,
  scenario: Scenario,
  { ref, got }: { ref: number; got: number },
  isInclusive: boolean,
): boolean {
  const tolerance = toleranceOf(test, scenario, ref);
  const [least, most] = [ref * (1 - tolerance), ref * (1 + tolerance)];
  switch (test) {
    case 'TEST01':
      return isInclusive ? least <= got && got <= most : least < got && got < most;
    case 'TEST04':
      return got < most;
    case 'TEST05':
      // The score of a stream is a latency: less is faster.
      return isStream(scenario) ? got < most : got > least;
  }
}

function inWords(
  test: PerformanceTestId,
  scenario: Scenario,
  reference: number,
  got: number,
): string {
  const isLatency = isStream(scenario) && test !== 'TEST04';
  const what = isLatency ? 'a latency of' : 'a rate of';
  const unit = isLatency ? 'ns' : 'samples/s';
  const percent = reference === 0 ? '' : ` (${signedPercent(got / reference - 1)})`;
  const tolerance = 100 * toleranceOf(test, scenario, reference);
  const rule = {
    TEST01: `within ${tolerance} % of it`,
    TEST04: `at most ${tolerance} % more, or less`,
    TEST05: isLatency ? `at most ${tolerance} % more` : `at most ${tolerance} % less, or more`,
  }[test];
  return `submission run: ${what} ${figure(reference)} ${unit}; test run: ${figure(got)} ${unit}${percent}; needed: ${rule}`;
}

function figure(value: number): string {
  return rounded(value, 7);
}

/** @param share 0.05 → `+5.00 %`. */
export function signedPercent(share: number): string {
  return `${share < 0 ? '-' : '+'}${Math.abs(100 * share).toFixed(2)} %`;
}

const ADVICE: Readonly<Record<PerformanceTestId, string>> = {
  TEST01:
    'The system runs at another speed when LoadGen logs some of its responses: it may tell the two apart, or the machines were busy with other work during one of the runs. Compare the two summaries, and run both again on quiet machines.',
  TEST04:
    'The system is faster when the same sample is asked for again and again: something between LoadGen and the model may keep results or intermediate data, which the rules forbid, or the machines were busy with other work during the submission run. Look for caches in the SUT, its runtime and proxies, and run both again on quiet machines.',
  TEST05:
    'The system is slower with other random seeds: it may be tuned to the order of samples and arrivals that the official seeds give, or the machines were busy with other work during one of the runs. Run both again on quiet machines.',
};

const OBSTACLE_ADVICE =
  'A comparison needs two VALID runs without errors: see "Result is" in both summaries and what stands below it, and the errors in the detail logs.';

function adviceOn(test: PerformanceTestId, scenario: Scenario): string {
  if (scenario !== 'Server' || test === 'TEST04') return ADVICE[test];
  return `${ADVICE[test]} In Server the rate is the target rate: a lowered one (--lower-qps) has to stay within the tolerance.`;
}
