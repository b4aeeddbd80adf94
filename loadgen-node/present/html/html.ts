/** A piece of an HTML document that is safe to put into another one. */
export class Html {
  readonly text: string;

  /** @internal Only {@link html} and {@link trusted} make one. */
  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template; `null` is nothing. */
export type HtmlValue = Html | string | number | null | readonly HtmlValue[];

/**
 * A template of HTML or SVG: every value is escaped, but what is {@link Html} already. So no name, setting or message
 * of a SUT or a user can be anything but text, in an element as well as in a quoted attribute.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = strings[0] as string;
  values.forEach((value, i) => {
    text += textOf(value) + (strings[i + 1] as string);
  });
  return new Html(text);
}

/** Text that is known to be well-formed HTML, such as a constant of our own. Never something that was read. */
export function trusted(text: string): Html {
  return new Html(text);
}

function textOf(value: HtmlValue): string {
  if (value === null) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'string') return escapeHtml(value);
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

/** Code points that HTML does not allow, and those that turn the direction of text around: a name could look like another. */
const UNSHOWN = /(?![\t\n])[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\u202a-\u202e\u2066-\u2069]/gu;

/** Text as HTML shows it, in elements and quoted attributes; what cannot be shown is U+FFFD. */
function escapeHtml(text: string): string {
  return text
    .replace(UNSHOWN, '\u{fffd}')
    .replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
