import { type Html, html } from '../html/html.ts';
import { coordinate, PLOT, type PlotArea, type Series, xOf, yOf } from './plot.ts';

/** Texts of a chart's values for hovering. */
export interface HoverTexts {
  readonly x: (value: number) => string;
  readonly y: (value: number) => string;
}

/** Separates the texts of neighbouring points; no figure contains it. */
const SEPARATOR = '|';

/**
 * Values for hovering over a line chart, as JSON. Lines with the same x values share them; a gap is
 * a dash. The page's script (live/page/report-charts.ts) parses it.
 */
export function hoverData(
  area: PlotArea,
  series: readonly (Pick<Series, 'name' | 'points'> & {
    /** Text of each point. Default: its value. */
    readonly texts?: readonly string[];
  })[],
  texts: HoverTexts,
): string {
  // Format for the page's script: positions along x with their texts, and for each line the text at
  // each position.
  const groups: { at: string; x: string; lines: [name: string, texts: string][] }[] = [];
  for (const { name, points, texts: own } of series) {
    const at = points.map(([x]) => coordinate(xOf(area, x))).join(SEPARATOR);
    const values = own ?? points.map(([, y]) => (Number.isFinite(y) ? texts.y(y) : '-'));
    const line: [string, string] = [name, values.join(SEPARATOR)];
    const same = groups.find((group) => group.at === at);
    if (same !== undefined) same.lines.push(line);
    else groups.push({ at, x: points.map(([x]) => texts.x(x)).join(SEPARATOR), lines: [line] });
  }
  return JSON.stringify(groups);
}

const WIDTH = PLOT.width - PLOT.left - PLOT.right;

/**
 * The part of a drawing that zooming stretches: lines, areas and bars, no text. It includes finer
 * marks for the y axis: positions and texts, one list per level.
 */
export function drawWindow(area: PlotArea, content: Html): Html {
  const lists = [area.y.ticks, ...(area.y.finer?.() ?? [])];
  const marks = lists.map((ticks) =>
    ticks.map(({ value, label }) => `${coordinate(yOf(area, value))} ${label}`).join(SEPARATOR),
  );
  return html`<svg class="window" data-marks="${marks.join('\n')}" aria-hidden="true" x="${PLOT.left}" y="0" width="${WIDTH}" height="${PLOT.height}" viewBox="${PLOT.left} 0 ${WIDTH} ${PLOT.height}" preserveAspectRatio="none">${content}</svg>`;
}
