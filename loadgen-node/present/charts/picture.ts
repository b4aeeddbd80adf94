import { type Html, html, trusted } from '../html/html.ts';
import { pictureStyle } from '../html/page.ts';
import { type LegendEntry, PLOT, signShape, textWidth } from './plot.ts';

const MARGIN = 10;
const HEAD = 22;
const ROW = 18;
const SIGN_WIDTH = 30;

/** A chart for use in a document. */
interface PictureParts {
  readonly title: string;
  /** Lines of text below the title. */
  readonly lines: readonly string[];
  readonly legend: readonly LegendEntry[];
  /** Drawn in {@link PLOT}'s width and height. */
  readonly drawing: Html;
}

/** A chart as a standalone SVG document, with title and legend, on white. */
export function renderPicture({ title, lines, legend, drawing }: PictureParts): string {
  const rows = legendRows(legend);
  const legendTop = HEAD + 8 + lines.length * ROW;
  const top = legendTop + rows.length * ROW;
  const width = PLOT.width + 2 * MARGIN;
  const height = top + PLOT.height + MARGIN;
  const texts = lines.map(
    (line, i) => html`<text class="axis" x="0" y="${HEAD + (i + 1) * ROW}">${line}</text>`,
  );
  const signs = rows.map((row, i) =>
    row.map(
      ({ x, name, className, form }) =>
        html`<g transform="translate(${x} ${legendTop + i * ROW})">${signShape(className, form)}<text x="${SIGN_WIDTH}" y="10">${name}</text></g>`,
    ),
  );
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, sans-serif">
<title>${title}</title>
<style>${trusted(pictureStyle())}</style>
<rect width="${width}" height="${height}" fill="#ffffff"/>
<g transform="translate(${MARGIN} 0)"><text class="big" x="0" y="${HEAD}">${title}</text>${texts}${signs}
<g transform="translate(0 ${top})">${drawing}</g></g>
</svg>
`.text;
}

/** Legend entries from left to right, in as many rows as needed. */
function legendRows(legend: PictureParts['legend']) {
  const rows: (LegendEntry & { readonly x: number })[][] = [];
  let x: number = PLOT.width;
  for (const entry of legend) {
    const length = SIGN_WIDTH + textWidth(entry.name) + 12;
    if (x + length > PLOT.width) {
      rows.push([]);
      x = 0;
    }
    rows.at(-1)?.push({ ...entry, x });
    x += length;
  }
  return rows;
}
