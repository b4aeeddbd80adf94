import { FIGURES, type FigureName } from '../../observe/figures/figure-names.ts';
import { figureText, formatNumber, formatShare } from '../text/figure-text.ts';
import { CONFIDENCE, type FigureDifference } from './compare-runs.ts';

/** Text of each judgement. */
export const JUDGEMENTS = {
  better: 'surely better',
  worse: 'surely worse',
  other: 'surely other',
  same: 'within the noise',
} as const;

/** Columns after the name of the figure. */
export const COLUMNS = ['base', 'run', 'difference', `${CONFIDENCE * 100} % interval`, ''];

/** Cells of one figure: values, difference in units and percent, interval, and judgement. */
export function cells(figure: FigureName, base: FigureDifference, own: FigureDifference): string[] {
  return [
    figure,
    ...[base.value, own.value].map((value) => (value === null ? '-' : figureText(figure, value))),
    changeText(figure, own),
    intervalText(figure, own),
    own.judgement === null ? '' : JUDGEMENTS[own.judgement],
  ];
}

/** Difference from the base, in units and percent: `+1.2 ms (+5 %)`; empty for the base. */
export function changeText(figure: FigureName, { difference, share }: FigureDifference): string {
  if (difference === null || share === null) return '';
  return `${signedFigure(figure, difference)} (${signedShare(share)})`;
}

function signedFigure(figure: FigureName, difference: number): string {
  const sign = difference < 0 ? '-' : '+';
  // The difference of two percentages is not a percentage of either.
  if (FIGURES[figure].unit === 'share')
    return `${sign}${formatNumber(Math.abs(difference) * 100)} points`;
  return `${sign}${figureText(figure, Math.abs(difference))}`;
}

/** Interval in percent of the base; in units if the base is 0. */
function intervalText(figure: FigureName, own: FigureDifference): string {
  const { shareInterval, differenceInterval } = own;
  const ends =
    shareInterval?.map(signedShare) ??
    differenceInterval?.map((end) => signedFigure(figure, end)) ??
    [];
  return ends.join(' to ');
}

/** A signed share: `+5.2 %`. */
export function signedShare(share: number): string {
  if (Number.isFinite(share)) return `${share < 0 ? '' : '+'}${formatShare(share)}`;
  return share > 0 ? 'more than 0' : 'less than 0';
}
