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
  /** In ns. Default: none. */
  readonly boundNs?: number | null;
  /** Name of the values: `latency`. */
  readonly title: string;
  /** Percentiles that are marked with their values: those of the first distribution. */
  readonly marked: readonly number[];
}

/**
 * Latency over the percentile, on an axis that stretches the tail: the distribution function, turned so that the percentiles
 * that rules ask for are far apart.
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

/** A place of the axis with the digits that tell it from its neighbours: `99.95 %`. */
function shareText(share: number): string {
  const digits = 2 + Math.max(0, Math.ceil(-Math.log10(Math.max(1 - share, 1e-9))));
  return `${rounded(share * 100, digits)} %`;
}

/** Lets the line of few values go through its marks. */
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

/** A single value is a level line, not a point. */
function stepped(points: Points): Points {
  const [only] = points;
  return only !== undefined && points.length === 1 ? [only, [0.9, only[1]]] : points;
}

/** A marked percentile: its dot, and the place of its text. */
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
    // Below the line, which rises to the right; on the left of the dot where the chart ends.
    const isFarRight = dotX > PLOT.width - 110;
    const width = textWidth(label);
    const left = isFarRight ? dotX + 4 - width : dotX + 5;
    // Above the line where the axis is near.
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

/** Points per decade of 1/(1-p): a line of a few hundred points looks like one of all. */
const POINTS_PER_DECADE = 60;

/**
 * Points (share 0 to 1, value that it does not exceed) of the distribution of sorted values, dense
 * in the tail, up to the largest value: a few hundred for any number of values.
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

/** A chart that has less of the usual height does not stretch to that of its neighbour. */
const SHORT_SHARE = 0.8;

/** A chart on a page. */
interface FigureParts {
  readonly title: string;
  /** The chart in words with its main figures, for readers of screens. */
  readonly alternative: string;
  /** Below the chart. */
  readonly caption: string;
  /** Content of the `svg` element. */
  readonly drawing: Html;
  /** Values that hovering shows (`hoverData`). Default: none. */
  readonly hover?: string;
  /** Above the chart. Default: none, as of one series. */
  readonly legend?: Html | null;
  /** In units of SVG. Default: {@link PLOT}'s. */
  readonly width?: number;
  readonly height?: number;
  /** The figures of the chart as a table, to open. Default: another one on the page has them. */
  readonly table?: Html;
  /** Larger than others: it has the whole width of the page, and scrolls where that is narrow. */
  readonly isWide?: boolean;
  /** Of a wide one: it shrinks with the page, and does not scroll. Default: false. */
  readonly shrinks?: boolean;
}

/**
 * A chart with its title, its text alternative and its data. The chart takes the focus, so that a
 * reader of screens stops at it.
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
