import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { percentage, rounded } from '../../../shared/base/figures/figure-text.ts';
import { formatNs } from '../../../shared/base/text/duration.ts';
import { nearest } from '../../../shared/base/text/nearest.ts';
import {
  FIGURE_NAMES,
  FIGURES,
  type FigureName,
  type FigureUnit,
} from '../figures/figure-names.ts';

/** How a figure is held against a value, by operator. */
export const HOLDS = {
  '<': (seen: number, needed: number) => seen < needed,
  '<=': (seen: number, needed: number) => seen <= needed,
  '>': (seen: number, needed: number) => seen > needed,
  '>=': (seen: number, needed: number) => seen >= needed,
  '==': (seen: number, needed: number) => seen === needed,
  '!=': (seen: number, needed: number) => seen !== needed,
} as const;

/**
 * What a figure is held against. `absolute`: a value in the figure's unit (ns, per second, count; a share is 0 to 1).
 * `relative`: a share of the figure of another run, with its sign: `+5%` is 0.05 more.
 */
export type ConditionValue =
  | { readonly kind: 'absolute'; readonly value: number }
  | { readonly kind: 'relative'; readonly share: number };

/** A condition on a figure of a run, such as `p99 < 15ms`. */
export interface Condition {
  /** As it was written, blanks around it aside. */
  readonly text: string;
  readonly figure: FigureName;
  readonly operator: keyof typeof HOLDS;
  readonly value: ConditionValue;
}

/** A condition on one run alone. */
export interface Threshold extends Condition {
  readonly value: Extract<ConditionValue, { kind: 'absolute' }>;
}

/** Name, operator, value: blanks between them may be left out. */
const CONDITION_PATTERN = /^([\p{L}_][\p{L}\d_.]*)\s*(<=|>=|==|!=|<|>)\s*(\S.*)$/u;

/** Sign, number, unit. */
const VALUE_PATTERN = /^([+-]?)\s*(\d+(?:\.\d+)?)\s*(%|\p{L}*)$/u;

const OPERATORS = '<, <=, >, >=, == and !=';

/**
 * Reads `FIGURE OPERATOR VALUE`: `p99 < 15ms`, `errors == 0`, `overlatency <= 1%`, or, where two runs are compared,
 * `p99 > +5%`: a value with a sign is relative.
 * @param where Beginning of messages: the flag, or the place in a file.
 * @throws MlperfError `ERR_CONFIG_INVALID` that says what is wrong and what would be right.
 */
export function parseCondition(text: string, where: string): Condition {
  const read = readCondition(text);
  if (typeof read !== 'string') return read;
  throw new MlperfError('ERR_CONFIG_INVALID', `${where} ${JSON.stringify(text)} ${read}`);
}

/** Like {@link parseCondition} without throwing. @returns Where something is wrong, what the text does, beginning with a verb. */
export function readCondition(text: string): Condition | string {
  const written = text.trim();
  const match = CONDITION_PATTERN.exec(written);
  if (match === null) {
    return `must be FIGURE OPERATOR VALUE, for example p99 < 15ms; operators are ${OPERATORS}`;
  }
  const [, name = '', operator = '', valueText = ''] = match;
  const figure = FIGURE_NAMES.find((known) => known === name);
  if (figure === undefined) return unknownFigure(name);
  const value = readValue(figure, valueText);
  if (typeof value === 'string') return value;
  // The pattern knows no other operators.
  return { text: written, figure, operator: operator as keyof typeof HOLDS, value };
}

/** Like {@link readCondition}, of a condition on one run alone: nothing is there that a relative value could be relative to. */
export function readThreshold(text: string): Threshold | string {
  const condition = readCondition(text);
  if (typeof condition === 'string') return condition;
  const { value } = condition;
  if (value.kind === 'absolute') return { ...condition, value };
  return (
    `has a value with a sign: that is relative to another run, and a threshold is about one run; write ` +
    `${WRITTEN[FIGURES[condition.figure].unit].example}, or compare runs with "longhaul compare --fail-if"`
  );
}

function unknownFigure(name: string): string {
  const near = nearest(name, FIGURE_NAMES);
  const hint =
    near === undefined ? `there is: ${FIGURE_NAMES.join(', ')}` : `did you mean "${near}"?`;
  return `names "${name}", and there is no such figure; ${hint}`;
}

function readValue(figure: FigureName, text: string): ConditionValue | string {
  const { unit } = FIGURES[figure];
  const match = VALUE_PATTERN.exec(text);
  if (match === null) return `compares with "${text}", which is no value; ${mustBe(figure)}`;
  const [, sign = '', number = '', unitText = ''] = match;
  if (sign !== '') {
    if (unitText === '%') {
      return { kind: 'relative', share: (Number(number) / 100) * (sign === '-' ? -1 : 1) };
    }
    return `compares with "${text}": a sign is for a relative value in percent, such as +5%`;
  }
  const value = valueIn(unit, Number(number), unitText);
  return value === undefined
    ? `compares with "${text}"; ${mustBe(figure)}`
    : { kind: 'absolute', value };
}

function mustBe(figure: FigureName): string {
  const { about, unit } = FIGURES[figure];
  const { words, example } = WRITTEN[unit];
  return `${figure} (${about}) needs ${words}, for example ${example}`;
}

/** How values of a unit are written. */
interface WrittenUnit {
  /** What a value must be, for messages. */
  readonly words: string;
  readonly example: string;
  /** What may stand behind the number → what it makes of it. */
  readonly factors: Readonly<Record<string, number>>;
  readonly format: (value: number) => string;
}

const WRITTEN: Readonly<Record<FigureUnit, WrittenUnit>> = {
  ns: {
    words: 'a length of time (ns, us, ms or s)',
    example: '15ms',
    // Both letters that look like a micro sign.
    factors: { ns: 1, us: 1e3, '\u00b5s': 1e3, '\u03bcs': 1e3, ms: 1e6, s: 1e9 },
    format: formatNs,
  },
  '1/s': {
    words: 'a number per second, without a unit',
    example: '100',
    factors: { '': 1 },
    format: (value) => `${rounded(value, 6)} per second`,
  },
  count: {
    words: 'a number, without a unit',
    example: '0',
    factors: { '': 1 },
    format: String,
  },
  share: {
    words: 'a percentage',
    example: '1%',
    factors: { '%': 0.01 },
    format: (value) => percentage(value, 4),
  },
};

/** A number with what stands behind it, in the figure's unit; undefined where that does not fit. */
function valueIn(unit: FigureUnit, number: number, unitText: string): number | undefined {
  const { factors } = WRITTEN[unit];
  const factor = Object.hasOwn(factors, unitText) ? factors[unitText] : undefined;
  // 0.3 ms are 300,000 ns, not a binary fraction beside it.
  return factor === undefined ? undefined : Number((number * factor).toPrecision(15));
}

/** A figure's value for people. */
export function formatFigure(unit: FigureUnit, value: number): string {
  return WRITTEN[unit].format(value);
}
