import { disturbances } from '../../loadgen/health/generator-health.ts';
import {
  FIGURE_NAMES,
  FIGURES,
  type FigureName,
  type FigureUnit,
} from '../../observe/figures/figure-names.ts';
import type { RunSummary } from '../../observe/summary/run-summary.ts';
import { type DifferingSetting, differingSettings } from './differing-settings.ts';
import {
  type ComparedRun,
  REPLICATE_COUNT,
  type Replicates,
  resampleRun,
} from './resampled-run.ts';

/** From, to: where a value lies with 95 % confidence. */
export type ConfidenceInterval = readonly [low: number, high: number];

/** Confidence of all intervals. */
export const CONFIDENCE = 0.95;

/** Seed of the draws: the same runs give the same intervals. */
const SEED = 20_261_121;

/** A figure of one run beside the base's. */
export interface FigureDifference {
  /** Null: the run has no such figure. */
  readonly value: number | null;
  /** Where the value lies; null: a count or an extreme, which has no interval. */
  readonly interval: ConfidenceInterval | null;
  /** Value - base's; null for the base itself. */
  readonly difference: number | null;
  readonly differenceInterval: ConfidenceInterval | null;
  /** Difference as a share of the base's value; infinite where that is 0. */
  readonly share: number | null;
  readonly shareInterval: ConfidenceInterval | null;
  /**
   * `better`, `worse`, or `other` where neither is: the interval of the difference holds no 0. `same`: it does. Null: no
   * interval, an input of the run, or a run that was disturbed.
   */
  readonly judgement: 'better' | 'worse' | 'other' | 'same' | null;
}

/** A figure across the runs. */
export interface FigureRow {
  readonly figure: FigureName;
  readonly unit: FigureUnit;
  readonly about: string;
  /** In the order of the runs; the first is the base. */
  readonly runs: readonly FigureDifference[];
}

/** Runs side by side. */
export interface RunComparison {
  readonly runs: readonly ComparedRun[];
  readonly rows: readonly FigureRow[];
  readonly replicateCount: number;
  /** Everything that was set and differs, so that a difference of figures may be its. */
  readonly settings: readonly DifferingSetting[];
  /** By run: what kept its LoadGen from its work, in words; null: nothing that was seen. The noise of a host is in no interval. */
  readonly disturbedBy: readonly (string | null)[];
}

/** Compares the figures of runs with those of the first one. The runs fit together: {@link checkComparable} was asked. */
export function compareRuns(
  runs: readonly ComparedRun[],
  replicateCount: number = REPLICATE_COUNT,
): RunComparison {
  const replicates = runs.map((run, i) => resampleRun(run, SEED + i, replicateCount));
  const rows = FIGURE_NAMES.filter((name) =>
    runs.some(({ summary }) => summary.figures[name] !== undefined),
  ).map((figure) => rowOf(figure, runs, replicates));
  const disturbedBy = runs.map(({ summary }) => disturbance(summary));
  const settings = differingSettings(runs);
  return {
    ...{ runs, replicateCount, settings, disturbedBy },
    rows: rows.map((row) => withoutClaims(row, disturbedBy, inputsOf(settings))),
  };
}

/** What LoadGen was told to do is no merit of the SUT: the rate of the schedule, and what follows from it. */
function inputsOf(settings: readonly DifferingSetting[]): readonly FigureName[] {
  const isOtherLoad = settings.some(({ name }) => name === 'targetQps' || name === 'arrivals');
  return isOtherLoad ? ['scheduled_qps', 'completed_qps'] : ['scheduled_qps'];
}

/** Takes away what the runs do not carry. */
function withoutClaims(
  row: FigureRow,
  disturbedBy: readonly (string | null)[],
  inputs: readonly FigureName[],
): FigureRow {
  const isInput = inputs.includes(row.figure);
  const runs = row.runs.map((own, i) => {
    const isDisturbed = disturbedBy[0] !== null || disturbedBy[i] !== null;
    return isInput || isDisturbed ? { ...own, judgement: null } : own;
  });
  return { ...row, runs };
}

function disturbance({
  isGeneratorBound,
  generatorBoundReason,
  health,
}: RunSummary): string | null {
  if (isGeneratorBound) return `generator-bound: ${generatorBoundReason}`;
  const causes = health === null ? [] : disturbances(health);
  return causes.length === 0 ? null : causes.join('; ');
}

function rowOf(
  figure: FigureName,
  runs: readonly ComparedRun[],
  replicates: readonly Replicates[],
): FigureRow {
  const { unit, about } = FIGURES[figure];
  const base = runs[0]?.summary.figures[figure];
  const drawnBase = replicates[0]?.get(figure);
  const differences = runs.map(({ summary }, i): FigureDifference => {
    const value = summary.figures[figure];
    if (value === undefined) return NOTHING;
    const drawn = replicates[i]?.get(figure);
    const interval = drawn === undefined ? null : intervalOf(drawn, value);
    if (i === 0 || base === undefined) return { ...NOTHING, value, interval };
    const difference = value - base;
    const share = shareOf(value, base);
    const unsure = { differenceInterval: null, shareInterval: null, judgement: null };
    const seen = { value, interval, difference, share, ...unsure };
    if (drawn === undefined || drawnBase === undefined) return seen;
    const paired = (of: (own: number, base: number) => number): Float64Array =>
      drawn.map((own, k) => of(own, drawnBase[k] as number));
    const differenceInterval = intervalOf(
      paired((own, other) => own - other),
      difference,
    );
    const shareInterval = intervalOf(paired(shareOf), share);
    const judgement = judgementOf(figure, differenceInterval);
    return { ...seen, differenceInterval, shareInterval, judgement };
  });
  return { figure, unit, about, runs: differences };
}

const NOTHING: FigureDifference = {
  value: null,
  interval: null,
  difference: null,
  differenceInterval: null,
  share: null,
  shareInterval: null,
  judgement: null,
};

function shareOf(value: number, base: number): number {
  return value === base ? 0 : (value - base) / Math.abs(base);
}

/** Percentiles of what was drawn, and never without the estimate itself. Null where too little could be drawn. */
function intervalOf(drawn: Float64Array, estimate: number): ConfidenceInterval | null {
  const sorted = drawn.filter((value) => !Number.isNaN(value)).sort();
  if (sorted.length < drawn.length || !Number.isFinite(estimate)) return null;
  const at = (share: number): number => sorted[Math.trunc(share * (sorted.length - 1))] as number;
  const low = Math.min(at((1 - CONFIDENCE) / 2), estimate);
  const high = Math.max(at((1 + CONFIDENCE) / 2), estimate);
  if (!Number.isFinite(low) || !Number.isFinite(high)) return null;
  return [low, high];
}

function judgementOf(
  figure: FigureName,
  interval: ConfidenceInterval | null,
): FigureDifference['judgement'] {
  if (interval === null) return null;
  const [low, high] = interval;
  if (low <= 0 && high >= 0) return 'same';
  const { moreIsBetter } = FIGURES[figure];
  if (moreIsBetter === null) return 'other';
  return low > 0 === moreIsBetter ? 'better' : 'worse';
}
