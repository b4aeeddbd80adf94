import { formatFixed, pythonFloat } from '../../../loadgen/base/number-format.ts';
import { readAccuracyLog } from '../../../loadgen/logs/read/accuracy-log-reader.ts';
import { TEST_FAIL, TEST_PASS, VERIFY_FILES } from '../../rules/test-files.ts';
import { requireWholeLog } from '../../truncate/cut-log.ts';
import { check } from './read-compliance-run.ts';
import { readTestedRuns, type TestedFolders, type TestVerdict, verdictOn } from './verify-test.ts';

/** Input of TEST08. */
export interface Test08 extends TestedFolders {
  readonly accuracy: string;
}

/** Tolerance of a sample's normalized entropy. Source: run_verification.py, --tolerance. */
const TOLERANCE = 0.001;

/** Clipping limits for predictions and labels: 1e-7 and 1 - 1e-7 as float32, as in the script. */
const LEAST = Math.fround(1e-7);
const MOST = Math.fround(1 - 1e-7);

/**
 * Predictions of a test's response. Samples are identified by timestamp and query: dlrm-v3 has its
 * own order.
 */
interface Tested {
  readonly key: string;
  readonly predictions: Float32Array;
}

/** Values of the accuracy run's response to a sample for the comparison. */
interface Expected {
  readonly entropy: number;
  readonly labels: Float32Array;
  readonly weights: Float32Array;
}

/**
 * TEST08: are predictions in performance mode as good, sample by sample, as in the accuracy run? As
 * in the official script: by the normalized entropy of each logged response, with the accuracy
 * run's labels and weights.
 * @throws MlperfError as {@link readTestedRuns}
 */
export async function verifyTest08(test: Test08): Promise<TestVerdict> {
  const { tested, accuracyLog } = await readTestedRuns(test);
  const testLog = tested.folder.accuracy;
  for (const log of [accuracyLog, testLog]) await requireWholeLog(log, 'use');
  const { logged, broken } = await readTestLog(testLog);
  const wanted = new Set(logged.map(({ key }) => key));
  const accuracy = await readAccuracyRun(accuracyLog, wanted);
  const compared = compare(logged, accuracy.expected);
  const obstacle = accuracy.broken ?? broken ?? compared.broken;
  const { matched, unmatched, mismatches, unsound } = compared;
  const distinct = `${logged.length} responses to ${wanted.size} samples were logged`;
  const isAlike = obstacle === undefined && mismatches.length === 0;
  const alike =
    mismatches.length === 0
      ? `so it is in ${matched}`
      : `not so in ${mismatches.length} of ${matched}; the first: ${mismatches[0]?.trim()}`;
  return verdictOn('TEST08', test.round, tested, {
    checks: [
      check(
        'normalized entropy',
        isAlike,
        obstacle ?? `that of a response is within 0.1 % of the accuracy run's: ${alike}`,
        { isOfficial: true, advice: ENTROPY_ADVICE },
      ),
      check(
        'coverage',
        matched > 0 && unmatched === 0,
        `${distinct}; ${unmatched} have no counterpart in the accuracy log`,
        { isOfficial: true, advice: COVERAGE_ADVICE },
      ),
      check(
        'whole responses',
        unsound.length === 0,
        unsound.length === 0
          ? 'every response has a prediction, a finite number, for each candidate'
          : `${unsound.length} of ${matched} responses do not have a prediction, a finite number, for each candidate; the first: ${unsound[0]}`,
        { advice: WHOLE_ADVICE },
      ),
    ],
    notes: [],
    texts: new Map([
      [
        VERIFY_FILES.accuracy,
        obstacle === undefined
          ? verifyText(accuracy.entries, logged.length, compared)
          : [...BEGIN, `${TEST_FAIL}: ${obstacle}`, ''].join('\n'),
      ],
    ]),
  });
}

const ENTROPY_ADVICE =
  'The system predicts otherwise in performance mode: does it run another model or precision there, or mix samples up? Both responses are float32: timestamp, query, predictions; in accuracy mode also labels, weights and the count of candidates.';
const COVERAGE_ADVICE =
  'Every logged response needs its counterpart, the same timestamp and query. Was the run made with audit.config, and is the accuracy log whole?';
const WHOLE_ADVICE =
  'The official script compares no number that is none (NaN), and takes one prediction for all candidates.';

const BEGIN = [
  'Verifying accuracy. This might take a while...',
  'Reading accuracy mode results...',
  'Reading performance mode results...',
];

/**
 * verify_accuracy.txt as printed by the official script; the last of eight digits may differ, since
 * the script rounds to 32 bits.
 */
function verifyText(
  entries: number,
  tested: number,
  { matched, unmatched, mismatches }: ReturnType<typeof compare>,
): string {
  const isPass = mismatches.length === 0 && matched > 0 && unmatched === 0;
  return [
    ...[...BEGIN, ...mismatches, ''],
    `num_acc_log_entries = ${entries}`,
    `num_perf_log_entries = ${tested}`,
    `num_matched = ${matched}`,
    `num_unmatched = ${unmatched}`,
    `num_ne_mismatch = ${mismatches.length}`,
    `tolerance = ${formatFixed(100 * TOLERANCE, 2)}%`,
    ...['', isPass ? TEST_PASS : TEST_FAIL, 'TEST08 verification complete', ''],
  ].join('\n');
}

