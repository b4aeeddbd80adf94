import { type Html, html } from '../html/html.ts';
import { coordinate, PLOT, type PlotArea, type Series, xOf, yOf } from './plot.ts';

/** How the values of a chart are written where a pointer rests. */
export interface HoverTexts {
  readonly x: (value: number) => string;
  readonly y: (value: number) => string;
}

/** Between the texts of neighbouring places; no figure has it. */
const SEPARATOR = '|';

/**
 * Values that hovering over a line chart shows, as JSON. Lines with the same x values share them; a gap is a dash.
 * The script of the page (live/page/report-charts.ts) takes it apart.
 */
export function hoverData(
  area: PlotArea,
  series: readonly (Pick<Series, 'name' | 'points'> & {
    /** Of each point. Default: of its value. */
    readonly texts?: readonly string[];
  })[],
  texts: HoverTexts,
): string {
  // Places along x with their texts, and of each line the text at each of them: what the script of a page reads.
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
 * The part of a drawing that is stretched when a reader zooms: lines, areas and bars, no text. It brings the marks that y has at a
 * closer look: places and texts, list by list.
 */
export function drawWindow(area: PlotArea, content: Html): Html {
  const lists = [area.y.ticks, ...(area.y.finer?.() ?? [])];
  const marks = lists.map((ticks) =>
    ticks.map(({ value, label }) => `${coordinate(yOf(area, value))} ${label}`).join(SEPARATOR),
  );
  return html`<svg class="window" data-marks="${marks.join('\n')}" aria-hidden="true" x="${PLOT.left}" y="0" width="${WIDTH}" height="${PLOT.height}" viewBox="${PLOT.left} 0 ${WIDTH} ${PLOT.height}" preserveAspectRatio="none">${content}</svg>`;
}
