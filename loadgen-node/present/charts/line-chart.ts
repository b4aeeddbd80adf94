import { type Html, html } from '../html/html.ts';
import { drawWindow, type HoverTexts, hoverData } from './hover.ts';
import { drawAxes, drawBound, drawLegend, drawLine, type PlotArea, type Series } from './plot.ts';

/** A line chart, with a legend for several lines, and texts for hovering. */
export function drawLines({
  series,
  bound,
  texts,
  ...area
}: PlotArea & {
  readonly series: readonly Series[];
  readonly bound?: { readonly value: number; readonly label: string } | null;
  readonly texts: HoverTexts;
}): { drawing: Html; legend: Html | null; hover: string } {
  const lines = series.map(({ points, className }) => drawLine(area, points, className));
  const drawing = html`${drawAxes(area)}${drawWindow(area, html`${lines}`)}${bound ? drawBound(area, bound.value, bound.label) : null}`;
  const legend = series.length < 2 ? null : drawLegend(series);
  return { drawing, legend, hover: hoverData(area, series, texts) };
}
