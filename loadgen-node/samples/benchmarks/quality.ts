import { qualityOf } from '../../../shared/rules/benchmark-rules.ts';
import type { Round } from '../../../shared/rules/rounds/rounds.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-row.ts';
import type { AccuracyReport, DataSet, NamedQuality } from '../data-set/data-set.ts';

const SIGNIFICANT_DIGITS = 5;

/** Noise of binary fractions, far above what a product of two of them has and far below one sample. */
const NOISE = 1e-9;

/** The quality that a run must reach: the benchmark's in the round, or that of a data set with its own. */
export function qualityOfRun(rules: BenchmarkRules, round: Round, dataSet: DataSet): NamedQuality {
  if (dataSet.quality !== undefined) return dataSet.quality;
  // In a round that does not have the benchmark its last one counts.
  const { rounds = [] } = rules;
  const named = rounds.includes(round) ? round : (rounds.at(-1) ?? round);
  return { ...qualityOf(rules, named), source: `FP32 reference of round ${named}` };
}

/** Fewest right answers of `sampleCount` that meet the target: counts are compared, not rounded numbers. */
export function neededCount({ target }: NamedQuality, sampleCount: number): number {
  return Math.ceil(target * sampleCount - NOISE);
}

/** True when the quality target is met. An answer to nothing meets none. */
export function isMet(
  { correctCount, sampleCount }: AccuracyReport,
  quality: NamedQuality,
): boolean {
  return sampleCount > 0 && correctCount >= neededCount(quality, sampleCount);
}

/** A fraction in percent with five significant figures: `76.460 %`. */
export function accuracyPercent(fraction: number): string {
  return `${(fraction * 100).toPrecision(SIGNIFICANT_DIGITS)} %`;
}

/** `top-1 76.460 % (38230 of 50000)`. */
export function accuracyInWords({ metric, value, ...counts }: AccuracyReport): string {
  return `${metric} ${accuracyPercent(value)} (${counts.correctCount} of ${counts.sampleCount})`;
}

/** `75.695 % (99 % of 76.460 %, FP32 reference of round v4.1)`. */
export function targetInWords({ target, reference, source }: NamedQuality): string {
  const text = accuracyPercent(target);
  if (reference === undefined) return text;
  const share = Number((reference.share * 100).toPrecision(SIGNIFICANT_DIGITS));
  return `${text} (${share} % of ${accuracyPercent(reference.value)}, ${source})`;
}
