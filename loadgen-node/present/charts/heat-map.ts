import { type Html, html } from '../html/html.ts';
import { coordinate } from '../text/number.ts';

/** What one cell of a heat map shows. */
export interface HeatMapTile {
  /** 0 to 1: how strong the colour is; null: the cell failed. */
  readonly level: number | null;
  /** Large line. */
  readonly main: string;
  /** Small line below it. */
  readonly detail: string;
  /** All that is known, when a pointer rests on the cell. */
  readonly hint: string;
}

/** A heat map without its frame. */
export interface HeatMapChart {
  readonly rowLabel: string;
  readonly columnLabel: string;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  /** By row, then by column. */
  readonly tiles: readonly (readonly HeatMapTile[])[];
}

/** A drawing and its size in units of SVG. */
export interface Drawing {
  readonly content: Html;
  readonly width: number;
  readonly height: number;
}

const LEFT = 96;
const TOP = 42;
const TILE_WIDTH = 104;
const TILE_HEIGHT = 56;
/** From these strengths on text is dark whatever the page is, and light on a page that is light. */
const TEXT_TONES = [
  { from: 0.8, className: 'on-strong' },
  { from: 0.6, className: 'on-medium' },
] as const;
/** Weakest and strongest colour: the weakest is still told from the page. */
const OPACITY = { least: 0.08, most: 0.92 };

/** Draws a heat map: rows downwards, columns to the right, a rectangle with two lines of text per cell. */
export function drawHeatMap(chart: HeatMapChart): Drawing {
  const { rows, columns, tiles } = chart;
  const width = Math.max(LEFT + columns.length * TILE_WIDTH + 4, 460);
  const height = TOP + rows.length * TILE_HEIGHT + 6;
  const heads = columns.map(
    (name, j) =>
      html`<text class="middle" x="${coordinate(LEFT + (j + 0.5) * TILE_WIDTH)}" y="${TOP - 8}">${shortened(name, 17)}</text>`,
  );
  const names = rows.map(
    (name, i) =>
      html`<text class="end" x="${LEFT - 8}" y="${coordinate(TOP + (i + 0.5) * TILE_HEIGHT + 4)}">${shortened(name, 14)}</text>`,
  );
  const cells = tiles.map((row, i) => row.map((tile, j) => drawTile(tile, i, j)));
  const content = html`<text class="axis" x="${LEFT}" y="14">${`${chart.columnLabel} →`}</text><text class="axis" x="0" y="${TOP - 8}">${`${shortened(chart.rowLabel, 12)} ↓`}</text>${heads}${names}${cells}`;
  return { content, width, height };
}

function drawTile(tile: HeatMapTile, row: number, column: number): Html {
  const x = LEFT + column * TILE_WIDTH;
  const y = TOP + row * TILE_HEIGHT;
  const { level } = tile;
  const middle = coordinate(x + TILE_WIDTH / 2);
  const size = html`x="${x + 2}" y="${y + 2}" width="${TILE_WIDTH - 4}" height="${TILE_HEIGHT - 4}" rx="3"`;
  const opacity = OPACITY.least + (level ?? 0) * (OPACITY.most - OPACITY.least);
  const area =
    level === null
      ? html`<rect class="failed" ${size}/>`
      : html`<rect class="heat" fill-opacity="${opacity.toFixed(2)}" ${size}/>`;
  const tone =
    level === null ? '' : (TEXT_TONES.find(({ from }) => opacity >= from)?.className ?? '');
  const lines = twoLines(tile.detail, 17);
  const top = y + (lines.length === 1 ? 26 : 20);
  const details = lines.map(
    (line, i) =>
      html`<text class="${`middle small ${tone}`.trim()}" x="${middle}" y="${top + 16 + i * 13}">${line}</text>`,
  );
  return html`<g><title>${tile.hint}</title>${area}<rect class="heat-edge" ${size}/><text class="${`middle big ${tone}`.trim()}" x="${middle}" y="${top}">${shortened(tile.main, 13)}</text>${details}</g>`;
}

/** One line, or two where it is too long, broken between words. */
function twoLines(text: string, lengthMax: number): string[] {
  if (text.length <= lengthMax) return [text];
  const space = text.lastIndexOf(' ', lengthMax);
  const first = text.slice(0, space > 0 ? space : lengthMax);
  return [first, shortened(text.slice(first.length).trim(), lengthMax)];
}

/** A text that fits; the whole of it stands in the hint and the table. */
function shortened(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1)}…`;
}
