import { at } from '../../../shared/base/at.ts';
import { renderFigure } from '../charts/percentile-chart.ts';
import { coordinate } from '../charts/plot.ts';
import { type Html, html, htmlTable, noteBox, scroll } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { fitText, formatNumber } from '../text/figure-text.ts';

/**
 * A cell: a value with its interval and an extra word; or, without a value, a word and the reason.
 */
export type HeatMapCell =
  | {
      readonly value: number;
      readonly interval?: readonly [number, number];
      readonly text?: string;
    }
  | { readonly word: string; readonly why: string };

/** A value over two settings. */
export interface HeatMapInput {
  readonly title: string;
  /** Names of the settings: `delay`, `rate, loss`. */
  readonly rowLabel: string;
  readonly columnLabel: string;
  /** Row names with units: `5 ms`. */
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  /** Cells by row, then by column. */
  readonly cells: readonly (readonly HeatMapCell[])[];
  /** Unit of the values: `queries/s`. */
  readonly unit: string;
  /** Notes at the top of the page. */
  readonly notes: readonly string[];
}

const LEFT = 96;
const TOP = 42;
const TILE_WIDTH = 104;
const TILE_HEIGHT = 56;
/** Colour strengths from which text is dark on any page, and light on a light page. */
const TEXT_TONES = [
  { from: 0.8, className: 'on-strong' },
  { from: 0.6, className: 'on-medium' },
] as const;
/** Weakest and strongest colour; the weakest still differs from the page. */
const OPACITY = { least: 0.08, most: 0.92 };

/**
 * A heat map as a standalone HTML page: values, intervals, and their share of the first cell, the
 * one with the best link. Cells without a value state the reason, in the map and in the table
 * below.
 */
export function renderHeatMap(input: HeatMapInput): string {
  const { title, unit, rows, columns, cells, rowLabel, columnLabel, notes } = input;
  const empty = cells.flat().filter((cell) => 'word' in cell).length;
  const cellCount = rows.length * columns.length;
  const first = `${rows[0] ?? '-'}, ${columns[0] ?? '-'}`;
  // Without a value in the first cell there are no shares.
  const share = shareOfFirst(input, 1) === '' ? '' : `, and the share of the first cell (${first})`;
  const body = html`<p class="kicker">longhaul sweep</p>
<h1>${title}</h1>
${noteBox(notes)}
${renderFigure({
  title: `${unit} by ${rowLabel} and ${columnLabel}`,
  alternative: `Heat map of ${cellCount} cells, ${empty} of them without a value. The table below has all figures.`,
  drawing: drawMap(input),
  width: Math.max(LEFT + columns.length * TILE_WIDTH + 4, 460),
  height: TOP + rows.length * TILE_HEIGHT + 6,
  caption: `Large: ${unit}. Small: where the limit lies${share}. The stronger the colour, the larger the value, from 0 to the largest.`,
  isWide: true,
})}
<h2>Figures</h2>
${scroll('Figures of all cells', cellTable(input), 'scroll cells')}`;
  return renderPage({ title, body, footer: 'Made by longhaul sweep.' });
}

/** Rows downwards, columns to the right, one rectangle with two lines of text per cell. */
function drawMap(input: HeatMapInput): Html {
  const { rows, columns, cells, rowLabel, columnLabel } = input;
  const largest = Math.max(...cells.flat().map((cell) => ('word' in cell ? 0 : cell.value)), 0);
  const heads = columns.map(
    (name, j) =>
      html`<text class="middle" x="${coordinate(LEFT + (j + 0.5) * TILE_WIDTH)}" y="${TOP - 8}">${fitText(name, 17)}</text>`,
  );
  const names = rows.map(
    (name, i) =>
      html`<text class="end" x="${LEFT - 8}" y="${coordinate(TOP + (i + 0.5) * TILE_HEIGHT + 4)}">${fitText(name, 14)}</text>`,
  );
  const tiles = cells.map((row, i) =>
    row.map((cell, j) => {
      const place = `${rowLabel} ${rows[i]}, ${columnLabel} ${columns[j]}`;
      const at = { x: LEFT + j * TILE_WIDTH, y: TOP + i * TILE_HEIGHT };
      if ('word' in cell) {
        const { word, why } = cell;
        const hint = `${place}: ${word}${why === '' ? '' : `: ${why}`}`;
        return drawTile(at, { level: null, main: word, detail: why, hint });
      }
      const { value, text = '' } = cell;
      const known = (parts: readonly string[]): string => parts.filter(Boolean).join(', ');
      return drawTile(at, {
        level: largest === 0 ? 0 : Math.max(value, 0) / largest,
        main: formatNumber(value),
        detail: known([intervalOf(cell), shareOfFirst(input, value)]),
        hint: known([`${place}: ${formatNumber(value)} ${input.unit}`, intervalOf(cell), text]),
      });
    }),
  );
  return html`<text class="axis" x="${LEFT}" y="14">${`${columnLabel} →`}</text><text class="axis" x="0" y="${TOP - 8}">${`${fitText(rowLabel, 12)} ↓`}</text>${heads}${names}${tiles}`;
}

