import { existsSync, readFileSync } from 'node:fs';
import { configInvalid } from '../../../../shared/base/errors/mlperf-error.ts';
import { numberOf, recordOf } from '../../../loadgen/logs/read/detail-log.ts';
import { accuracyPercent } from '../../../samples/benchmarks/score-each.ts';
import { VERIFY_FILES } from '../../rules/test-files.ts';
import { differenceInterval, type Proportion, shareOf } from '../responses/proportions.ts';
import {
  type ComplianceRun,
  isStream,
  ms,
  rateOf,
  readComplianceRun,
} from '../verify/read-compliance-run.ts';

/** A rate on the custom data set below this share of the submission's fails: TEST01's bound on the same figure. */
const RATE_SHARE_MIN = 0.9;

/** Server: queueing multiplies small differences, so a mean latency may be so many times the submission's. */
const SERVER_LATENCY_FACTOR_MAX = 1.5;

/** Server: what is below this share of the latency bound is no difference. */
const SERVER_LATENCY_SLACK_SHARE = 0.1;

/**
 * Compares a submission's runs with the same over another data set. A system that knows the answers to the data set of
 * the benchmark is right less often there, or slower.
 * Rule: the paper of MLPerf Inference, 4.7.4 and 5.2: custom data sets detect result caching; quality and
 * performance on them are compared with those on the reference data set.
 * @param accuracyDropMax Points, as a fraction, by which the custom data set may be harder.
 * @throws MlperfError `ERR_CONFIG_INVALID` when the runs can not be compared.
 */
export function judgeCustomDataSet(
  submission: RunPair,
  custom: RunPair,
  accuracyDropMax: number,
): CustomDataSetVerdict {
  const [obstacle] = obstaclesOf(submission, custom);
  if (obstacle !== undefined) throw configInvalid(obstacle);
  const accuracy = judgeAccuracy(submission.accuracy, custom.accuracy, accuracyDropMax);
  const performance = judgePerformance(submission.performance, custom.performance);
  return {
    reference: dataSetOf(submission.performance),
    custom: dataSetOf(custom.performance),
    accuracy,
    performance,
    notes: notesOf(submission, custom),
    hasPassed: [accuracy, ...performance].every(({ isMet }) => isMet),
  };
}

/** Verdict of the test "custom data set". */
export interface CustomDataSetVerdict {
  /** Undefined: the run does not tell, as those of the C++ LoadGen. */
  readonly reference: MeasuredDataSet | undefined;
  readonly custom: MeasuredDataSet | undefined;
  readonly accuracy: CustomDataSetCheck;
  readonly performance: readonly CustomDataSetCheck[];
  readonly notes: readonly string[];
  readonly hasPassed: boolean;
}

/** A data set by its name. */
export interface MeasuredDataSet {
  readonly name: string;
  /** SHA-256 of its list of checksums. */
  readonly digest: string;
}

/** The share of right answers must not fall by more than chance explains. */
export function judgeAccuracy(submission: Proportion, custom: Proportion, accuracyDropMax: number) {
  const drop = differenceInterval(submission, custom);
  const isMet = drop.low <= accuracyDropMax;
  const allowed =
    accuracyDropMax === 0
      ? 'Fails where the whole interval lies above 0: then chance does not explain the drop.'
      : `Fails where the whole interval lies above ${points(accuracyDropMax)}, by which the custom data set was said to be harder.`;
  return compared('accuracy', isMet, [submission, custom].map(proportionText), [
    `Drop: ${points(shareOf(submission) - shareOf(custom))}; 99 % interval: ${(drop.low * 100).toFixed(3)} to ${points(drop.high)}`,
    allowed,
    powerText(failingDrop(submission, custom.total, accuracyDropMax)),
  ]);
}

/** The lines of one figure over both data sets. */
function bothLines(before: string, after: string): string[] {
  return [`Submission's data set: ${before}`, `Custom data set:       ${after}`];
}

function compared(
  name: string,
  isMet: boolean,
  [before = '', after = '']: readonly string[],
  rules: readonly string[],
): CustomDataSetCheck {
  return { name, isMet, lines: [...bothLines(before, after), ...rules] };
}

/** One thing that the test looks at; its lines are the figures and the bound, one fact a line. */
export interface CustomDataSetCheck {
  readonly name: string;
  readonly isMet: boolean;
  readonly lines: readonly string[];
}

