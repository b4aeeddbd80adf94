import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { FIGURES } from '../records/figure-names.ts';
import { formatShare } from '../report/charts/time-format.ts';
import { figureText } from '../report/figure-text.ts';
import type { Condition, Operator } from '../thresholds/condition.ts';
import type { Comparison, FigureDifference, Interval } from './compare-runs.ts';

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
 * the run's own figure. A figure without an interval (a count, an extreme) is sure as it is.
 * @throws MlperfError `ERR_CONFIG_INVALID` where a run has no such figure: silence would be taken for consent.
 */
export function judgeConditions(
  { runs, rows }: Comparison,
  conditions: readonly FailCondition[],
): ConditionResult[] {
  return conditions.flatMap(({ condition, isSure }) => {
    const row = rows.find(({ figure }) => figure === condition.figure);
    return runs.slice(1).map(({ folder }, i) => {
      const own = row?.runs[i + 1];
      if (row === undefined || own === undefined || own.value === null)
        throw absent(condition, folder);
      const { value, interval, seen } = heldAgainst(condition, own, runs[0]?.folder ?? '');
      const values = isSure && interval !== null ? interval : [value];
      const needed =
        condition.value.kind === 'relative' ? condition.value.share : condition.value.value;
      const holds = values.every((one) => compare(one, condition.operator, needed));
      return { text: condition.text, isSure, folder, holds, seen };
    });
  });
}

function heldAgainst(
  { figure, value: wanted }: Condition,
  { value, interval, share, shareInterval }: FigureDifference,
  base: string,
): { value: number; interval: Interval | null; seen: string } {
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

function compare(seen: number, operator: Operator, needed: number): boolean {
  switch (operator) {
    case '<':
      return seen < needed;
    case '<=':
      return seen <= needed;
    case '>':
      return seen > needed;
    case '>=':
      return seen >= needed;
    case '==':
      return seen === needed;
    case '!=':
      return seen !== needed;
  }
}

function absent({ text, figure }: Condition, folder: string): MlperfError {
  return new MlperfError(
    'ERR_CONFIG_INVALID',
    `--fail-if "${text}": ${folder} has no ${figure} (${FIGURES[figure].about})`,
  );
}