/** Colour and texts of one cell. */
interface Tile {
  /** Colour strength, 0 to 1; null for a failed cell. */
  readonly level: number | null;
  /** Large line. */
  readonly main: string;
  /** Small line below it. */
  readonly detail: string;
  /** Hover text with everything known. */
  readonly hint: string;
}

function drawTile({ x, y }: { x: number; y: number }, { level, main, detail, hint }: Tile): Html {
  const middle = coordinate(x + TILE_WIDTH / 2);
  const size = html`x="${x + 2}" y="${y + 2}" width="${TILE_WIDTH - 4}" height="${TILE_HEIGHT - 4}" rx="3"`;
  const opacity = OPACITY.least + (level ?? 0) * (OPACITY.most - OPACITY.least);
  const area =
    level === null
      ? html`<rect class="failed" ${size}/>`
      : html`<rect class="heat" fill-opacity="${opacity.toFixed(2)}" ${size}/>`;
  const tone = TEXT_TONES.find(({ from }) => level !== null && opacity >= from)?.className ?? '';
  const lines = twoLines(detail, 17);
  const top = y + (lines.length === 1 ? 26 : 20);
  const details = lines.map(
    (line, i) =>
      html`<text class="${`middle small ${tone}`.trim()}" x="${middle}" y="${top + 16 + i * 13}">${line}</text>`,
  );
  return html`<g><title>${hint}</title>${area}<rect class="heat-edge" ${size}/><text class="${`middle big ${tone}`.trim()}" x="${middle}" y="${top}">${fitText(main, 13)}</text>${details}</g>`;
}

/** One line, or two if it is too long, broken between words; hint and table have the full text. */
function twoLines(text: string, lengthMax: number): string[] {
  if (text.length <= lengthMax) return [text];
  const space = text.lastIndexOf(' ', lengthMax);
  const first = text.slice(0, space > 0 ? space : lengthMax);
  return [first, fitText(text.slice(first.length).trim(), lengthMax)];
}

/** Share of the first cell's value; empty if it has none. */
function shareOfFirst({ cells }: HeatMapInput, value: number): string {
  const first = cells[0]?.[0];
  if (first === undefined || 'word' in first || first.value === 0) return '';
  return `${formatNumber((value / first.value) * 100)} %`;
}

function intervalOf({ interval }: { readonly interval?: readonly [number, number] }): string {
  return interval === undefined ? '' : interval.map(formatNumber).join(' to ');
}

function cellTable(input: HeatMapInput): Html {
  const { rowLabel, columnLabel, unit } = input;
  const titles = [rowLabel, columnLabel, unit, 'limit within', 'of the first cell', ''];
  const rows = input.cells.flatMap((row, i) =>
    row.map((cell, j) => {
      const place = [at(input.rows, i), at(input.columns, j)];
      if ('word' in cell) return [...place, cell.word, '', '', cell.why];
      const { value, text = '' } = cell;
      const share = shareOfFirst(input, value);
      return [...place, formatNumber(value), intervalOf(cell), share, text];
    }),
  );
  return htmlTable(titles, rows, (column) => column > 1 && column < 5);
}
