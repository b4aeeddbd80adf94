/** Well-formed, escaped HTML that can be inserted into other HTML. */
import { at } from '../../../shared/base/at.ts';
export class Html {
  readonly text: string;

  /** @internal Use {@link html} or {@link trusted}. */
  constructor(text: string) {
    this.text = text;
  }
}

/** Values of a template; `null` is empty. */
type HtmlValue = Html | string | number | null | readonly HtmlValue[];

/**
 * A template of HTML or SVG: every value is escaped unless it already is {@link Html}. So names,
 * settings and messages of a SUT or a user remain text, in elements and in quoted attributes.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = at(strings, 0);
  values.forEach((value, i) => {
    text += textOf(value) + at(strings, i + 1);
  });
  return new Html(text);
}

/**
 * Text known to be well-formed HTML, such as our own constants. Never use it for text that was
 * read.
 */
export function trusted(text: string): Html {
  return new Html(text);
}

function textOf(value: HtmlValue): string {
  if (value === null) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'string') {
    return value.replace(UNSHOWN, '\u{fffd}').replace(/[&<>"']/g, (one) => ENTITIES[one] as string);
  }
  if (typeof value === 'number') return String(value);
  return value.map(textOf).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Code points that HTML forbids, and those that reverse text direction: a name could look like
 * another.
 */
const UNSHOWN =
  /(?![\t\n])[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** A section of a page, named by its heading; `id` is its anchor. */
export function section(id: string, title: string, content: Html, className?: string): Html {
  return html`<section${className === undefined ? null : html` class="${className}"`} aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${content}</section>
`;
}

/**
 * A table of texts.
 * @param rows One cell per title.
 * @param isNumber Columns of figures, aligned right. Default: none.
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
 * A box that scrolls sideways on a narrow page, also by keyboard.
 * @param label Its name for screen readers.
 */
export function scroll(label: string, content: Html, className = 'scroll'): Html {
  return html`<div class="${className}" tabindex="0" role="group" aria-label="${label}">${content}</div>`;
}

/** A figure as a tile of the list `dl.tiles`. */
export function tile(name: string, value: string, note: Html | null = null, isBad = false): Html {
  return html`<div${isBad ? html` class="bad"` : null}><dt>${name}</dt><dd>${value}${note}</dd></div>\n`;
}

/** Notes in a box; null without notes. */
export function noteBox(notes: readonly string[]): Html | null {
  if (notes.length === 0) return null;
  return html`<aside class="notes" aria-label="Please note"><strong>Please note</strong><ul>${notes.map((note) => html`<li>${note}</li>`)}</ul></aside>
`;
}

/** Text of a judgement: green if good, red if bad. */
export function judged(isGood: boolean, good: string, bad: string): Html {
  return html`<strong class="${isGood ? 'good' : 'bad'}">${isGood ? good : bad}</strong>`;
}
