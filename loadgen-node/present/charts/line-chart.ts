import { type Html, html } from '../html/html.ts';
import { drawAxes, drawBound, drawHints, drawLegend, drawLine } from './plot.ts';
import type { Axis } from './scale.ts';

/** A line over x; y is NaN where there is a gap. */
export interface LineSeries {
  readonly name: string;
  readonly className: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** A chart of lines. */
export interface LineChart {
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly LineSeries[];
  readonly bound: { readonly value: number; readonly label: string } | null;
  readonly hints: readonly { readonly from: number; readonly to: number; readonly text: string }[];
}

/** Draws lines with their legend. */
export function drawLines({ x, y, series, bound, hints }: LineChart): {
  drawing: Html;
  legend: Html | null;
} {
  const area = { x, y };
  const lines = series.map(({ points, className }) => drawLine(area, points, className));
  const drawing = html`${drawAxes(area)}${lines}${bound === null ? null : drawBound(area, bound.value, bound.label)}${drawHints(area, hints)}`;
  return { drawing, legend: series.length < 2 ? null : drawLegend(series) };
}
