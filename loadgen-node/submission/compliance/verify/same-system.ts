import { configInvalid } from '../../../../shared/base/errors/mlperf-error.ts';
import { keyOfRun } from '../../../../shared/rules/benchmark-rules.ts';
import { numberOf, recordOf } from '../../../loadgen/logs/read/detail-log.ts';
import { recordedSettings } from '../../../run/plan/run-record.ts';
import {
  areSameSeeds,
  type SubmissionRound,
  seedsOfRound,
  test05SeedsOfRound,
} from '../../rules/submission-rounds.ts';
import { type ComplianceRun, roundOfRun, seedsInWords, seedsOf } from './read-compliance-run.ts';

/** Records that must be equal in two compared runs, with their names for people. */
const SAME: readonly (readonly [key: string, what: string])[] = [
  ['effective_scenario', 'scenario'],
  ['sut_name', 'name of the SUT'],
];

/** Records for tests with their own samples (TEST07). */
const SAME_DATA_SET: readonly (readonly [key: string, what: string])[] = [
  ['qsl_name', 'data set'],
  ['qsl_reported_total_count', 'samples of the data set'],
  ['qsl_reported_performance_count', 'samples of the performance set'],
];

/**
 * Server's test run only: another bound makes another measurement. Accuracy runs do not use it, nor
 * does a test that counts tokens (TEST06), which judges no latency.
 */
const SAME_IN_SERVER: readonly (readonly [key: string, what: string])[] = [
  ['effective_target_latency_ns', 'latency bound in ns'],
  ['effective_target_latency_percentile', 'percentile of the latency bound'],
];

/** Settings that only audit.config turns on. */
const AUDITED = [
  'effective_performance_issue_same',
  'effective_performance_issue_unique',
  'effective_accuracy_log_probability',
  'effective_accuracy_log_sampling_target',
];

/**
 * Refuses to compare runs of different benchmark, scenario, SUT, latency bound or round.
 * @param what Name of the other run in messages: `test run`, `accuracy run`.
 * @param hasOwnDataSet True if the other run has its own samples.
 * @throws MlperfError `ERR_CONFIG_INVALID` listing every difference.
 */
export function requireSameSystem(
  reference: ComplianceRun,
  other: ComplianceRun,
  what: 'test run' | 'accuracy run',
  hasOwnDataSet = false,
): void {
  const countsTokens = recordOf(other, 'requested_use_token_latencies') === true;
  const isServerTest = what === 'test run' && reference.scenario === 'Server' && !countsTokens;
  const problems = [
    ...differences(reference, other, [
      ...SAME,
      ...(hasOwnDataSet ? [] : SAME_DATA_SET),
      ...(isServerTest ? SAME_IN_SERVER : []),
    ]),
    ...benchmarkDifference(reference, other),
    ...seedDifference(reference, other, what),
    ...modeProblem(other, what),
  ];
  if (problems.length === 0) return;
  const head = `the ${what} ${other.folder.folder} is not one of the submission run ${reference.folder.folder}`;
  throw configInvalid(`${head}:\n${problems.join('\n')}`);
}

/**
 * Refuses a submission run with seeds of another round, or that is itself a test's run.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function requireRound(reference: ComplianceRun, round: SubmissionRound): void {
  const unset: readonly unknown[] = [undefined, false, 0];
  const audited = AUDITED.find((key) => !unset.includes(recordOf(reference, key)));
  if (audited !== undefined) {
    const what = `${audited} is ${String(recordOf(reference, audited))}`;
    throw configInvalid(
      `${reference.folder.folder} is no submission run but one of a compliance test: ${what} in ${reference.detail.path}`,
    );
  }
  const seen = roundOfRun(reference);
  if (seen === round) return;
  const seeds = seedsOf(reference, 'requested');
  const of = seen === undefined ? 'of no round that longhaul knows' : `of round ${seen}`;
  const says = seeds === undefined ? 'has no seeds' : `has the seeds ${seedsInWords(seeds)}, ${of}`;
  throw configInvalid(
    `${reference.detail.path} ${says}; round ${round} has ${seedsInWords(seedsOfRound(round))} (choose with --round)`,
  );
}

function differences(
  reference: ComplianceRun,
  other: ComplianceRun,
  keys: readonly (readonly [key: string, what: string])[],
): string[] {
  return keys.flatMap(([key, what]) => {
    const [a, b] = [recordOf(reference, key), recordOf(other, key)];
    return a === b ? [] : [`${what} (${key}): ${String(b)}, in the submission run ${String(a)}`];
  });
}

/** An accuracy run also has its round's seeds. */
function seedDifference(reference: ComplianceRun, other: ComplianceRun, what: string): string[] {
  const [a, b] = [seedsOf(reference, 'requested'), seedsOf(other, 'requested')];
  if (a === undefined || b === undefined || areSameSeeds(a, b)) return [];
  const of = roundOfRun(other);
  // TEST05: LoadGen logs the alternate seeds as requested seeds.
  const own = roundOfRun(reference);
  const test05 = own && test05SeedsOfRound(own);
  const mayBeTest05 = what === 'test run' && of === undefined;
  if (mayBeTest05 && test05 !== undefined && areSameSeeds(test05, b)) return [];
  const round = of === undefined ? '' : `, which are those of round ${of}`;
  return [`seeds: ${seedsInWords(b)}${round}; in the submission run ${seedsInWords(a)}`];
}

function modeProblem(other: ComplianceRun, what: string): string[] {
  const mode = String(recordOf(other, 'effective_test_mode'));
  const right = what === 'test run' ? 'PerformanceOnly' : 'AccuracyOnly';
  if (mode === right || mode === 'SubmissionRun') return [];
  return [`mode: ${mode}; ${right} is needed`];
}

/** Compares benchmarks by longhaul's records; LoadGen's logs do not name the benchmark. */
function benchmarkDifference(reference: ComplianceRun, other: ComplianceRun): string[] {
  const [a, b] = [benchmarkOf(reference), benchmarkOf(other)];
  if (a === undefined || b === undefined || a === b) return [];
  return [`benchmark: ${b}, in the submission run ${a}`];
}

/** Benchmark of a longhaul run; undefined for a run of another LoadGen. */
function benchmarkOf({ folder: { record } }: ComplianceRun): string | undefined {
  const value = recordedSettings(record).get('benchmark')?.value;
  return typeof value === 'string' ? keyOfRun(value) : undefined;
}

/**
 * Share by which the test's target rate is below the submission run's; 0 if it is not, or if there
 * is none.
 */
export function loweredShare(reference: ComplianceRun, tested: ComplianceRun): number {
  const [a, b] = [reference, tested].map((run) => numberOf(run, 'effective_target_qps'));
  return a === undefined || b === undefined || a <= 0 ? 0 : Math.max(0, 1 - b / a);
}
