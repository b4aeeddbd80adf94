import { FIGURES, type RunFigures } from '../figures/figure-names.ts';
import { HOLDS, type Threshold } from './condition.ts';
import { formatFigure } from './figure-units.ts';

/** What became of a threshold. */
export interface ThresholdResult {
  /** As it was written. */
  readonly text: string;
  readonly figure: string;
  readonly isMet: boolean;
  /** Value asked for, and seen: ns, per second, count, or a share from 0 to 1. Null: the run has no such figure. */
  readonly needed: number;
  readonly seen: number | null;
  /** `seen` for people, or why there is none. */
  readonly seenText: string;
}

/**
 * Holds thresholds against the figures of a run. A figure that the run does not have meets nothing: who asked for it
 * would take silence for consent.
 */
export function judgeThresholds(
  thresholds: readonly Threshold[],
  figures: RunFigures,
): ThresholdResult[] {
  return thresholds.map(({ text, figure, operator, value }) => {
    const seen = figures[figure];
    const needed = value.value;
    if (seen === undefined || Number.isNaN(seen)) {
      const seenText = 'none: the run has no such figure';
      return { text, figure, isMet: false, needed, seen: null, seenText };
    }
    const seenText = formatFigure(FIGURES[figure].unit, seen);
    return { text, figure, isMet: HOLDS[operator](seen, needed), needed, seen, seenText };
  });
}
