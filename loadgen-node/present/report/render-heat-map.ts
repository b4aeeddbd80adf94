import { renderFigure, renderTable } from '../charts/figure.ts';
import { drawHeatMap, type HeatMapTile } from '../charts/heat-map.ts';
import { html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { formatNumber } from '../text/number.ts';

/** A cell: what was found, with the interval that holds the limit and a word more; or a word for what there is in its place, and why. */
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
  /** What the rows and the columns are: `delay`, `rate, loss`. */
  readonly rowLabel: string;
  readonly columnLabel: string;
  /** With their units: `5 ms`. */
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  /** By row, then by column. */
  readonly cells: readonly (readonly HeatMapCell[])[];
  /** Unit of the values: `queries/s`. */
  readonly unit: string;
  /** What a reader has to know; on top of the page. */
  readonly notes: readonly string[];
}

/**
 * A heat map as an HTML page of its own: values, their intervals, and their share of the first cell, the one with the best
 * link. Cells without a value say why, in the map and in the table below it.
 */
export function renderHeatMap(input: HeatMapInput): string {
  const tiles = tilesOf(input);
  const { content, width, height } = drawHeatMap({ ...input, tiles });
  const empty = input.cells.flat().filter((cell) => 'word' in cell).length;
  const cellCount = input.rows.length * input.columns.length;
  const body = html`<p class="kicker">longhaul sweep</p>
<h1>${input.title}</h1>
${input.notes.length === 0 ? null : html`<aside class="notes" aria-label="Notes"><ul>${input.notes.map((note) => html`<li>${note}</li>`)}</ul></aside>`}
${renderFigure({
  title: `${input.unit} by ${input.rowLabel} and ${input.columnLabel}`,
  alternative: `Heat map of ${cellCount} cells, ${empty} of them without a value. The table below has all figures.`,
  legend: null,
  drawing: content,
  width,
  height,
  caption: `Large: ${input.unit}. ${shareCaption(input)}The stronger the colour, the larger the value, from 0 to the largest.`,
  table: null,
  isWide: true,
})}
<h2>Figures</h2>
<div class="scroll cells" tabindex="0" role="group" aria-label="Figures of all cells">${cellTable(input)}</div>`;
  return renderPage({ title: input.title, body, footer: 'Made by longhaul sweep.' });
}

function tilesOf(input: HeatMapInput): HeatMapTile[][] {
  const values = input.cells.flat().map((cell) => ('word' in cell ? 0 : cell.value));
  const largest = values.reduce((a, b) => Math.max(a, b), 0);
  return input.cells.map((row, i) =>
    row.map((cell, j) => {
      const place = `${input.rowLabel} ${input.rows[i]}, ${input.columnLabel} ${input.columns[j]}`;
      if ('word' in cell) {
        const { word, why } = cell;
        const hint = `${place}: ${word}${why === '' ? '' : `: ${why}`}`;
        return { level: null, main: word, detail: why, hint };
      }
      return {
        level: largest === 0 ? 0 : Math.max(cell.value, 0) / largest,
        main: formatNumber(cell.value),
        detail: [intervalOf(cell), shareOfFirst(input, cell.value)]
          .filter((text) => text !== '')
          .join(', '),
        hint: [
          `${place}: ${formatNumber(cell.value)} ${input.unit}`,
          intervalOf(cell),
          cell.text ?? '',
        ]
          .filter((text) => text !== '')
          .join(', '),
      };
    }),
  );
}

/** No share is shown where the first cell has no value. */
function shareCaption(input: HeatMapInput): string {
  if (shareOfFirst(input, 1) === '') return 'Small: where the limit lies. ';
  return `Small: where the limit lies, and the share of the first cell (${input.rows[0] ?? '-'}, ${input.columns[0] ?? '-'}). `;
}

/** Share of the first cell, or nothing where that one has no value. */
function shareOfFirst({ cells }: HeatMapInput, value: number): string {
  const first = cells[0]?.[0];
  if (first === undefined || 'word' in first || first.value === 0) return '';
  return `${formatNumber((value / first.value) * 100)} %`;
}

function intervalOf(cell: { readonly interval?: readonly [number, number] }): string {
  if (cell.interval === undefined) return '';
  return `${formatNumber(cell.interval[0])} to ${formatNumber(cell.interval[1])}`;
}

function cellTable(input: HeatMapInput): ReturnType<typeof renderTable> {
  const rows = input.cells.flatMap((row, i) =>
    row.map((cell, j) => {
      const place = [input.rows[i] as string, input.columns[j] as string];
      if ('word' in cell) return [...place, cell.word, '', '', cell.why];
      const { value, text } = cell;
      const share = shareOfFirst(input, value);
      return [...place, formatNumber(value), intervalOf(cell), share, text ?? ''];
    }),
  );
  return renderTable(
    [
      { title: input.rowLabel, isNumber: false },
      { title: input.columnLabel, isNumber: false },
      { title: input.unit, isNumber: true },
      { title: 'limit within', isNumber: true },
      { title: 'of the first cell', isNumber: true },
      { title: '', isNumber: false },
    ],
    rows,
  );
}
