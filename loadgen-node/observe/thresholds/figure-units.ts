import { percentage, rounded } from '../../../shared/base/figures/figure-text.ts';
import { formatNs } from '../../../shared/base/text/duration.ts';
import type { FigureUnit } from '../figures/figure-names.ts';

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

/** How values of a unit are written, for messages. */
export function unitsFor(unit: FigureUnit): Pick<WrittenUnit, 'words' | 'example'> {
  return WRITTEN[unit];
}

/** A number with what stands behind it, in the figure's unit; undefined where that does not fit. */
export function valueIn(unit: FigureUnit, number: number, unitText: string): number | undefined {
  const { factors } = WRITTEN[unit];
  const factor = Object.hasOwn(factors, unitText) ? factors[unitText] : undefined;
  // 0.3 ms are 300,000 ns, not a binary fraction beside it.
  return factor === undefined ? undefined : Number((number * factor).toPrecision(15));
}

/** A figure's value for people. */
export function formatFigure(unit: FigureUnit, value: number): string {
  return WRITTEN[unit].format(value);
}
