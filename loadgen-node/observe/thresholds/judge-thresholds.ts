import { z } from 'zod';
import { FIGURES, type RunFigures } from '../figures/figure-names.ts';
import { formatFigure, HOLDS, type Threshold } from './condition.ts';

/** What became of a threshold. Values are ns, per second, counts, or shares from 0 to 1. */
export const THRESHOLD_RESULT = z.strictObject({
  text: z.string().describe('as it was written'),
  figure: z.string(),
  isMet: z.boolean(),
  needed: z.number().describe('in the unit of the figure'),
  seen: z.number().nullable().describe('null: the run has no such figure'),
  // `seen` for people, or why there is none.
  seenText: z.string(),
});

export type ThresholdResult = Readonly<z.infer<typeof THRESHOLD_RESULT>>;

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