/** Smallest drop that fails with these counts, in words. */
function powerText(drop: number | undefined): string {
  return drop === undefined
    ? 'With these counts no drop fails: take a larger data set.'
    : `With these counts a drop of ${points(drop)} or more fails.`;
}

/** Smallest drop that fails with so many samples; undefined where none does. */
function failingDrop(submission: Proportion, total: number, accuracyDropMax: number) {
  const fails = (correct: number): boolean =>
    differenceInterval(submission, { correct, total }).low > accuracyDropMax;
  let passing = total;
  let failing = -1;
  // The interval falls with every right answer more: halving finds the border.
  while (passing - failing > 1) {
    const middle = Math.floor((passing + failing) / 2);
    if (fails(middle)) failing = middle;
    else passing = middle;
  }
  return failing < 0 ? undefined : shareOf(submission) - failing / total;
}

/** Speed must not fall: the rate where the scenario has one, the latency where it is the answer to a single query. */
function judgePerformance(submission: ComplianceRun, custom: ComplianceRun) {
  const speeds = [speedOf(submission), speedOf(custom)] as const;
  const [before, after] = speeds;
  const words = speeds.map(({ isValid }) => (isValid ? 'VALID' : 'INVALID'));
  const isValid = before.isValid && after.isValid;
  const checks = [compared('validity', isValid, words, ['Both must be VALID.'])];
  if (before.rate !== undefined && after.rate !== undefined) {
    const share = after.rate / before.rate;
    const rates = [
      `${before.rate.toFixed(2)} samples/s`,
      `${after.rate.toFixed(2)} samples/s (${accuracyPercent(share)})`,
    ];
    const isMet = after.rate >= before.rate * RATE_SHARE_MIN;
    const rule = `Fails below ${accuracyPercent(RATE_SHARE_MIN)} of the submission's.`;
    checks.push(compared('rate', isMet, rates, [rule]));
  }
  if (before.meanLatencyNs !== undefined && after.meanLatencyNs !== undefined) {
    const latencies = [before.meanLatencyNs, after.meanLatencyNs].map(ms);
    const bound = latencyBound(submission, before.meanLatencyNs);
    const rule = `Fails above ${ms(bound.ns)}: ${bound.why}.`;
    checks.push(compared('mean latency', after.meanLatencyNs <= bound.ns, latencies, [rule]));
  }
  return checks;
}

function latencyBound(submission: ComplianceRun, beforeNs: number) {
  if (submission.scenario !== 'Server') {
    const why = `${accuracyPercent(RATE_SHARE_MIN)} of the submission's speed`;
    return { ns: beforeNs / RATE_SHARE_MIN, why };
  }
  const slackNs =
    (numberOf(submission, 'effective_target_latency_ns') ?? 0) * SERVER_LATENCY_SLACK_SHARE;
  const factor = beforeNs * SERVER_LATENCY_FACTOR_MAX;
  return factor >= beforeNs + slackNs
    ? { ns: factor, why: `${SERVER_LATENCY_FACTOR_MAX} times the submission's` }
    : { ns: beforeNs + slackNs, why: "the submission's and a tenth of the latency bound" };
}

/** Why runs cannot be compared, one after the other. */
function* obstaclesOf(submission: RunPair, custom: RunPair): Generator<string> {
  const [before, after] = [submission.performance, custom.performance];
  const folders = `${before.folder.folder} and ${after.folder.folder}`;
  if (before.scenario !== after.scenario) {
    yield `${folders} are runs of ${before.scenario} and of ${after.scenario}: one scenario is needed`;
  }
  const [qps, otherQps] = [before, after].map((run) => numberOf(run, 'effective_target_qps'));
  if (before.scenario === 'Server' && qps !== otherQps) {
    yield `${folders} ask for ${qps} and for ${otherQps} queries per second: one rate is needed`;
  }
  for (const kind of ['performance', 'accuracyRun'] as const) {
    const [data, otherData] = [dataSetOf(submission[kind]), dataSetOf(custom[kind])];
    if (data !== undefined && data.digest !== '' && data.digest === otherData?.digest) {
      const run = custom[kind].folder.folder;
      yield `${run} measured with the submission's own data set, ${data.name}: another one is needed`;
    }
  }
  for (const [whose, pair] of Object.entries({ submission, test: custom })) {
    const [measured, scored] = [dataSetOf(pair.performance), dataSetOf(pair.accuracyRun)];
    if (measured !== undefined && scored !== undefined && measured.digest !== scored.digest) {
      yield `the two ${whose} runs measured with two data sets, ${measured.name} and ${scored.name}: one is needed`;
    }
  }
  const [model, otherModel] = [modelOf(before), modelOf(after)];
  if (model !== undefined && otherModel !== undefined && model !== otherModel) {
    yield `the nodes ran ${model} and then ${otherModel}: the submission's model is needed`;
  }
}

