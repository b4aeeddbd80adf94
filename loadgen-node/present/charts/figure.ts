import { scroll } from '../html/elements.ts';
import { type Html, html } from '../html/html.ts';
import { PLOT } from './plot.ts';

/** A chart on a page. */
interface FigureParts {
  readonly title: string;
  /** What the chart shows, with its main figures, for those who do not see it. */
  readonly alternative: string;
  /** Below the chart. */
  readonly caption: string;
  /** Content of the `svg` element. */
  readonly drawing: Html;
  /** Above the chart. Default: none, as of one series. */
  readonly legend?: Html | null;
  /** In units of SVG. Default: {@link PLOT}'s. */
  readonly width?: number;
  readonly height?: number;
  /** The figures of the chart as a table, to open. Default: another one on the page has them. */
  readonly table?: Html;
  /** Larger than others: it has the whole width of the page, and scrolls where that is narrow. */
  readonly isWide?: boolean;
}

/** A chart with its title, its text alternative and its data. The chart takes the focus, so that a reader of screens stops at it. */
export function renderFigure(parts: FigureParts): Html {
  const { title, alternative, legend = null, drawing, caption, table, isWide = false } = parts;
  const { width = PLOT.width, height = PLOT.height } = parts;
  const svg = html`<svg viewBox="0 0 ${width} ${height}" role="img" tabindex="0" aria-label="${`${title}. ${alternative}`}">${drawing}</svg>`;
  return html`<figure${isWide ? html` class="wide"` : null}>
<h3>${title}</h3>
${legend}${isWide ? html`<div class="roomy">${svg}</div>` : svg}
<figcaption>${caption}
${table === undefined ? null : html`<details><summary>Figures of this chart</summary>${scroll(`Figures: ${title}`, table)}</details>\n`}</figcaption>
</figure>
`;
}