/** The responses of a test; `broken`: where the script would crash. */
async function readTestLog(path: string) {
  const logged: Tested[] = [];
  let broken: string | undefined;
  for await (const { sampleIndex, response } of readAccuracyLog(path)) {
    const values = floatsOf(response);
    const key = values && keyOf(values);
    if (values === undefined || key === undefined) {
      broken ??= `the test run's response to sample ${sampleIndex} (${response.length} bytes) does not begin with timestamp and query`;
    } else logged.push({ key, predictions: values.subarray(2) });
  }
  return { logged, broken };
}

/** Required samples of the accuracy run; the last response to a sample counts. */
async function readAccuracyRun(path: string, wanted: ReadonlySet<string>) {
  const expected = new Map<string, Expected>();
  let entries = 0;
  let broken: string | undefined;
  for await (const { sampleIndex, response } of readAccuracyLog(path)) {
    entries += 1;
    const values = floatsOf(response);
    const key = values && keyOf(values);
    const count = Math.trunc(values?.at(-1) ?? Number.NaN);
    if (values === undefined || key === undefined || values.length !== 3 + 3 * count) {
      broken ??= `the accuracy run's response to sample ${sampleIndex} (${response.length} bytes) is not timestamp, query, predictions, labels, weights and the count of candidates`;
      continue;
    }
    if (!wanted.has(key)) continue;
    const [predictions, labels, weights] = [0, 1, 2].map((i) =>
      values.slice(2 + i * count, 2 + (i + 1) * count),
    ) as [Float32Array, Float32Array, Float32Array]; // One for each of the three.
    const entropy = normalizedEntropy(predictions, labels, weights);
    expected.set(key, { entropy, labels, weights });
  }
  return { entries, expected, broken };
}

function floatsOf(bytes: Uint8Array): Float32Array | undefined {
  return bytes.length % 4 === 0 ? new Float32Array(Uint8Array.from(bytes).buffer) : undefined;
}

function keyOf(values: Float32Array): string | undefined {
  const [timestamp = Number.NaN, query = Number.NaN] = values;
  if (!Number.isFinite(timestamp) || !Number.isFinite(query)) return undefined;
  return `(${Math.trunc(timestamp)}, ${Math.trunc(query)})`;
}

function compare(logged: readonly Tested[], expected: ReadonlyMap<string, Expected>) {
  let matched = 0;
  /** Lines of the official script. */
  const mismatches: string[] = [];
  /** Problems that the script accepts or ignores. */
  const unsound: string[] = [];
  let broken: string | undefined;
  for (const { key, predictions } of logged) {
    const own = expected.get(key);
    if (own === undefined) continue;
    matched += 1;
    const { entropy: before, labels, weights } = own;
    const [n, candidates] = [predictions.length, labels.length];
    const what = `${key} has ${n} predictions for ${candidates} candidates`;
    if (n !== candidates) unsound.push(what);
    else if (!predictions.every(Number.isFinite)) unsound.push(`${key} has one that is no number`);
    if (n !== candidates && n !== 1 && candidates !== 1) {
      broken ??= `the test run's response ${what}`;
      continue;
    }
    const line = mismatchLine(key, before, normalizedEntropy(predictions, labels, weights));
    if (line !== undefined) mismatches.push(line);
  }
  return { matched, unmatched: logged.length - matched, mismatches, unsound, broken };
}

function mismatchLine(key: string, before: number, now: number): string | undefined {
  if (before === 0 && now === 0) return undefined;
  if (before === 0 || now === 0) {
    return `  NE mismatch at ${key}: acc_ne=${pythonFloat(before)}, perf_ne=${pythonFloat(now)}`;
  }
  const difference = Math.abs(now - before) / Math.abs(before);
  if (!(difference > TOLERANCE)) return undefined;
  const [a, b] = [before, now].map((entropy) => formatFixed(entropy, 6));
  return `  NE mismatch at ${key}: acc_ne=${a}, perf_ne=${b}, diff=${formatFixed(100 * difference, 4)}%`;
}

/**
 * Cross entropy of the predictions / entropy of the labels' mean; 0 without weight. A single value
 * is broadcast, as in NumPy; differences are rounded to 32 bits as there, which matters for
 * predictions near 0.
 */
function normalizedEntropy(
  predictions: Float32Array,
  labels: Float32Array,
  weights: Float32Array,
): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return 0;
  const count = predictions.length === 1 ? labels.length : predictions.length;
  const at = (values: Float32Array, i: number): number => values[values.length === 1 ? 0 : i] ?? 0;
  let cross = 0;
  for (let i = 0; i < count; i += 1) {
    const [p, y] = [clipped(at(predictions, i)), clipped(at(labels, i))];
    cross -= at(weights, i) * (y * Math.log(p) + rest(y) * Math.log(rest(p)));
  }
  const weighed = weights.reduce((sum, weight, i) => sum + weight * clipped(labels[i] ?? 0), 0);
  const mean = clipped(Math.fround(weighed / total));
  const baseline = -mean * Math.log(mean) - rest(mean) * Math.log(rest(mean));
  return cross / (baseline * total);
}

function clipped(value: number): number {
  return Math.min(Math.max(value, LEAST), MOST);
}

function rest(share: number): number {
  return Math.fround(1 - share);
}
