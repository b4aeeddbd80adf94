import { z } from 'zod';
import type { Setting } from '../../../shared/config/setting.ts';

/** Most loads of one curve. */
const LOADS_MAX = 64;
/** Number of points of a range without an explicit number. */
const RANGE_POINTS = 8;

/** Kind of loads, and its limits. */
interface LoadKind {
  readonly max: number;
  /**
   * True: whole numbers, doubled in a range; false: rates, evenly spaced on a logarithmic scale.
   */
  readonly isWhole: boolean;
}

const NUMBER = /^(?:\d+(?:\.\d+)?|\.\d+)$/;

/** Parses `10,20,50`, `10..500` or `10..500/8`. @returns Ascending loads, or an error text. */
export function parseLoads(text: string, kind: LoadKind): number[] | string {
  const [fromText, toText, ...rest] = text.split('..');
  if (rest.length > 0) return wrongForm(kind);
  const loads =
    toText === undefined
      ? text.split(',').map((one) => loadOf(one, kind))
      : range((fromText ?? '').trim(), toText.trim(), kind);
  if (typeof loads === 'string') return loads;
  const wrong = loads.find((load) => typeof load === 'string');
  if (wrong !== undefined) return wrong as string;
  const rising = [...new Set(loads as number[])].sort((a, b) => a - b);
  return rising.length > LOADS_MAX ? `at most ${LOADS_MAX} loads, not ${rising.length}` : rising;
}

function range(fromText: string, behind: string, kind: LoadKind): (number | string)[] | string {
  const [toText = '', countText, ...more] = behind.split('/');
  const [from, to] = [loadOf(fromText, kind), loadOf(toText, kind)];
  if (typeof from === 'string') return from;
  if (typeof to === 'string') return to;
  if (to <= from) return `a range rises: ${fromText}..${toText} does not`;
  if (more.length > 0) return wrongForm(kind);
  if (countText === undefined && kind.isWhole) return doubling(from, to);
  const count = countText === undefined ? RANGE_POINTS : Number(countText);
  if (!Number.isInteger(count) || count < 2 || count > LOADS_MAX) {
    return `behind the / stands how many loads, 2 to ${LOADS_MAX}, not "${countText}"`;
  }
  return Array.from({ length: count }, (_, i) => {
    const load = from * (to / from) ** (i / (count - 1));
    return kind.isWhole ? Math.round(load) : Number(load.toPrecision(3));
  });
}

function doubling(from: number, to: number): number[] {
  const loads: number[] = [];
  for (let load = from; load < to; load *= 2) loads.push(load);
  return [...loads, to];
}

function loadOf(text: string, { isWhole, max }: LoadKind): number | string {
  const load = Number(text);
  const isRight = NUMBER.test(text.trim()) && load > 0 && load <= max;
  if (isRight && (!isWhole || Number.isInteger(load))) return load;
  const what = isWhole ? `a whole number from 1 to ${max}` : `a number above 0, ${max} at most`;
  return `"${text.trim()}" must be ${what}; ${wrongForm({ isWhole, max })}`;
}

function wrongForm({ isWhole }: LoadKind): string {
  return isWhole
    ? 'give a list or a range, for example 1,2,4,8 or 1..64 or 1..64/10'
    : 'give a list or a range, for example 10,20,50,100 or 10..500/8';
}

/** A setting of loads: a text, a number or a list of numbers in a file. */
export function loadList(kind: LoadKind, help: string): Setting<number[] | undefined> {
  const schema = z
    .union([z.string(), z.number(), z.array(z.number())], wrongForm(kind))
    .transform((given, context) => {
      const loads = parseLoads(Array.isArray(given) ? given.join(',') : String(given), kind);
      if (typeof loads !== 'string') return loads;
      context.addIssue({ code: 'custom', message: loads });
      return z.NEVER;
    })
    .optional();
  return {
    help,
    placeholder: kind.isWhole ? '1,2,4|1..64' : '10,20|10..500/8',
    schema,
    fromFlag: (text) => text,
    isList: true,
    fallback: undefined,
    isRequired: false,
  };
}
