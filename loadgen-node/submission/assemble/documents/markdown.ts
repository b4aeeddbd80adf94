import type {
  SubmissionModel,
  SubmissionScenario,
} from '../../../../shared/rules/rows/model-row.ts';
import { numberOf } from '../../../loadgen/logs/read/detail-log.ts';
import { resultMetric } from '../../rules/submission-model.ts';
import type { SubmittedRun } from '../plan/read-run.ts';

/** A Markdown table; cells must not contain line breaks. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |\n`;
  const rule = line(header.map(() => '---'));
  return line(header) + rule + rows.map(line).join('');
}

/** A fenced code block; the fence is longer than any in the text. */
export function codeBlock(text: string, language = ''): string {
  const ticks = text.match(/`{3,}/g) ?? [];
  const fence = '`'.repeat(Math.max(3, ...ticks.map((tick) => tick.length + 1)));
  return `${fence}${language}\n${text.trimEnd()}\n${fence}\n`;
}

/** Paragraphs, headings and tables separated by one empty line; empty parts are omitted. */
export function document(...parts: readonly string[]): string {
  const there = parts.map((part) => part.trimEnd()).filter((part) => part !== '');
  return `${there.join('\n\n')}\n`;
}

/** Record of the detail log, its title, its unit (ns become ms), and its role in the result. */
type Metric = readonly [
  record: string,
  title: string,
  unit: 'samples/s' | 'tokens/s' | 'ms',
  role?: string,
];

const READ_BY_CHECKERS = 'what the official checkers read';
const COMPLETED: Metric = [
  'result_completed_samples_per_sec',
  'Completed samples per second',
  'samples/s',
  `the metric of Server: ${READ_BY_CHECKERS}`,
];
const COMPLETED_V05: Metric = [COMPLETED[0], COMPLETED[1], COMPLETED[2]];
const SCHEDULED: Metric = [
  'result_scheduled_samples_per_sec',
  'Scheduled samples per second',
  'samples/s',
];
const SCHEDULED_V05: Metric = [SCHEDULED[0], SCHEDULED[1], SCHEDULED[2], 'the metric of Server'];
const OFFLINE: Metric = [
  'result_samples_per_second',
  'Samples per second',
  'samples/s',
  'the metric of Offline',
];

/**
 * Metrics of a scenario, the published one first. The rules' text calls the scheduled rate the
 * metric of Server; every official checker from v4.1 on reads the completed one. Source:
 * inference_rules v4.1, "Scenarios" and FAQ; submission_checker.py of the tags.
 */
const METRICS: Readonly<Record<SubmissionScenario, readonly Metric[]>> = {
  Server: [COMPLETED, SCHEDULED, ['result_99.00_percentile_latency_ns', 'Latency at 99 %', 'ms']],
  Interactive: [COMPLETED, SCHEDULED],
  Offline: [OFFLINE],
  SingleStream: [
    [
      'early_stopping_latency_ss',
      'Latency of a sample at 90 % (the metric of SingleStream), estimate of early stopping',
      'ms',
    ],
    ['result_90.00_percentile_latency_ns', 'Latency at 90 %, measured', 'ms'],
  ],
  MultiStream: [
    [
      'early_stopping_latency_ms',
      'Latency of a query at 99 % (the metric of MultiStream), estimate of early stopping',
      'ms',
    ],
  ],
};

/** Token latencies, which Server and Interactive bound. */
const TOKEN_LATENCIES: readonly Metric[] = [
  ['result_first_token_99.00_percentile_latency_ns', 'Time to the first token at 99 %', 'ms'],
  ['result_time_per_output_token_99.00_percentile_ns', 'Time per output token at 99 %', 'ms'],
];

/**
 * The performance of a run: names of figures, and their values with unit, in five significant
 * digits.
 * @param model Undefined: not a model of the round.
 */
export function performanceRows(
  run: SubmittedRun,
  scenario: SubmissionScenario,
  model: SubmissionModel | undefined,
): string[][] {
  return metricsOf(model, scenario).flatMap((metric) => metricRow(metric, [run]));
}

/** Metrics of a model; if its result is in tokens, samples are listed as well. */
function metricsOf(model: SubmissionModel | undefined, scenario: SubmissionScenario) {
  const inSamples = METRICS[scenario];
  if (model?.tokenMetric === undefined || scenario.endsWith('Stream')) return inSamples;
  const how = model.tokenMetric === 'inferred' ? ', inferred from samples' : '';
  const inTokens: Metric = [
    resultMetric(model, scenario),
    `Tokens per second${how}`,
    'tokens/s',
    READ_BY_CHECKERS,
  ];
  const plain = inSamples.map(([record, title, unit]): Metric => [record, title, unit]);
  return [inTokens, ...(scenario === 'Offline' ? [] : TOKEN_LATENCIES), ...plain];
}

/** The row of a metric: its lowest value of several runs; null if no run has it. */
function metricRow([record, title, unit, role]: Metric, runs: readonly SubmittedRun[]): string[][] {
  const values = runs.flatMap((run) => numberOf(run, record) ?? []);
  if (values.length === 0) return [];
  const inUnit = Math.min(...values) * (unit === 'ms' ? 1e-6 : 1);
  const what = role === undefined ? title : `${title} (${role})`;
  const lowest = runs.length > 1 ? `, lowest of ${runs.length} runs` : '';
  return [[`${what}${lowest}`, `${fiveFigures(Number(inUnit.toPrecision(15)))} ${unit}`]];
}

const P90 = 'result_90.00_percentile_latency_ns';

/**
 * Performance rows of round v0.5, which had no early stopping. Server has several runs, of which
 * the lowest counts. Source: paper of the round, sections 4.5 and 4.6.
 */
export function performanceRowsV05(runs: readonly SubmittedRun[], scenario: SubmissionScenario) {
  const [run] = runs;
  if (scenario === 'Server') {
    return [SCHEDULED_V05, COMPLETED_V05].flatMap((metric) => metricRow(metric, runs));
  }
  if (scenario === 'Offline') return metricRow(OFFLINE, runs);
  if (scenario === 'SingleStream') {
    return metricRow([P90, 'Latency at 90 % (the metric of SingleStream)', 'ms'], runs);
  }
  const figure = (key: string) => (run && numberOf(run, key)) ?? 'not in the log';
  const skipping = figure('longhaul_skipping_queries');
  return [
    ['Streams (the metric of MultiStream)', String(figure('effective_samples_per_query'))],
    ['Queries that skipped an interval', `${skipping} of ${figure('result_query_count')}`],
  ];
}

/** Samples per second that the SUT achieved; undefined for a scenario measured by latency. */
export function throughputOf(run: SubmittedRun, scenario: SubmissionScenario): number | undefined {
  const [record] = scenario === 'Offline' ? OFFLINE : COMPLETED;
  return numberOf(run, record);
}

/**
 * Significant digits of a result. Source: inference_rules v4.1, "Submission" (five significant
 * figures, ties to even).
 */
const FIGURES = 5;

/**
 * A number with five significant digits, ties to even, as the rules publish results. Rounds the
 * decimal digits in the log: their binary value would decide ties by chance.
 */
export function fiveFigures(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const [mantissa = '0', power = '0'] = Math.abs(value).toExponential().split('e');
  const digits = mantissa.replace('.', '');
  let exponent = Number(power);
  let kept = roundToEven(digits, FIGURES);
  if (kept.length > FIGURES) {
    kept = kept.slice(0, FIGURES);
    exponent += 1;
  }
  return (value < 0 ? '-' : '') + withPoint(kept, exponent);
}

/** Rounds the decimal numbers of a line to five digits; whole numbers are counts and stay. */
export function fiveFiguresIn(line: string): string {
  return line.replace(/\d+\.\d+/g, (number) => fiveFigures(Number(number)));
}

function roundToEven(digits: string, count: number): string {
  const head = digits.slice(0, count).padEnd(count, '0');
  const rest = digits.slice(count).replace(/0+$/, '');
  if (rest === '') return head;
  const isTie = rest === '5';
  const isUp = isTie ? Number(head.at(-1)) % 2 === 1 : rest >= '5';
  return isUp ? String(BigInt(head) + 1n) : head;
}

/** @param exponent Power of ten of the first digit. */
function withPoint(digits: string, exponent: number): string {
  if (exponent >= digits.length - 1) return digits + '0'.repeat(exponent - digits.length + 1);
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  return `${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}
