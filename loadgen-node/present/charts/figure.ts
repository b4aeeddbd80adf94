import { type Html, html } from '../html/html.ts';

/** A chart on a page. */
export interface FigureParts {
  readonly title: string;
  /** What the chart shows, with its main figures, for those who do not see it. */
  readonly alternative: string;
  /** Above the chart; null: one series needs none. */
  readonly legend: Html | null;
  /** Content of the `svg` element. */
  readonly drawing: Html;
  readonly width: number;
  readonly height: number;
  /** Below the chart. */
  readonly caption: string;
  /** The figures of the chart as a table, to open; null where another one on the page has them. */
  readonly table: Html | null;
  /** Larger than others: it has the whole width of the page, and scrolls where that is narrow. */
  readonly isWide: boolean;
}

/** A chart with its title, its text alternative and its data. The chart takes the focus, so that a reader of screens stops at it. */
export function renderFigure(parts: FigureParts): Html {
  const { title, alternative, legend, drawing, width, height, caption, table, isWide } = parts;
  const svg = html`<svg viewBox="0 0 ${width} ${height}" role="img" tabindex="0" aria-label="${`${title}. ${alternative}`}">${drawing}</svg>`;
  return html`<figure${isWide ? html` class="wide"` : null}>
<h3>${title}</h3>
${legend}${isWide ? html`<div class="roomy">${svg}</div>` : svg}
<figcaption>${caption}
${table === null ? null : html`<details><summary>Figures of this chart</summary><div class="scroll" tabindex="0" role="group" aria-label="${`Figures: ${title}`}">${table}</div></details>\n`}</figcaption>
</figure>
`;
}

/** A column of a table. */
export interface Column {
  readonly title: string;
  /** Figures stand to the right. */
  readonly isNumber: boolean;
}

/** A table of texts; rows have a cell per column. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly (Html | string)[])[],
): Html {
  const head = columns.map(
    ({ title, isNumber }) =>
      html`<th scope="col"${isNumber ? html` class="n"` : null}>${title}</th>`,
  );
  const body = rows.map(
    (row) =>
      html`<tr>${row.map((cell, i) => html`<td${columns[i]?.isNumber === true ? html` class="n"` : null}>${cell}</td>`)}</tr>\n`,
  );
  return html`<table><thead><tr>${head}</tr></thead>\n<tbody>${body}</tbody></table>`;
}
