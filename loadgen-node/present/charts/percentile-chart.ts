import { formatNs, rounded } from '../../../shared/base/text.ts';
import { percentileOf } from '../../loadgen/results/latency-statistics.ts';
import { type Html, html, scroll } from '../html/html.ts';
import { isCarried, percentileName } from '../text/figure-text.ts';
import { drawWindow, hoverData } from './hover.ts';
import {
  areOver,
  coordinate,
  drawAxes,
  drawBound,
  drawLegend,
  drawLine,
  PLOT,
  type PlotArea,
  type Points,
  seriesClass,
  type TextPlace,
  textWidth,
  xOf,
  yOf,
} from './plot.ts';
import { tailAxis, timeAxis } from './scale.ts';

/** A chart of percentiles. */
interface PercentileChart {
  /** Values in ns, sorted. */
  readonly distributions: readonly { readonly name: string; readonly sorted: Float64Array }[];
  /** Bound in ns. Default: none. */
  readonly boundNs?: number | null;
  /** Name of the values: `latency`. */
  readonly title: string;
  /** Percentiles of the first distribution to mark with their values. */
  readonly marked: readonly number[];
}

/**
 * Latency by percentile, on an axis that stretches the tail: the distribution function with swapped
 * axes, so that the percentiles used by rules are far apart.
 */
export function drawPercentiles(chart: PercentileChart): {
  drawing: Html;
  legend: Html | null;
  hover: string;
} {
  const { distributions, boundNs = null, title, marked } = chart;
  const lines = distributions.map(({ sorted }) =>
    withMarked(quantilePoints(sorted), sorted, marked),
  );
  const values = lines.flat().map(([, value]) => value);
  if (boundNs !== null) values.push(boundNs);
  const countMax = Math.max(...distributions.map(({ sorted }) => sorted.length), 1);
  const area: PlotArea = { x: tailAxis(countMax, 'percentile'), y: timeAxis(values, title) };
  const marks = marksOf(area, chart);
  const bound =
    boundNs === null ? null : drawBound(area, boundNs, `bound ${formatNs(boundNs)}`, marks);
  const drawn = lines.map((points, i) => drawLine(area, stepped(points), seriesClass(i)));
  const drawing = html`${drawAxes(area)}${drawWindow(area, html`${drawn}`)}${bound}<g class="marks">${marks.map(drawMark)}</g>`;
  const entries = distributions.map(({ name }, i) => ({
    name,
    className: seriesClass(i),
    points: lines[i] ?? [],
  }));
  const hover = hoverData(area, entries, { x: shareText, y: formatNs });
  return { drawing, legend: entries.length < 2 ? null : drawLegend(entries), hover };
}

/** A percentile with enough digits to differ from its neighbours: `99.95 %`. */
function shareText(share: number): string {
  const digits = 2 + Math.max(0, Math.ceil(-Math.log10(Math.max(1 - share, 1e-9))));
  return `${rounded(share * 100, digits)} %`;
}

/** Adds the marked points to a line with few values. */
function withMarked(
  points: readonly [number, number][],
  sorted: Float64Array,
  marked: readonly number[],
): [number, number][] {
  const more = marked
    .filter((share) => isCarried(sorted.length, share))
    .map((share): [number, number] => [share, percentileOf(sorted, share)]);
  return [...points, ...more].sort(([a, low], [b, high]) => a - b || low - high);
}

/** Turns a single value into a level line. */
function stepped(points: Points): Points {
  const [only] = points;
  return only !== undefined && points.length === 1 ? [only, [0.9, only[1]]] : points;
}

/** A marked percentile: its dot, and the position of its text. */
interface Mark extends TextPlace {
  readonly dotX: number;
  readonly dotY: number;
  readonly label: string;
  readonly isFarRight: boolean;
}

/** The part of a text above its base line, and the part below it. */
const ASCENT = 10;
const DESCENT = 3;

