import { z } from 'zod';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { formatNs, nearest, percentage, rounded } from '../../../shared/base/text.ts';
import type { Setting } from '../../../shared/config/setting.ts';
import type { TestSettings } from '../../loadgen/settings/test-settings.ts';
import {
  FIGURE_NAMES,
  FIGURES,
  type FigureName,
  type FigureUnit,
  type RunFigures,
} from './figure-names.ts';

/** Comparison of a figure with a value, by operator. */
export const HOLDS = {
  '<': (seen: number, needed: number) => seen < needed,
  '<=': (seen: number, needed: number) => seen <= needed,
  '>': (seen: number, needed: number) => seen > needed,
  '>=': (seen: number, needed: number) => seen >= needed,
  '==': (seen: number, needed: number) => seen === needed,
  '!=': (seen: number, needed: number) => seen !== needed,
} as const;

/**
 * Value of a condition. `absolute`: in the figure's unit (ns, per second, count; a share is 0 to
 * 1). `relative`: a signed share of another run's figure: `+5%` means 0.05 more.
 */
type ConditionValue =
  | { readonly kind: 'absolute'; readonly value: number }
  | { readonly kind: 'relative'; readonly share: number };

/** A condition on a figure of a run, such as `p99 < 15ms`. */
export interface Condition {
  /** The original text, trimmed. */
  readonly text: string;
  readonly figure: FigureName;
  readonly operator: keyof typeof HOLDS;
  readonly value: ConditionValue;
}

/** A condition on one run alone. */
export interface Threshold extends Condition {
  readonly value: Extract<ConditionValue, { kind: 'absolute' }>;
}

/** Name, operator, value; blanks between them are optional. */
const CONDITION_PATTERN = /^([\p{L}_][\p{L}\d_.]*)\s*(<=|>=|==|!=|<|>)\s*(\S.*)$/u;

/** Sign, number, unit. */
const VALUE_PATTERN = /^([+-]?)\s*(\d+(?:\.\d+)?)\s*(%|\p{L}*)$/u;

const OPERATORS = '<, <=, >, >=, == and !=';

/**
 * Parses `FIGURE OPERATOR VALUE`: `p99 < 15ms`, `errors == 0`, `overlatency <= 1%`, or, to compare
 * two runs, `p99 > +5%`: a value with a sign is relative.
 * @param where Start of messages: the flag, or the place in a file.
 * @throws MlperfError `ERR_CONFIG_INVALID` with the problem and the correct form.
 */
export function parseCondition(text: string, where: string): Condition {
  const read = readCondition(text);
  if (typeof read !== 'string') return read;
  throw configInvalid(`${where} ${JSON.stringify(text)} ${read}`);
}

/**
 * Like {@link parseCondition} without throwing.
 * @returns The condition, or the problem as a phrase that begins with a verb.
 */
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
  // The pattern has no other operators.
  return { text: written, figure, operator: operator as keyof typeof HOLDS, value };
}

/**
 * {@link readCondition} for a condition on one run alone: refuses relative values, since there is
 * no base.
 */
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
  return `names an unknown figure "${name}"; ${hint}`;
}