function notesOf(submission: RunPair, custom: RunPair): string[] {
  if ([submission, custom].every(({ performance }) => dataSetOf(performance) !== undefined))
    return [];
  return [
    "A log does not tell its data set (it is not longhaul's): check yourself that the two differ.",
  ];
}

function proportionText(proportion: Proportion): string {
  const { correct, total } = proportion;
  return `${correct} of ${total} right (${accuracyPercent(shareOf(proportion))})`;
}

function points(fraction: number): string {
  return `${(fraction * 100).toFixed(3)} points`;
}

/** Texts of verify_accuracy.txt and verify_performance.txt. */
export function verifyTexts(verdict: CustomDataSetVerdict): Map<string, string> {
  return new Map([
    [VERIFY_FILES.accuracy, verifyText(verdict, [verdict.accuracy])],
    [VERIFY_FILES.performance, verifyText(verdict, verdict.performance)],
  ]);
}

function verifyText(verdict: CustomDataSetVerdict, checks: readonly CustomDataSetCheck[]): string {
  const hasPassed = checks.every(({ isMet }) => isMet);
  return [
    ...bothLines(nameOf(verdict.reference), nameOf(verdict.custom)),
    ...checks.flatMap(({ name, isMet, lines }) => [
      '',
      `${name}: ${isMet ? 'pass' : 'FAIL'}`,
      ...lines,
    ]),
    '',
    hasPassed ? 'TEST PASS' : 'TEST FAIL',
    '',
  ].join('\n');
}

/**
 * Output of the command and body of README.md: runs, checks with their figures, notes and advice.
 * @param folders Of the four runs.
 */
export function readmeText(
  verdict: CustomDataSetVerdict,
  folders: Record<'performance' | 'accuracy' | 'testPerformance' | 'testAccuracy', string>,
): string {
  const { accuracy, performance, notes, hasPassed } = verdict;
  return [
    `# Custom data set: ${hasPassed ? 'passed' : 'FAILED'}`,
    '',
    'The same system answered the samples of another data set, with the settings of the submission run. A system that',
    "keeps results of the benchmark's data set is right less often on samples that it has never seen, or slower.",
    'This is the test of the paper of MLPerf Inference (4.7.4 and 5.2); no official script of it exists, and a',
    'submission needs no files of it.',
    '',
    '| | data set | performance run | accuracy run |',
    '|---|---|---|---|',
    `| submission | ${nameOf(verdict.reference)} | ${folders.performance} | ${folders.accuracy} |`,
    `| test | ${nameOf(verdict.custom)} | ${folders.testPerformance} | ${folders.testAccuracy} |`,
    ...[accuracy, ...performance].flatMap(sectionOf),
    ...(notes.length === 0 ? [] : ['', '## Notes', '', ...notes.map((note) => `* ${note}`)]),
    ...(hasPassed ? [] : ['', adviceOf(verdict)]),
    '',
  ].join('\n');
}

function sectionOf({ name, isMet, lines }: CustomDataSetCheck): string[] {
  return ['', `## ${name}: ${isMet ? 'pass' : 'FAIL'}`, '', ...lines.map((line) => `* ${line}`)];
}

function adviceOf({ accuracy, performance }: CustomDataSetVerdict): string {
  const parts: string[] = [];
  if (!accuracy.isMet) {
    parts.push(
      "Right less often than chance explains: the system may know the answers to the benchmark's own samples, or its " +
        'model may be fitted to them. Where the custom data set is harder by itself, say by how many points ' +
        '(--accuracy-drop-max).',
    );
  }
  if (performance.some(({ isMet }) => !isMet)) {
    parts.push(
      "Slower, or not VALID: the system may keep results, or intermediate data, of the benchmark's own samples. Look " +
        'at what else ran on the machines and the network first, and repeat the test.',
    );
  }
  return parts.join('\n');
}