function marksOf(
  area: PlotArea,
  { distributions, marked, boundNs = null }: PercentileChart,
): readonly Mark[] {
  const sorted = distributions[0]?.sorted;
  if (sorted === undefined || sorted.length === 0) return [];
  const marks: Mark[] = [];
  for (const share of marked.filter((one) => isCarried(sorted.length, one))) {
    const value = percentileOf(sorted, share);
    const dotX = xOf(area, share);
    const dotY = yOf(area, value);
    const label = `${percentileName(share)} ${formatNs(value)}`;
    // Text below the line, which rises to the right; left of the dot at the chart's right edge.
    const isFarRight = dotX > PLOT.width - 110;
    const width = textWidth(label);
    const left = isFarRight ? dotX + 4 - width : dotX + 5;
    // Text above the line if the axis is near.
    const below = dotY + 16;
    const y0 = below > PLOT.height - PLOT.bottom - 2 ? dotY - 8 : below;
    const boundY = boundNs === null ? Number.NaN : yOf(area, boundNs);
    const isOnBound = y0 - ASCENT < boundY && boundY < y0 + DESCENT;
    const place = { left, right: left + width, y: isOnBound ? boundY + ASCENT + DESCENT : y0 };
    const before = marks.at(-1);
    const y = before !== undefined && areOver(place, before) ? before.y + 14 : place.y;
    marks.push({ ...place, y, dotX, dotY, label, isFarRight });
  }
  return marks;
}

function drawMark({ dotX, dotY, left, y, label, isFarRight }: Mark): Html {
  const place = html`class="${isFarRight ? 'end' : 'start'}" x="${coordinate(isFarRight ? dotX + 4 : left)}" y="${coordinate(y)}"`;
  return html`<circle class="fill c1" cx="${coordinate(dotX)}" cy="${coordinate(dotY)}" r="3"/><text ${place}>${label}</text>`;
}

/** Points per decade of 1/(1-p): a line of a few hundred points looks like one of all values. */
const POINTS_PER_DECADE = 60;

/**
 * Points (share 0 to 1, and the value that this share does not exceed) of sorted values, dense in
 * the tail: a few hundred for any number of values.
 */
export function quantilePoints(sorted: Float64Array): [share: number, value: number][] {
  const count = sorted.length;
  const points: [number, number][] = [];
  let before = -1;
  for (let i = 0; before < count - 1; i += 1) {
    const share = 1 - 10 ** (-i / POINTS_PER_DECADE);
    const index = Math.min(Math.trunc(share * count), count - 1);
    if (index === before) {
      // Far out in the tail the next value is more than one step away.
      if (share > 1 - 1 / (2 * count)) break;
      continue;
    }
    before = index;
    points.push([index / count, sorted[index] as number]);
  }
  return points;
}

/** A chart below this share of the usual height is not stretched to its neighbour's height. */
const SHORT_SHARE = 0.8;

/** A chart on a page. */
interface FigureParts {
  readonly title: string;
  /** Text alternative with the main figures, for screen readers. */
  readonly alternative: string;
  /** Text below the chart. */
  readonly caption: string;
  /** Content of the `svg` element. */
  readonly drawing: Html;
  /** Values for hovering (`hoverData`). Default: none. */
  readonly hover?: string;
  /** Legend above the chart. Default: none, as for a single series. */
  readonly legend?: Html | null;
  /** Width in SVG units. Default: {@link PLOT}'s. */
  readonly width?: number;
  readonly height?: number;
  /**
   * Table of the chart's figures, collapsed. Default: none, because another table on the page has
   * them.
   */
  readonly table?: Html;
  /** True for a chart of the page's whole width, which scrolls on a narrow page. */
  readonly isWide?: boolean;
  /** True for a wide chart that shrinks with the page instead of scrolling. Default: false. */
  readonly shrinks?: boolean;
}

/**
 * A chart with its title, text alternative and data. It is focusable, so that screen readers stop
 * at it.
 */
export function renderFigure(parts: FigureParts): Html {
  const { title, alternative, legend = null, drawing, caption, table } = parts;
  const { isWide = false, shrinks = false } = parts;
  const { width = PLOT.width, height = PLOT.height, hover } = parts;
  const read = hover === undefined ? null : html` data-hover="${hover}"`;
  const svg = html`<svg viewBox="0 0 ${width} ${height}" role="img" tabindex="0"${read} aria-label="${`${title}. ${alternative}`}">${drawing}</svg>`;
  const isShort = !isWide && height < PLOT.height * SHORT_SHARE;
  return html`<figure${isWide ? html` class="wide"` : null}${isShort ? html` class="short"` : null}>
<h3>${title}</h3>
${legend}${isWide ? html`<div class="${shrinks ? 'fits' : 'roomy'}">${svg}</div>` : svg}
<figcaption>${caption}
${table === undefined ? null : html`<details><summary>Figures of this chart</summary>${scroll(`Figures: ${title}`, table)}</details>\n`}</figcaption>
</figure>
`;
}
