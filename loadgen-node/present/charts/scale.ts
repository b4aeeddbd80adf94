import { tickTime } from '../text/figure-text.ts';

/** A mark of an axis. */
interface Tick {
  readonly value: number;
  readonly label: string;
}

/** Subdivisions between two marks of a linear axis when zoomed in. */
const PARTS = [2, 5, 10, 20];

/** An axis of a chart. */
export interface Axis {
  /** Position of a value: 0 at the beginning, 1 at the end; values outside are clamped. */
  readonly scale: (value: number) => number;
  /** Its marks. */
  readonly ticks: readonly Tick[];
  /** Marks when zoomed in, each list finer than the one before. */
  readonly finer?: () => readonly (readonly Tick[])[];
  /** Quantity and unit. */
  readonly title: string;
}

/** Range and labels of an axis. */
interface AxisRange {
  readonly from: number;
  readonly to: number;
  readonly title: string;
  readonly format: (value: number) => string;
  /** Step between marks, at least `least`. Default: 1, 2 or 5 times a power of ten. */
  readonly stepOf?: (least: number) => number;
}

/**
 * A linear axis with about `tickCount` marks at round values. A range of zero width shows its value
 * in the middle.
 */
export function linearAxis(range: AxisRange, tickCount = 5): Axis {
  const { from, to, title, format, stepOf = roundStep } = widened(range);
  const ticksBy = (step: number): Tick[] => {
    const ticks: Tick[] = [];
    // Avoids -0.
    for (let i = Math.ceil(from / step) + 0; i * step <= to * (1 + 1e-12); i += 1) {
      ticks.push({ value: i * step, label: format(i * step) });
    }
    return ticks;
  };
  const step = stepOf((to - from) / tickCount);
  return {
    scale: (value) => clamped((value - from) / (to - from)),
    ticks: ticksBy(step),
    finer: () => PARTS.map((part) => ticksBy(stepOf(step / part))),
    title,
  };
}

/** Digits of the finer marks of a logarithmic axis. */
const WHOLE_DIGITS = [1, 2, 3, 4, 5, 6, 7, 8, 9];
const TENTHS = Array.from({ length: 90 }, (_, i) => (10 + i) / 10);

/**
 * A logarithmic axis for positive values, with marks at 1, 2 and 5 of each power of ten if there is
 * room.
 */
export function logAxis(range: AxisRange, tickCountMax = 8): Axis {
  const from = Math.log10(range.from);
  const to = Math.log10(Math.max(range.to, range.from * 1.1));
  const scale = (value: number): number =>
    clamped((Math.log10(Math.max(value, range.from)) - from) / (to - from));
  const ticksAt = (digits: readonly number[]): Tick[] => {
    const ticks: Tick[] = [];
    for (let power = Math.floor(from); power <= to; power += 1) {
      for (const digit of digits) {
        const value = digit * 10 ** power;
        if (Math.log10(value) < from - 1e-9 || Math.log10(value) > to + 1e-9) continue;
        ticks.push({ value, label: range.format(value) });
      }
    }
    return ticks;
  };
  const lists = [[1, 2, 5], [1, 3], [1]].map(ticksAt);
  const ticks = lists.find(({ length }) => length <= tickCountMax) ?? lists.at(-1) ?? [];
  if (ticks.length === 0) ticks.push({ value: range.from, label: range.format(range.from) });
  const finer = () => [WHOLE_DIGITS, TENTHS].map(ticksAt);
  return { scale, ticks, finer, title: range.title };
}

/**
 * A percentile axis that stretches the tail: log10 of 1/(1-p), so that 90, 99, 99.9 % are equally
 * spaced.
 * @param count Number of values: the axis ends at the last one's percentile.
 */
export function tailAxis(count: number, title: string): Axis {
  const decades = Math.max(Math.log10(Math.max(count, 1)), 1);
  const scale = (share: number): number =>
    clamped(-Math.log10(Math.max(1 - share, 1e-12)) / decades);
  // On a long axis 0 and 50 % are too close for two labels.
  const first = decades < 3.5 ? [0] : [];
  const ticks = [...first, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999, 0.9999999]
    .filter((share) => -Math.log10(1 - share) <= decades + 1e-9)
    .map((value) => ({ value, label: `${Number((value * 100).toFixed(5))} %` }));
  return { scale, ticks, title };
}

/**
 * An axis for times in ns: logarithmic if they differ by a factor of ten. 0 is drawn as the
 * smallest positive value, or 1 µs.
 */
export function timeAxis(valuesNs: readonly number[], title: string): Axis {
  const format = tickTime;
  const from = valuesNs.reduce((a, b) => (b > 0 ? Math.min(a, b) : a), Number.POSITIVE_INFINITY);
  const to = valuesNs.reduce((a, b) => Math.max(a, b), 0);
  if (!Number.isFinite(from)) return linearAxis({ from: 0, to: 1e6, title, format });
  if (to / from < 10) return linearAxis({ from: 0, to: to * 1.05, title, format });
  return logAxis({ from: from / 1.1, to: to * 1.1, title, format });
}

function widened(range: AxisRange): AxisRange {
  if (range.to > range.from) return range;
  const half = Math.abs(range.from) * 0.1 || 0.5;
  return { ...range, from: range.from - half, to: range.from + half };
}

/** The smallest number among 1, 2, 5 times a power of ten that is at least `least`. */
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const digit = [1, 2, 5, 10].find((candidate) => candidate * power >= least * (1 - 1e-9)) ?? 10;
  return digit * power;
}

/** {@link roundStep} for bytes: a round number in the unit of the largest marks (KiB, MiB, GiB). */
export function memoryStep(least: number): number {
  const unit = 1024 ** Math.max(0, Math.floor(Math.log2(least * 4) / 10));
  return roundStep(least / unit) * unit;
}

function clamped(value: number): number {
  return Math.min(Math.max(value, 0), 1);
}
