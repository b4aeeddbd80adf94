import { at } from './at.ts';

const BYTE_ORDER_MARK = '\ufeff';

/** True if a text begins with UTF-8's byte order mark. */
export function hasByteOrderMark(text: string): boolean {
  return text.startsWith(BYTE_ORDER_MARK);
}

/** A text without its byte order mark. */
export function withoutByteOrderMark(text: string): string {
  return hasByteOrderMark(text) ? text.slice(BYTE_ORDER_MARK.length) : text;
}

/** A number with at most `digits` significant digits: `0.333`, `1200`. */
export function rounded(value: number, digits: number): string {
  return String(Number(value.toPrecision(digits)));
}

/** A share from 0 to 1 as a percentage: `0.12 %`. @param digits Most significant digits. */
export function percentage(share: number, digits: number = 3): string {
  return `${rounded(share * 100, digits)} %`;
}

/** A number with its digits in groups of three: `24,576`. */
export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}

/** The median; of an even number of values the upper one; undefined for no values. */
export function upperMedian(values: Iterable<number>): number | undefined {
  const sorted = Float64Array.from(values).sort();
  return sorted[sorted.length >> 1];
}

/**
 * `1 error`, `2 errors`, `1,200 queries`. @param what In the singular. @param plural Default: with
 * an "s".
 */
export function counted(count: number, what: string, plural: string = `${what}s`): string {
  return `${grouped(count)} ${count === 1 ? what : plural}`;
}

/** The first of some names: `a, b and 3 more`. @param most Names shown. */
export function firstOf(names: readonly string[], most: number): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const UNIT_NS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  min: 60e9,
  h: 3600e9,
};

/** A number and a unit, no blank between: `10s`, `1.5ms`, `250us`, `2m`. */
export const DURATION_PATTERN: RegExp = /^(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|min|h)$/;

/** Length of time in whole ns, or undefined when the text is not a duration. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION_PATTERN.exec(text.trim());
  const unitNs = UNIT_NS[match?.[2] ?? ''];
  if (match === null || unitNs === undefined) return undefined;
  return Math.round(Number(match[1]) * unitNs);
}

/**
 * A duration with every digit, in the unit of {@link formatNs}: `584.716818 ms`. For a bound missed
 * by little, three digits are too few.
 */
export function formatExactNs(ns: number): string {
  if (!Number.isFinite(ns)) return '-';
  if (ns < 1e3) return `${ns} ns`;
  if (ns < 1e6) return `${ns / 1e3} µs`;
  if (ns < 1e9) return `${ns / 1e6} ms`;
  return `${ns / 1e9} s`;
}

/** A duration compared with another: every digit only if three would hide which is larger. */
export function formatBeside(ns: number, otherNs: number): string {
  const text = formatNs(ns);
  return text === formatNs(otherNs) ? formatExactNs(ns) : text;
}

/**
 * A duration for people, three significant digits: `12.3 ms`; a dash if it is not finite or below
 * 0.
 */
export function formatNs(ns: number): string {
  if (!Number.isFinite(ns) || ns < 0) return '-';
  if (ns < 1e3) return `${Math.round(ns)} ns`;
  if (ns < 1e6) return `${rounded(ns / 1e3, 3)} µs`;
  if (ns < 1e9) return `${rounded(ns / 1e6, 3)} ms`;
  return `${rounded(ns / 1e9, 3)} s`;
}

/** `host:port` for people and clients; an IPv6 address stands in brackets. */
export function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The candidate within two edits of `word`, ignoring case. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = 3;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Hint about an unknown word: the candidate that is meant, or else all of them. */
export function meantHint(
  word: string,
  candidates: readonly string[],
  meant: string | undefined = nearest(word, candidates),
): string {
  return meant === undefined ? `there is: ${candidates.join(', ')}` : `did you mean "${meant}"?`;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const swap = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, at(row, j) + 1, at(next, j - 1) + 1));
    }
    row = next;
  }
  return at(row, b.length);
}

/**
 * Characters that control a terminal (C0, DEL, C1) or disguise a text: direction marks, and
 * Unicode's line ends. Source: Unicode, UAX #9.
 */
const STEERING = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Foreign text without characters that control a terminal. Line ends and tabs stay. */
export function asPlainText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(STEERING, (one) => (one === '\n' || one === '\t' ? one : '\ufffd'));
}

/** {@link asPlainText} on one line. */
export function asOneLine(text: string): string {
  return text.replaceAll(STEERING, '\ufffd');
}

/** Characters of another machine's text that our messages repeat. */
const SAID_LENGTH_MAX = 500;

/** First line of another machine's text, shortened, for use in a message of ours. */
export function asSaid(text: string): string {
  const [line = ''] = text.split('\n', 1);
  const left = line.length - SAID_LENGTH_MAX;
  return left > 0
    ? `${line.slice(0, SAID_LENGTH_MAX)}... (${grouped(left)} characters more)`
    : line;
}

/** A field of CSV (RFC 4180), on one line; empty for null and undefined. */
export function csvField(value: string | number | boolean | null | undefined): string {
  const text = asOneLine(String(value ?? ''));
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** JSON of a value; also escapes the characters that control a terminal, which JSON allows. */
export function jsonText(value: unknown, indent?: number): string {
  return escapedJson(JSON.stringify(value, null, indent));
}

/** {@link jsonText} for finished JSON. */
export function escapedJson(json: string): string {
  return json.replaceAll(STEERING, (one) =>
    one === '\n' ? one : `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The sentences of a text, one per line, for output that is not wrapped. */
export function sentencesOf(text: string): string[] {
  return text.split(/(?<=\.) (?=["\p{Lu}])/u);
}

/**
 * Rows of cells as the lines of a table for a terminal, without trailing blanks.
 * @param gap Blanks between two columns.
 * @param isRight True for right-aligned columns; default: all but the first.
 */
export function tableLines(
  rows: readonly (readonly string[])[],
  gap = '   ',
  isRight = (column: number): boolean => column > 0,
): string[] {
  const widthOf = (column: number): number =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const widths = (rows[0] ?? []).map((_, column) => widthOf(column));
  return rows.map((row) =>
    widths
      .map((width, i) =>
        isRight(i) ? (row[i] ?? '').padStart(width) : (row[i] ?? '').padEnd(width),
      )
      .join(gap)
      .trimEnd(),
  );
}

/** Width of wrapped text, columns. */
const WRAP_COLUMNS = 100;

/**
 * Breaks a text at blanks, 100 columns wide; the first line begins with `first`, all others with
 * `indent` blanks.
 */
export function wrapped(text: string, indent: number, first = ''): string[] {
  const lines: string[] = [];
  let line = first.padEnd(indent);
  let isEmpty = true;
  for (const word of text.split(' ')) {
    if (!isEmpty && line.length + 1 + word.length > WRAP_COLUMNS) {
      lines.push(line);
      line = ' '.repeat(indent);
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}
