import { SUITES, type Suite } from '../../rules/submission-rounds.ts';
import { TODO_MARK } from '../../tree/system-fields.ts';

/** A JSON object of a tree. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True for the text that the official tools take for a yes; the JSON value true breaks them. */
export function isTrue(value: unknown): boolean {
  return typeof value === 'string' && value.toLowerCase() === 'true';
}

/** True for a text of blanks only, and the empty one. */
export function isBlank(value: unknown): value is string {
  return typeof value === 'string' && value.trim() === '';
}

/** True for a value that the submitter has to fill in yet. */
export function isToFillIn(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(TODO_MARK);
}

/** Text of a value that may be of any type. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/**
 * A text of a description; undefined where it is empty or still to be filled in, which has rules of
 * its own.
 */
export function stated(description: JsonObject, key: string): string | undefined {
  const value = description[key];
  return typeof value === 'string' && value !== '' && !isToFillIn(value) ? value : undefined;
}

/** A count in a description; undefined where it is none. */
export function countOf(value: unknown): number | undefined {
  const text = typeof value === 'number' ? String(value) : textOf(value).trim();
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/**
 * A text of at most so many characters that ends with a whole word, and `...` where something was
 * left out.
 */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, max - 3);
  const end = cut.search(/\s\S*$/);
  return `${end > 0 ? cut.slice(0, end) : cut}...`;
}

/** Values of system_type, and the suites that they mean. */
const SYSTEM_TYPES = new Map<string, readonly Suite[]>([
  ['datacenter', ['datacenter']],
  ['edge', ['edge']],
  ['datacenter,edge', SUITES],
  ['edge,datacenter', SUITES],
]);

/** Undefined for a text that is no system type. */
export function suitesOfType(type: string): readonly Suite[] | undefined {
  return SYSTEM_TYPES.get(type);
}

/** Suites of a system; those of the datacenter where the description does not say. */
export function suitesOf(description: JsonObject | undefined): readonly Suite[] {
  return suitesOfType(textOf(description?.['system_type'])) ?? ['datacenter'];
}
