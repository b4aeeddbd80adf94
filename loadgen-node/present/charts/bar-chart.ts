import { type Html, html } from '../html/html.ts';
import { coordinate } from '../text/number.ts';
import { PLOT } from './plot.ts';

/** A horizontal bar made of segments. */
export interface StackedBar {
  readonly name: string;
  /** Behind the bar. */
  readonly total: string;
  readonly segments: readonly BarSegment[];
}

/** A piece of a bar. */
export interface BarSegment {
  readonly value: number;
  readonly className: string;
  /** When a pointer rests on it. */
  readonly hint: string;
}

const BAR_HEIGHT = 26;
const ROW_HEIGHT = 52;

/** Horizontal bars, one below the other, as long as their segments together; the longest takes the whole width. */
export function drawStackedBars(bars: readonly StackedBar[]): { drawing: Html; height: number } {
  const totals = bars.map(({ segments }) => segments.reduce((sum, { value }) => sum + value, 0));
  const largest = totals.reduce((a, b) => Math.max(a, b), 0);
  const unit = largest === 0 ? 0 : (PLOT.width - 4) / largest;
  const rows = bars.map(({ name, total, segments }, i) => {
    const y = i * ROW_HEIGHT;
    let x = 2;
    const pieces = segments
      .filter(({ value }) => value > 0)
      .map(({ value, className, hint }) => {
        const width = value * unit;
        const piece = html`<rect class="${`fill edge ${className}`}" x="${coordinate(x)}" y="${y + 18}" width="${coordinate(Math.max(width, 0.3))}" height="${BAR_HEIGHT}"><title>${hint}</title></rect>`;
        x += width;
        return piece;
      });
    return html`<text x="2" y="${y + 12}">${name}</text><text class="end" x="${PLOT.width - 2}" y="${y + 12}">${total}</text>${pieces}`;
  });
  return { drawing: html`${rows}`, height: Math.max(bars.length * ROW_HEIGHT, ROW_HEIGHT) };
}
