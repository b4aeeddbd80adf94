import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { FIGURES, type FigureName } from '../../observe/figures/figure-names.ts';
import { type Condition, HOLDS } from '../../observe/thresholds/condition.ts';
import { figureText, formatShare } from '../text/figure-text.ts';
import type { ConfidenceInterval, FigureDifference, RunComparison } from './compare-runs.ts';

/** A condition that fails the comparison where it holds. */
export interface FailCondition {
  readonly condition: Condition;
  /** It must hold all over the interval, not only for the figure as it was seen. */
  readonly isSure: boolean;
}

/** What became of a condition for one run. */
export interface ConditionResult {
  /** As it was written. */
  readonly text: string;
  readonly isSure: boolean;
  readonly folder: string;
  readonly holds: boolean;
  /** The figure, or its difference, for people. */
  readonly seen: string;
}

/**
 * Holds conditions against every run but the base: relative ones against the difference from the base, absolute ones against
 * the run's own figure. A count or an extreme is sure as it is; of another figure without an interval nothing is sure.
 * @throws MlperfError `ERR_CONFIG_INVALID` where a run has no such figure: silence would be taken for consent.
 */
export function judgeConditions(
  { runs, rows, disturbedBy }: RunComparison,
  conditions: readonly FailCondition[],
): ConditionResult[] {
  return conditions.flatMap((asked) => {
    const row = rows.find(({ figure }) => figure === asked.condition.figure);
    return runs.slice(1).map(({ folder }, i) => {
      const own = row?.runs[i + 1];
      if (own === undefined || own.value === null) throw absent(asked.condition, folder);
      const held = heldAgainst(asked.condition, own, runs[0]?.folder ?? '');
      const judged = judgeRun(asked, folder, held);
      const isDisturbed = disturbedBy[0] !== null || disturbedBy[i + 1] !== null;
      if (!asked.isSure || !isDisturbed || isExact(asked.condition.figure)) return judged;
      return { ...judged, seen: `${judged.seen}, in runs that were disturbed: not sure` };
    });
  });
}

function judgeRun(
  { condition, isSure }: FailCondition,
  folder: string,
  held: Held,
): ConditionResult {
  const { figure, operator, text, value: wanted } = condition;
  const { value, interval, seen } = held;
  const needed = wanted.kind === 'relative' ? wanted.share : wanted.value;
  const result = { text, isSure, folder };
  if (!isSure || isExact(figure)) return { ...result, holds: HOLDS[operator](value, needed), seen };
  if (interval === null) {
    return { ...result, holds: false, seen: `${seen}, and too few values to be sure of it` };
  }
  const [low, high] = interval;
  const isWithin = low <= needed && needed <= high;
  const holds =
    operator === '!=' ? !isWithin : HOLDS[operator](low, needed) && HOLDS[operator](high, needed);
  return { ...result, holds, seen };
}

/** Counts and extremes: they are what they are. */
function isExact(figure: FigureName): boolean {
  return FIGURES[figure].unit === 'count' || figure === 'min' || /(^|_)max$/.test(figure);
}

/** What is held against a condition: the figure, or its difference as a share. */
interface Held {
  readonly value: number;
  readonly interval: ConfidenceInterval | null;
  readonly seen: string;
}

function heldAgainst(
  { figure, value: wanted }: Condition,
  { value, interval, share, shareInterval }: FigureDifference,
  base: string,
): Held {
  if (wanted.kind === 'absolute') {
    const own = value as number; // The caller asked.
    return { value: own, interval, seen: figureText(figure, own) };
  }
  if (share === null) {
    throw new MlperfError(
      'ERR_CONFIG_INVALID',
      `--fail-if: ${base} has no ${figure} (${FIGURES[figure].about}), so nothing can be relative to it`,
    );
  }
  return { value: share, interval: shareInterval, seen: signedShare(share) };
}

/** A difference as a share, with its sign: `+5.2 %`. */
export function signedShare(share: number): string {
  if (Number.isFinite(share)) return `${share < 0 ? '' : '+'}${formatShare(share)}`;
  return share > 0 ? 'more than 0' : 'less than 0';
}

function absent({ text, figure }: Condition, folder: string): MlperfError {
  return new MlperfError(
    'ERR_CONFIG_INVALID',
    `--fail-if "${text}": ${folder} has no ${figure} (${FIGURES[figure].about})`,
  );
}