function readValue(figure: FigureName, text: string): ConditionValue | string {
  const { unit } = FIGURES[figure];
  const match = VALUE_PATTERN.exec(text);
  if (match === null) return `compares with "${text}", which is not a value; ${mustBe(figure)}`;
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

/**
 * Written forms of each unit's values; `factors` belong to the letters allowed after the number.
 */
const WRITTEN = {
  ns: {
    words: 'a length of time (ns, us, ms or s)',
    example: '15ms',
    // Both characters that look like a micro sign.
    factors: { ns: 1, us: 1e3, '\u00b5s': 1e3, '\u03bcs': 1e3, ms: 1e6, s: 1e9 },
    format: formatNs,
  },
  '1/s': {
    words: 'a number per second, without a unit',
    example: '100',
    factors: { '': 1 },
    format: (value: number) => `${rounded(value, 6)} per second`,
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
    format: (value: number) => percentage(value, 4),
  },
} as const satisfies Readonly<Record<FigureUnit, object>>;

/**
 * A number and its unit text, converted to the figure's unit; undefined if the unit text does not
 * fit.
 */
function valueIn(unit: FigureUnit, number: number, unitText: string): number | undefined {
  const factors: Readonly<Record<string, number>> = WRITTEN[unit].factors;
  const factor = Object.hasOwn(factors, unitText) ? factors[unitText] : undefined;
  // 0.3 ms is exactly 300,000 ns, without binary rounding.
  return factor === undefined ? undefined : Number((number * factor).toPrecision(15));
}

/** Result of a threshold. Values are ns, per second, counts, or shares from 0 to 1. */
export const THRESHOLD_RESULT = z.strictObject({
  text: z.string().describe('as it was written'),
  figure: z.string(),
  isMet: z.boolean(),
  needed: z.number().describe('in the unit of the figure'),
  seen: z.number().nullable().describe('null: the run lacks this figure'),
  // Text of `seen`, or why there is none.
  seenText: z.string(),
});

export type ThresholdResult = Readonly<z.infer<typeof THRESHOLD_RESULT>>;

/**
 * Compares thresholds with the figures of a run. A threshold on a missing figure fails, so that it
 * is not overlooked.
 */
export function judgeThresholds(
  thresholds: readonly Threshold[],
  figures: RunFigures,
): ThresholdResult[] {
  return thresholds.map(({ text, figure, operator, value }) => {
    const seen = figures[figure];
    const needed = value.value;
    if (seen === undefined || Number.isNaN(seen)) {
      const seenText = 'missing: the run lacks this figure';
      return { text, figure, isMet: false, needed, seen: null, seenText };
    }
    const seenText = WRITTEN[FIGURES[figure].unit].format(seen);
    return { text, figure, isMet: HOLDS[operator](seen, needed), needed, seen, seenText };
  });
}

/** Thresholds of a run: a list in a file, repeated flags on the command line. */
export function thresholdList(help: string): Setting<Threshold[] | undefined> {
  const one = z.string('must be a condition, for example p99 < 15ms').transform((text, context) => {
    const threshold = readThreshold(text);
    if (typeof threshold !== 'string') return threshold;
    context.addIssue({ code: 'custom', message: threshold });
    return z.NEVER;
  });
  return {
    help,
    placeholder: 'condition',
    flagKey: 'threshold',
    schema: z.array(one, 'must be a list of conditions, for example [p99 < 15ms, errors == 0]'),
    isList: true,
    readsAsFlag: true,
    fromFlag: (value) => value.split(',').map((part) => part.trim()),
    fallback: undefined,
    isRequired: false,
  };
}

/**
 * Figures that runs with certain settings lack, with the reason; the first matching row applies.
 */
const ABSENT: readonly {
  readonly figures: RegExp;
  readonly isAbsent: (settings: TestSettings) => boolean;
  readonly why: (figure: FigureName, scenario: string) => string;
}[] = [
  {
    figures: /^(?!accuracy$)/,
    isAbsent: ({ mode }) => mode === 'AccuracyOnly',
    why: () => 'a run of mode accuracy has no figures of performance',
  },
  {
    figures: /^accuracy$/,
    isAbsent: ({ mode }) => mode !== 'AccuracyOnly' && mode !== 'SubmissionRun',
    why: () => 'only a run of mode accuracy or submission has an accuracy',
  },
  {
    figures: /^(scheduled_qps|overlatency|goodput\w*)$/,
    isAbsent: ({ scenario }) => scenario !== 'Server',
    why: (figure, scenario) =>
      `${figure} is a figure of scenario Server, and this run is ${scenario}`,
  },
  {
    // 0 in SingleStream: such a threshold would always, or never, be met.
    figures: /^lag_/,
    isAbsent: ({ scenario }) => scenario === 'SingleStream',
    why: (figure, scenario) =>
      `${figure} is always 0 in ${scenario}: there, a query is due when it is issued`,
  },
  {
    figures: /^(ttft_|tpot_|itl_|longest_gap_|tokens_per_second$|goodput_tokens)/,
    isAbsent: ({ useTokenLatencies }) => !useTokenLatencies,
    why: (figure) =>
      `${figure} needs token latencies, which the settings of this run do not measure (use_token_latencies)`,
  },
  {
    figures: /^(ttft_|tpot_)/,
    isAbsent: ({ scenario }) => scenario === 'Offline',
    why: (figure) => `${figure} needs the time of the first token, which Offline does not ask for`,
  },
];

/**
 * Refuses thresholds on figures that a run with these settings lacks, before minutes are spent on
 * it.
 * @throws MlperfError `ERR_CONFIG_INVALID` naming the first such figure, and the reason.
 */
export function checkThresholds(thresholds: readonly Threshold[], settings: TestSettings): void {
  for (const { text, figure } of thresholds) {
    const row = ABSENT.find(({ figures, isAbsent }) => figures.test(figure) && isAbsent(settings));
    if (row === undefined) continue;
    throw configInvalid(`--threshold "${text}": ${row.why(figure, settings.scenario)}`);
  }
}
