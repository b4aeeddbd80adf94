import { at } from './at.ts';

const BYTE_ORDER_MARK = '\ufeff';

/** True for a text of a file that an editor has marked as UTF-8. */
export function hasByteOrderMark(text: string): boolean {
  return text.startsWith(BYTE_ORDER_MARK);
}

/** A file's text without the mark that some editors put before UTF-8. */
export function withoutByteOrderMark(text: string): string {
  return hasByteOrderMark(text) ? text.slice(BYTE_ORDER_MARK.length) : text;
}

/** A number with so many significant digits at most: `0.333`, `1200`. */
export function rounded(value: number, digits: number): string {
  return String(Number(value.toPrecision(digits)));
}

/** A share from 0 to 1 as a percentage: `0.12 %`. @param digits Significant ones, at most. */
export function percentage(share: number, digits: number = 3): string {
  return `${rounded(share * 100, digits)} %`;
}

/** A number with its digits in groups of three: `24,576`. */
export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}

/** The middle value, of an even number of values the upper of the two; undefined of none. */
export function upperMedian(values: Iterable<number>): number | undefined {
  const sorted = Float64Array.from(values).sort();
  return sorted[sorted.length >> 1];
}

/** `1 error`, `2 errors`, `1,200 queries`. @param what In the singular. @param plural Default: with an "s". */
export function counted(count: number, what: string, plural: string = `${what}s`): string {
  return `${grouped(count)} ${count === 1 ? what : plural}`;
}

/** The first of some names: `a, b and 3 more`. @param most Names that are shown. */
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
 * A length of time with every digit, in the unit that {@link formatNs} takes: `584.716818 ms`. Where a bound is missed by little,
 * three figures hide it.
 */
export function formatExactNs(ns: number): string {
  if (!Number.isFinite(ns)) return '-';
  if (ns < 1e3) return `${ns} ns`;
  if (ns < 1e6) return `${ns / 1e3} µs`;
  if (ns < 1e9) return `${ns / 1e6} ms`;
  return `${ns / 1e9} s`;
}

/** A length of time beside another that it is held against: every digit only where three figures hide which is larger. */
export function formatBeside(ns: number, otherNs: number): string {
  const text = formatNs(ns);
  return text === formatNs(otherNs) ? formatExactNs(ns) : text;
}

/** A length of time for people, three significant figures: `12.3 ms`; a dash for what is none: not finite, or below 0. */
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

/** The candidate that differs from `word` by at most two edits, case aside. */
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
 * Characters that steer a terminal (C0, DEL, C1), or make a text look like another one: marks of direction, and the line ends of Unicode.
 * Source: Unicode, UAX #9.
 */
const STEERING = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Lines that may hold text of another machine or of a file, without characters that steer a terminal. Line ends and tabs stay. */
export function asPlainText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(STEERING, (one) => (one === '\n' || one === '\t' ? one : '\ufffd'));
}

/** As {@link asPlainText}, for a text that has to stay on its line. */
export function asOneLine(text: string): string {
  return text.replaceAll(STEERING, '\ufffd');
}

/** Characters of another machine's words that a message of ours repeats. */
const SAID_LENGTH_MAX = 500;

/** First line of what another machine says, cut where it is long: it stands inside a message of ours. */
export function asSaid(text: string): string {
  const [line = ''] = text.split('\n', 1);
  const left = line.length - SAID_LENGTH_MAX;
  return left > 0
    ? `${line.slice(0, SAID_LENGTH_MAX)}... (${grouped(left)} characters more)`
    : line;
}

/** A field of CSV (RFC 4180), on one line; of null and undefined it is empty. */
export function csvField(value: string | number | boolean | null | undefined): string {
  const text = asOneLine(String(value ?? ''));
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** JSON of a value in which characters that steer a terminal are escaped, also those that JSON allows. */
export function jsonText(value: unknown, indent?: number): string {
  return escapedJson(JSON.stringify(value, null, indent));
}

/** As {@link jsonText}, of JSON that is made already. */
export function escapedJson(json: string): string {
  return json.replaceAll(STEERING, (one) =>
    one === '\n' ? one : `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The sentences of a text, a line each, for output that is not wrapped. */
export function sentencesOf(text: string): string[] {
  return text.split(/(?<=\.) (?=["\p{Lu}])/u);
}

/**
 * Rows of cells as lines of a table for a terminal, without blanks at their ends.
 * @param gap Between two columns.
 * @param isRight Columns whose cells stand to the right: all but the first, unless it is told otherwise.
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

/** Columns of a wrapped text. */
const WRAP_COLUMNS = 100;

/** Breaks a text at blanks, 100 columns wide; the first line begins with `first`, all others with `indent` blanks. */
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
