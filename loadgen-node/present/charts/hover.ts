import { type Html, html } from '../html/html.ts';
import { coordinate, PLOT, type PlotArea, type Series, xOf } from './plot.ts';

/** How the values of a chart are written where a pointer rests. */
export interface HoverTexts {
  readonly x: (value: number) => string;
  readonly y: (value: number) => string;
}

/** Places along x with their texts, and of each line the text at each of them: what the script of a page reads. */
interface HoverGroup {
  readonly at: string;
  readonly x: string;
  readonly lines: [name: string, texts: string][];
}

/** Between the texts of neighbouring places; no figure has it. */
const SEPARATOR = '|';

/**
 * What a pointer reads along a chart of lines, as JSON. Lines with the same places share them; a gap is a dash.
 * The script of the page (live/page/report-charts.ts) takes it apart.
 */
export function hoverData(area: PlotArea, series: readonly Series[], texts: HoverTexts): string {
  const groups: HoverGroup[] = [];
  for (const { name, points } of series) {
    const at = points.map(([x]) => coordinate(xOf(area, x))).join(SEPARATOR);
    const line: [string, string] = [
      name,
      points.map(([, y]) => (Number.isFinite(y) ? texts.y(y) : '-')).join(SEPARATOR),
    ];
    const same = groups.find((group) => group.at === at);
    if (same !== undefined) same.lines.push(line);
    else groups.push({ at, x: points.map(([x]) => texts.x(x)).join(SEPARATOR), lines: [line] });
  }
  return JSON.stringify(groups);
}

const WIDTH = PLOT.width - PLOT.left - PLOT.right;

/**
 * The part of a drawing that is stretched along x when a reader zooms: lines, areas and bars, no text.
 */
export function drawWindow(content: Html): Html {
  return html`<svg class="window" aria-hidden="true" x="${PLOT.left}" y="0" width="${WIDTH}" height="${PLOT.height}" viewBox="${PLOT.left} 0 ${WIDTH} ${PLOT.height}" preserveAspectRatio="none">${content}</svg>`;
}
