/** A JSON object of a tree. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True for the text that the official tools take for a yes; the JSON value true breaks them. */
export function isTrue(value: unknown): boolean {
  return typeof value === 'string' && value.toLowerCase() === 'true';
}

/** Text of a value that may be of any type. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A count in a description; undefined where it is none. */
export function countOf(value: unknown): number | undefined {
  const text = typeof value === 'number' ? String(value) : textOf(value).trim();
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** A text of at most so many characters that ends with a whole word, and `...` where something was left out. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, max - 3);
  const end = cut.search(/\s\S*$/);
  return `${end > 0 ? cut.slice(0, end) : cut}...`;
}