/** Name of a data set, which a run of another LoadGen does not tell. */
function nameOf(dataSet: MeasuredDataSet | undefined): string {
  return dataSet?.name ?? 'not known';
}

/** Line of MLCommons' accuracy-imagenet.py. */
const SCRIPT_LINE = /^accuracy=[\d.]+%, good=(\d+), total=(\d+)\s*$/m;

/**
 * Reads two runs over one data set.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_OUTPUT`; `ERR_CONFIG_INVALID` where the accuracy is
 *   not known.
 */
export async function readRunPair(performance: string, accuracy: string): Promise<RunPair> {
  const run = await readComplianceRun(performance);
  const accuracyRun = accuracy === performance ? run : await readComplianceRun(accuracy);
  return { performance: run, accuracyRun, accuracy: accuracyOf(accuracyRun) };
}

/** A performance run and the accuracy over the same data set. */
export interface RunPair {
  readonly performance: ComplianceRun;
  readonly accuracyRun: ComplianceRun;
  readonly accuracy: Proportion;
}

/**
 * Right answers of an accuracy run: longhaul's own record, or the line of the official script in
 * accuracy.txt.
 * @throws MlperfError `ERR_CONFIG_INVALID` where there is neither.
 */
function accuracyOf(run: ComplianceRun): Proportion {
  const { folder } = run;
  const found = recordedAccuracy(run) ?? scriptAccuracy(folder.accuracyText);
  if (found !== undefined && found.total > 0 && found.correct <= found.total) return found;
  throw configInvalid(
    `${folder.folder} has no accuracy: neither longhaul_accuracy in the detail log nor a line ` +
      '"accuracy=...%, good=..., total=..." in accuracy.txt; name the accuracy run of the same settings',
  );
}

function recordedAccuracy(run: ComplianceRun): Proportion | undefined {
  const value = recordOf(run, 'longhaul_accuracy');
  const correct = wholeOf(value, 'correct');
  const total = wholeOf(value, 'total');
  return correct === undefined || total === undefined ? undefined : { correct, total };
}

function scriptAccuracy(path: string): Proportion | undefined {
  if (!existsSync(path)) return undefined;
  const match = SCRIPT_LINE.exec(readFileSync(path, 'utf8'));
  return match === null ? undefined : { correct: Number(match[1]), total: Number(match[2]) };
}

function dataSetOf(run: ComplianceRun): MeasuredDataSet | undefined {
  const value = recordOf(run, 'longhaul_data_set');
  const name = textOf(value, 'name');
  return name === undefined ? undefined : { name, digest: textOf(value, 'sha256') ?? '' };
}

/** Name and SHA-256 of the model of a run's first node; undefined if not reported. */
function modelOf(run: ComplianceRun): string | undefined {
  const value = recordOf(run, 'longhaul_model');
  const name = textOf(value, 'name');
  return name === undefined ? undefined : `${name}, SHA-256 ${textOf(value, 'sha256') ?? ''}`;
}

/**
 * Speed of a run: samples per second, and mean latency in ns; undefined where the scenario has no
 * such result.
 * @throws MlperfError `ERR_CONFIG_INVALID` when the log has no result of a performance run.
 */
function speedOf(run: ComplianceRun) {
  const { scenario, folder } = run;
  const rate = rateOf(run);
  const isOffline = scenario === 'Offline';
  const meanLatencyNs = isOffline ? undefined : numberOf(run, 'result_mean_latency_ns');
  const validity = recordOf(run, 'result_validity');
  const hasRate = rate !== undefined || isStream(scenario);
  if (validity === undefined || !hasRate || (!isOffline && meanLatencyNs === undefined)) {
    throw configInvalid(
      `${folder.folder} has no result of a performance run: name the folder of one that came to its end`,
    );
  }
  return { rate, meanLatencyNs, isValid: validity === 'VALID' };
}

function textOf(value: unknown, key: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const found = (value as Record<string, unknown>)[key];
  return typeof found === 'string' ? found : undefined;
}

function wholeOf(value: unknown, key: string): number | undefined {
  const text = textOf(value, key);
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
