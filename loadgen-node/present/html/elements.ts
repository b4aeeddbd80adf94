import { type Html, html } from './html.ts';

/** A section of a page, named by its heading; `id` is its anchor. */
export function section(id: string, title: string, content: Html, className?: string): Html {
  return html`<section${className === undefined ? null : html` class="${className}"`} aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${content}</section>
`;
}

/**
 * A table of texts.
 * @param rows A cell per title.
 * @param isNumber Columns of figures, which stand to the right. Default: none.
 */
export function htmlTable(
  titles: readonly string[],
  rows: readonly (readonly (Html | string)[])[],
  isNumber: (column: number) => boolean = () => false,
): Html {
  const classOf = (column: number): Html | null => (isNumber(column) ? html` class="n"` : null);
  const head = titles.map((title, i) => html`<th scope="col"${classOf(i)}>${title}</th>`);
  const body = rows.map(
    (row) => html`<tr>${row.map((cell, i) => html`<td${classOf(i)}>${cell}</td>`)}</tr>\n`,
  );
  return html`<table><thead><tr>${head}</tr></thead>\n<tbody>${body}</tbody></table>`;
}

/**
 * A box that scrolls sideways where the page is narrow, by keyboard as well.
 * @param label Its name for readers of screens.
 */
export function scroll(label: string, content: Html, className = 'scroll'): Html {
  return html`<div class="${className}" tabindex="0" role="group" aria-label="${label}">${content}</div>`;
}

/** A figure as a tile of a list `dl.tiles`. */
export function tile(name: string, value: string, note: Html | null = null, isBad = false): Html {
  return html`<div${isBad ? html` class="bad"` : null}><dt>${name}</dt><dd>${value}${note}</dd></div>\n`;
}

/** What a reader has to know, in a box; nothing without notes. */
export function noteBox(notes: readonly string[]): Html | null {
  if (notes.length === 0) return null;
  return html`<aside class="notes" aria-label="Please note"><strong>Please note</strong><ul>${notes.map((note) => html`<li>${note}</li>`)}</ul></aside>
`;
}

/** `met` in green, or what it is instead in red. */
export function judged(isGood: boolean, good: string, bad: string): Html {
  return html`<strong class="${isGood ? 'good' : 'bad'}">${isGood ? good : bad}</strong>`;
}
