import { type Html, html } from '../html/html.ts';
import { coordinate } from '../text/number.ts';
import type { Axis } from './scale.ts';

/** Size of a chart in units of SVG: small, so that its text is legible where a page is 400 px wide. */
export const PLOT = { width: 480, height: 262, left: 58, right: 14, top: 26, bottom: 42 } as const;

/** The two axes of a chart, from values to units of SVG. */
export interface PlotArea {
  readonly x: Axis;
  readonly y: Axis;
}

/** Horizontal place of a value. */
export function xOf({ x }: PlotArea, value: number): number {
  return PLOT.left + x.scale(value) * (PLOT.width - PLOT.left - PLOT.right);
}

/** Vertical place of a value; upwards is more. */
export function yOf({ y }: PlotArea, value: number): number {
  return PLOT.height - PLOT.bottom - y.scale(value) * (PLOT.height - PLOT.top - PLOT.bottom);
}

/** Grid, marks and titles of both axes. */
export function drawAxes(area: PlotArea): Html {
  const right = PLOT.width - PLOT.right;
  const bottom = PLOT.height - PLOT.bottom;
  const rows = area.y.ticks.map(({ value, label }) => {
    const y = yOf(area, value);
    return html`<path class="grid" d="M${PLOT.left} ${coordinate(y)}H${right}"/><text class="axis end" x="${PLOT.left - 6}" y="${coordinate(y + 4)}">${label}</text>`;
  });
  const columns = area.x.ticks.map(({ value, label }) => {
    const x = xOf(area, value);
    const isLast = x > right - 14;
    return html`<path class="grid" d="M${coordinate(x)} ${PLOT.top}V${bottom}"/><text class="${isLast ? 'axis end' : 'axis middle'}" x="${coordinate(isLast ? PLOT.width - 2 : x)}" y="${bottom + 16}">${label}</text>`;
  });
  return html`${rows}${columns}<path class="frame" d="M${PLOT.left} ${bottom}H${right}"/><text class="axis middle" x="${(PLOT.left + right) / 2}" y="${PLOT.height - 6}">${area.x.title}</text><text class="axis" x="2" y="11">${area.y.title}</text>`;
}

/** A line through points in order of x; a gap where y is NaN. */
export function drawLine(
  area: PlotArea,
  points: readonly (readonly [x: number, y: number])[],
  className: string,
): Html {
  let path = '';
  points.forEach(([x, y], i) => {
    if (!Number.isFinite(y)) return;
    const place = `${coordinate(xOf(area, x))} ${coordinate(yOf(area, y))}`;
    const isAfterGap = !Number.isFinite(points[i - 1]?.[1]);
    const isAlone = isAfterGap && !Number.isFinite(points[i + 1]?.[1]);
    // A point alone would be a line of no length, which nobody sees.
    path += isAlone ? `M${place}m-3 0h6` : `${isAfterGap ? 'M' : 'L'}${place}`;
  });
  return path === '' ? html`` : html`<path class="${`series ${className}`}" d="${path}"/>`;
}

/** A text in a chart: where it begins, where it ends, and its base line. */
export interface TextPlace {
  readonly left: number;
  readonly right: number;
  readonly y: number;
}

/** Width of a text of a chart; no browser is asked, so it is rather too large. */
export function textWidth(text: string): number {
  return text.length * 7;
}

/** A bound: a line across the chart with its name, where that covers no other text, if there is such a place. */
export function drawBound(
  area: PlotArea,
  value: number,
  label: string,
  others: readonly TextPlace[] = [],
): Html {
  const y = yOf(area, value);
  const width = textWidth(label);
  const lefts = [
    PLOT.left + 6,
    (PLOT.left + PLOT.width - width) / 2,
    PLOT.width - PLOT.right - width,
  ];
  const places = lefts.flatMap((left) =>
    [y - 4, y + 13].map((baseY) => ({ left, right: left + width, y: baseY })),
  );
  const isInside = (place: TextPlace): boolean => place.y < PLOT.height - PLOT.bottom;
  const free = places.find(
    (place) => isInside(place) && !others.some((other) => areOver(place, other)),
  );
  const at = free ?? (places[0] as TextPlace);
  return html`<path class="bound" d="M${PLOT.left} ${coordinate(y)}H${PLOT.width - PLOT.right}"/><text class="bound-text" x="${coordinate(at.left)}" y="${coordinate(at.y)}">${label}</text>`;
}

/** Whether two texts cover each other. */
export function areOver(one: TextPlace, other: TextPlace): boolean {
  return one.left < other.right && other.left < one.right && Math.abs(one.y - other.y) < 13;
}

/** Strips over the chart that say their figures when a pointer rests on them. */
export function drawHints(
  area: PlotArea,
  strips: readonly { readonly from: number; readonly to: number; readonly text: string }[],
): Html {
  const height = PLOT.height - PLOT.top - PLOT.bottom;
  const rects = strips.map(({ from, to, text }) => {
    const x = xOf(area, from);
    const width = Math.max(xOf(area, to) - x, 0.5);
    return html`<rect class="hover" x="${coordinate(x)}" y="${PLOT.top}" width="${coordinate(width)}" height="${height}"><title>${text}</title></rect>`;
  });
  return html`${rects}`;
}

/** Bars over intervals of x, from the bottom up. */
export function drawBars(
  area: PlotArea,
  bars: readonly { readonly from: number; readonly to: number; readonly value: number }[],
  className: string,
): Html {
  const bottom = PLOT.height - PLOT.bottom;
  let path = '';
  for (const { from, to, value } of bars) {
    if (value <= 0) continue;
    const left = coordinate(xOf(area, from));
    const right = coordinate(xOf(area, to));
    path += `M${left} ${bottom}V${coordinate(Math.min(yOf(area, value), bottom - 0.8))}H${right}V${bottom}Z`;
  }
  return path === '' ? html`` : html`<path class="${`fill edge ${className}`}" d="${path}"/>`;
}

/** What the lines of a chart are; each with its class (colour, dashes). */
export function drawLegend(
  entries: readonly {
    readonly name: string;
    readonly className: string;
    readonly isArea?: boolean;
  }[],
): Html {
  const items = entries.map(({ name, className, isArea }) => {
    const sign =
      isArea === true
        ? html`<rect class="${`fill ${className}`}" width="24" height="12"/>`
        : html`<path class="${`series ${className}`}" d="M0 6H24"/>`;
    return html`<li><svg viewBox="0 0 24 12" aria-hidden="true">${sign}</svg>${name}</li>`;
  });
  return html`<ul class="legend">${items}</ul>`;
}
