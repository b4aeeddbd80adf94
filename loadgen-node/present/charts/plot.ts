import { type Html, html } from '../html/html.ts';
import type { Axis } from './scale.ts';

/** Chart size in SVG units: small, so that text is legible on a page 400 px wide. */
export const PLOT = { width: 480, height: 262, left: 58, right: 14, top: 26, bottom: 42 } as const;

const RIGHT = PLOT.width - PLOT.right;
const BOTTOM = PLOT.height - PLOT.bottom;

/** The two axes of a chart; they map values to SVG units. */
export interface PlotArea {
  readonly x: Axis;
  readonly y: Axis;
}

/** Points in order of x; y is NaN for a gap. */
export type Points = readonly (readonly [x: number, y: number])[];

/** A line, or a layer of a stack. */
export interface Series {
  readonly name: string;
  /** Colour and dashes. */
  readonly className: string;
  readonly points: Points;
}

/** A coordinate rounded to a tenth of an SVG unit, finer than a screen shows. */
export function coordinate(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** Horizontal place of a value. */
export function xOf({ x }: Pick<PlotArea, 'x'>, value: number): number {
  return PLOT.left + x.scale(value) * (RIGHT - PLOT.left);
}

/** Vertical place of a value; upwards is more. */
export function yOf({ y }: PlotArea, value: number): number {
  return BOTTOM - y.scale(value) * (BOTTOM - PLOT.top);
}

/** CSS class of a line by number: its colour, and dashes for readers who do not see colours. */
export function seriesClass(index: number): string {
  const dashes = ['', ' dash2', ' dash3', ' dash4'][index % 4];
  return `c${(index % 6) + 1}${dashes}`;
}

/** Grid, marks and titles of both axes. */
export function drawAxes(area: PlotArea): Html {
  const rows = area.y.ticks.map(({ value, label }) => {
    const y = yOf(area, value);
    return html`<path class="grid" d="M${PLOT.left} ${coordinate(y)}H${RIGHT}"/><text class="axis end" x="${PLOT.left - 6}" y="${coordinate(y + 4)}">${label}</text>`;
  });
  const columns = area.x.ticks.map(({ value, label }) => {
    const x = xOf(area, value);
    const isLast = x > RIGHT - 14;
    return html`<path class="grid" d="M${coordinate(x)} ${PLOT.top}V${BOTTOM}"/><text class="${isLast ? 'axis end' : 'axis middle'}" x="${coordinate(isLast ? PLOT.width - 2 : x)}" y="${BOTTOM + 16}">${label}</text>`;
  });
  return html`<g class="rows">${rows}</g><g class="columns">${columns}</g><path class="frame" d="M${PLOT.left} ${BOTTOM}H${RIGHT}"/><text class="axis middle" x="${(PLOT.left + RIGHT) / 2}" y="${PLOT.height - 6}">${area.x.title}</text><text class="axis" x="2" y="11">${area.y.title}</text>`;
}

/** A line through points. */
export function drawLine(area: PlotArea, points: Points, className: string): Html {
  let path = '';
  points.forEach(([x, y], i) => {
    if (!Number.isFinite(y)) return;
    const place = `${coordinate(xOf(area, x))} ${coordinate(yOf(area, y))}`;
    const isAfterGap = !Number.isFinite(points[i - 1]?.[1]);
    const isAlone = isAfterGap && !Number.isFinite(points[i + 1]?.[1]);
    // A single point would be an invisible line of no length.
    path += isAlone ? `M${place}m-3 0h6` : `${isAfterGap ? 'M' : 'L'}${place}`;
  });
  return path === '' ? html`` : html`<path class="${`series ${className}`}" d="${path}"/>`;
}

/** The area below a line, down to the axis. */
export function drawArea(area: PlotArea, points: Points, className: string): Html {
  let path = '';
  points.forEach(([x, y], i) => {
    if (!Number.isFinite(y)) return;
    const place = coordinate(xOf(area, x));
    const isAfterGap = !Number.isFinite(points[i - 1]?.[1]);
    path += `${isAfterGap ? `M${place} ${BOTTOM}` : ''}L${place} ${coordinate(yOf(area, y))}`;
    if (!Number.isFinite(points[i + 1]?.[1])) path += `L${place} ${BOTTOM}Z`;
  });
  return path === '' ? html`` : html`<path class="${`fill ${className}`}" d="${path}"/>`;
}

/** The area between two values at each x. */
export function drawBand(
  area: PlotArea,
  stretches: readonly (readonly [x: number, low: number, high: number])[],
  className: string,
): Html {
  if (stretches.length < 2) return html``;
  const place = (x: number, y: number): string =>
    `${coordinate(xOf(area, x))} ${coordinate(yOf(area, y))}`;
  const upper = stretches.map(([x, , high]) => place(x, high));
  const lower = stretches.map(([x, low]) => place(x, low)).reverse();
  return html`<path class="${`band ${className}`}" d="M${[...upper, ...lower].join('L')}Z"/>`;
}

/** Form of a dot: full, empty inside, or a ring around another one. */
type DotForm = 'fill' | 'hollow' | 'ring';

/** A dot with a hover text. */
export function drawDot(
  area: PlotArea,
  [x, y]: readonly [x: number, y: number],
  { className, form, hint }: { className: string; form: DotForm; hint: string },
): Html {
  const radius = { fill: 3, hollow: 3.2, ring: 6.5 }[form];
  const [cx, cy] = [coordinate(xOf(area, x)), coordinate(yOf(area, y))];
  return html`<circle class="${`${form} ${className.replace(/ dash\d/, '')}`}" data-x="${cx}" data-y="${cy}" cx="${cx}" cy="${cy}" r="${radius}"><title>${hint}</title></circle>`;
}

/**
 * Vertical lines at x values, each with its name at the top; names that would overlap are stacked.
 */
export function drawFlags(
  area: PlotArea,
  flags: readonly { readonly x: number; readonly label: string }[],
): Html {
  const placed: TextPlace[] = [];
  const drawn = [...flags]
    .sort((a, b) => a.x - b.x)
    .map(({ x, label }) => {
      const at = xOf(area, x);
      const width = textWidth(label);
      // Curves that rise to the right leave the upper left free.
      const isLeft = at - 4 - width > PLOT.left || at + 4 + width > RIGHT;
      const left = isLeft ? at - 4 - width : at + 4;
      const place = { left, right: left + width, y: PLOT.top + 12 };
      while (placed.some((other) => areOver(place, other))) place.y += 14;
      placed.push(place);
      return html`<g data-x="${coordinate(at)}"><path class="flag" d="M${coordinate(at)} ${PLOT.top}V${BOTTOM}"/><text class="${isLeft ? 'end' : 'start'}" x="${coordinate(isLeft ? at - 4 : at + 4)}" y="${place.y}">${label}</text></g>`;
    });
  return html`${drawn}`;
}

/** Position of a text in a chart: its left and right end, and its base line. */
export interface TextPlace {
  readonly left: number;
  readonly right: number;
  readonly y: number;
}

/** Estimated width of a chart text, rather too large; browsers are not available here. */
export function textWidth(text: string): number {
  return text.length * 7;
}

/**
 * A bound: a line across the chart, with its name where it covers no other text, if such a place
 * exists.
 */
export function drawBound(
  area: PlotArea,
  value: number,
  label: string,
  others: readonly TextPlace[] = [],
): Html {
  const y = yOf(area, value);
  const width = textWidth(label);
  const lefts = [PLOT.left + 6, (PLOT.left + PLOT.width - width) / 2, RIGHT - width];
  const places = lefts.flatMap((left) =>
    [y - 4, y + 13].map((baseY) => ({ left, right: left + width, y: baseY })),
  );
  const free = places.find(
    (place) => place.y < BOTTOM && !others.some((other) => areOver(place, other)),
  );
  const at = free ?? (places[0] as TextPlace);
  return html`<g data-y="${coordinate(y)}"><path class="bound" d="M${PLOT.left} ${coordinate(y)}H${RIGHT}"/><text class="bound-text" x="${coordinate(at.left)}" y="${coordinate(at.y)}">${label}</text></g>`;
}

/** True if two texts overlap. */
export function areOver(one: TextPlace, other: TextPlace): boolean {
  return one.left < other.right && other.left < one.right && Math.abs(one.y - other.y) < 13;
}

/** Bars over intervals of x, from the bottom up. */
export function drawBars(
  area: PlotArea,
  bars: readonly { readonly from: number; readonly to: number; readonly value: number }[],
  className: string,
): Html {
  let path = '';
  for (const { from, to, value } of bars) {
    if (value <= 0) continue;
    const left = coordinate(xOf(area, from));
    const right = coordinate(xOf(area, to));
    path += `M${left} ${BOTTOM}V${coordinate(Math.min(yOf(area, value), BOTTOM - 0.8))}H${right}V${BOTTOM}Z`;
  }
  return path === '' ? html`` : html`<path class="${`fill edge ${className}`}" d="${path}"/>`;
}

/** Shape of a legend sign. */
type SignForm = 'line' | 'area' | 'dot' | 'hollow';

/** An entry of a legend. */
export interface LegendEntry extends Omit<Series, 'points'> {
  /** Default: a line. */
  readonly form?: SignForm;
}

/** The sign of an entry, 24 by 12 units. */
export function signShape(className: string, form: SignForm = 'line'): Html {
  switch (form) {
    case 'line':
      return html`<path class="${`series ${className}`}" d="M0 6H24"/>`;
    case 'area':
      return html`<rect class="${`fill ${className}`}" width="24" height="12"/>`;
    default:
      return html`<circle class="${`${form === 'dot' ? 'fill' : form} ${className}`}" cx="12" cy="6" r="4"/>`;
  }
}

/** The sign of a line in a legend, or of another form. */
export function drawSign(className: string, form?: SignForm): Html {
  return html`<svg viewBox="0 0 24 12" aria-hidden="true">${signShape(className, form)}</svg>`;
}

/** Names and signs of the lines of a chart. */
export function drawLegend(entries: readonly LegendEntry[]): Html {
  const items = entries.map(
    ({ name, className, form }) => html`<li>${drawSign(className, form)}${name}</li>`,
  );
  return html`<ul class="legend">${items}</ul>`;
}

/** A horizontal bar made of segments. */
interface StackedBar {
  readonly name: string;
  /** Text after the bar. */
  readonly total: string;
  /** Segments, each with its hover text. */
  readonly segments: readonly {
    readonly value: number;
    readonly className: string;
    readonly hint: string;
  }[];
}

const BAR_HEIGHT = 26;
const ROW_HEIGHT = 52;

/**
 * Horizontal bars, stacked vertically; the length is the sum of the segments, and the longest bar
 * has the full width.
 */
export function drawStackedBars(bars: readonly StackedBar[]): { drawing: Html; height: number } {
  const totals = bars.map(({ segments }) => segments.reduce((sum, { value }) => sum + value, 0));
  const largest = Math.max(...totals, 0);
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
  return { drawing: html`${rows}`, height: Math.max(bars.length, 1) * ROW_HEIGHT };
}
