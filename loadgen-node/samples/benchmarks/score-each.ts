import { LoopTurns, type TurnTaker } from '../../../shared/base/async.ts';
import { qualityOf } from '../../../shared/rules/benchmark-rules.ts';
import type { Round } from '../../../shared/rules/rounds/rounds.ts';
import type { BenchmarkRules, MetricBounds } from '../../../shared/rules/rows/benchmark-card.ts';
import { formatFixed } from '../../loadgen/base/number-format.ts';
import { readAccuracyLog } from '../../loadgen/logs/read/accuracy-log-reader.ts';
import type { AccuracyEntry, AccuracyReport, DataSet, NamedQuality } from '../data-set/data-set.ts';

/** The line printed by accuracy-imagenet.py, which submission checkers read. */
export function formatScriptLine(correctCount: number, sampleCount: number): string {
  const percent = sampleCount === 0 ? 0 : (100 * correctCount) / sampleCount;
  return `accuracy=${formatFixed(percent, 3)}%, good=${correctCount}, total=${sampleCount}`;
}

/** Note on samples logged several times; begins with a semicolon, or is empty. */
export function repeatsInWords(
  entryCount: number,
  { sampleCount, counted = 'first' }: Pick<AccuracyReport, 'sampleCount' | 'counted'>,
): string {
  const repeated = entryCount - sampleCount;
  if (repeated === 0) return '';
  return `; ${repeated} more entries for the same samples: the ${counted} of each counts`;
}

/**
 * Scores the accuracy log of any LoadGen. The first response to a sample counts (for bert the last,
 * as in its script). Streamed.
 * @throws MlperfError `ERR_OUTPUT` if the log is damaged, `ERR_DATA_SET` if a response does not
 *   fit the benchmark; errors of `turns`.
 */
export async function scoreAccuracyLog(
  dataSet: DataSet,
  path: string,
  turns: TurnTaker = new LoopTurns(),
): Promise<AccuracyLogScore> {
  let entryCount = 0;
  async function* counted(): AsyncGenerator<AccuracyEntry> {
    for await (const entry of readAccuracyLog(path)) {
      entryCount += 1;
      if (turns.isDue) await turns.take();
      yield entry;
    }
  }
  const report = await dataSet.scoreAccuracy(counted(), turns);
  return {
    report,
    entryCount,
  };
}

/** Accuracy computed from a log. */
export interface AccuracyLogScore {
  /** Score of the samples in the log, possibly only a part of the data set. */
  readonly report: AccuracyReport;
  /** Log entries; more than the samples if some were logged several times. */
  readonly entryCount: number;
}

const SIGNIFICANT_DIGITS = 5;

/**
 * Tolerance for rounding: far above the error of a product of two fractions, far below one sample.
 */
const NOISE = 1e-9;

/** Required quality: the benchmark's in the round, or the data set's own. */
export function qualityOfRun(rules: BenchmarkRules, round: Round, dataSet: DataSet): NamedQuality {
  if (dataSet.quality !== undefined) return dataSet.quality;
  // For a round without the benchmark, use the benchmark's last round.
  const { rounds = [] } = rules;
  const named = rounds.includes(round) ? round : (rounds.at(-1) ?? round);
  return { ...qualityOf(rules, named), source: `FP32 reference of round ${named}` };
}

/**
 * Smallest number of correct answers out of `sampleCount` that meets the target: compares counts,
 * not rounded numbers.
 */
export function neededCount({ target }: NamedQuality, sampleCount: number): number {
  return Math.ceil(target * sampleCount - NOISE);
}

/** True if the quality target is met; false without samples. */
export function isMet(
  { correctCount, sampleCount, value, more = {} }: AccuracyReport,
  quality: NamedQuality,
): boolean {
  if (sampleCount === 0) return false;
  const areOthersMet = (quality.more ?? []).every(
    ({ metric, target = -Infinity, max = Infinity }) => {
      const other = more[metric] ?? Number.NaN;
      return other >= target - NOISE && other <= max + NOISE;
    },
  );
  if (!areOthersMet) return false;
  if (correctCount === undefined) {
    return value >= quality.target - NOISE && value <= (quality.max ?? Infinity) + NOISE;
  }
  return correctCount >= neededCount(quality, sampleCount);
}

/** A fraction as percentage with five significant digits: `76.460 %`. */
export function accuracyPercent(fraction: number): string {
  return `${(fraction * 100).toPrecision(SIGNIFICANT_DIGITS)} %`;
}

/**
 * `top-1 76.460 % (38230 of 50000)`, `F1 90.874 % (10833 samples)`,
 * `ROUGE1 44.431 % (24576 samples), ROUGE2 22.0352`.
 */
export function accuracyInWords(report: AccuracyReport) {
  const { metric, value, correctCount, sampleCount, more = {} } = report;
  const counts =
    correctCount === undefined ? `${sampleCount} samples` : `${correctCount} of ${sampleCount}`;
  const others = Object.entries(more).map(
    ([name, number]) => `, ${name} ${Number(number.toPrecision(6))}`,
  );
  return `${metric} ${accuracyPercent(value)} (${counts})${others.join('')}`;
}

/**
 * `75.695 % (99 % of 76.460 %, FP32 reference of round v4.1)`; further metrics follow:
 * `, ROUGE2 21.8148 or more`.
 */
export function targetInWords({ target, max, reference, source, more = [] }: NamedQuality): string {
  const others = more.map((bounds) => `, ${boundsInWords(bounds)}`).join('');
  const text = accuracyPercent(target) + (max === undefined ? '' : ` to ${accuracyPercent(max)}`);
  if (reference === undefined) return text + others;
  const share = Number((reference.share * 100).toPrecision(SIGNIFICANT_DIGITS));
  return `${text} (${share} % of ${accuracyPercent(reference.value)}, ${source})${others}`;
}

function boundsInWords({ metric, target, max }: MetricBounds): string {
  const [least, most] = [target, max].map((bound) => bound && Number(bound.toPrecision(10)));
  if (most === undefined) return `${metric} ${least} or more`;
  return least === undefined ? `${metric} ${most} or less` : `${metric} ${least} to ${most}`;
}
