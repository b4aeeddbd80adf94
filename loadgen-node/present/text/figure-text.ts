import { formatNs, grouped, percentage, rounded } from '../../../shared/base/text.ts';
import type { BoundVerdict } from '../../loadgen/results/bound-verdicts.ts';
import { FIGURES, type FigureName } from '../../observe/figures/figure-names.ts';

// Figures as text, also for pages in a browser, so independent of Node.

/** A figure of a run for people, with its unit. */
export function figureText(name: FigureName, value: number): string {
  switch (FIGURES[name].unit) {
    case 'ns':
      return formatNs(value);
    case '1/s':
      return `${formatNumber(value)} /s`;
    case 'share':
      return formatShare(value);
    case 'count':
      return grouped(value);
  }
}

/**
 * A number with three significant digits, without exponent up to a million: `12.3`, `1,230`,
 * `1.2e+7`.
 */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const short = Number(value.toPrecision(3));
  const size = Math.abs(short);
  if (size >= 1e7 || (size > 0 && size < 1e-4)) return short.toExponential();
  return short.toLocaleString('en-US', { maximumFractionDigits: 8 });
}

/** A share as a percentage: `0.12 %`; a dash if not finite. */
export function formatShare(share: number): string {
  return Number.isFinite(share) ? percentage(share) : '-';
}

/** A duration, or a dash if missing. */
export function timeOrDash(ns: number | null | undefined): string {
  return formatNs(ns ?? Number.NaN);
}

/** A rate or a count on the live page, followed by a unit, or a dash. */
export function amount(value: number | null | undefined, unit = ''): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '-';
  const digits = value !== 0 && Math.abs(value) < 100 && !Number.isInteger(value) ? 1 : 0;
  const text = value.toLocaleString('en', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return unit === '' ? text : `${text} ${unit}`;
}

const KIB = 1024;
const MEMORY_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Bytes of memory: `312 MiB`, `1.5 GiB`. */
export function formatMemory(bytes: number): string {
  return Number.isFinite(bytes) ? memoryText(bytes, ' ') : '-';
}

/** Short form for bytes of memory, as at an axis: `312Mi`. */
export function tickMemory(bytes: number): string {
  return memoryText(bytes, '').replace(/B$/, '');
}

function memoryText(bytes: number, space: string): string {
  let power = 0;
  for (let rest = bytes; rest >= KIB && power < MEMORY_UNITS.length - 1; rest /= KIB) power += 1;
  return `${formatNumber(bytes / KIB ** power)}${space}${MEMORY_UNITS[power]}`;
}

/** Seconds as `0:07`, `12:30`, `1:02:03`. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const two = (value: number): string => String(value).padStart(2, '0');
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}:${two(whole % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`;
}

/** A mark of a time axis: only the needed digits, each with its unit. */
export function tickTime(ns: number): string {
  if (ns === 0) return '0';
  const size = Math.abs(ns) / (1 - 1e-9);
  if (size < 1e3) return `${rounded(ns, 3)} ns`;
  if (size < 1e6) return `${rounded(ns / 1e3, 3)} µs`;
  return size < 1e9 ? `${rounded(ns / 1e6, 3)} ms` : `${rounded(ns / 1e9, 3)} s`;
}

/** Time since the start of a run, in s: `0.5`, `12`, `600`. */
export function tickSeconds(ns: number): string {
  return rounded(ns / 1e9, 6);
}

/** Name of a percentile, 0 to 1: `p99.9`. */
export function percentileName(percentile: number): string {
  return `p${Number((percentile * 100).toFixed(3))}`;
}

/**
 * A bound as text, with its lane if there are several: `10 ms at p99`,
 * `10 ms at p99 of lane short`.
 */
export function boundInWords(
  { lane, ns, percentile }: Pick<BoundVerdict, 'lane' | 'ns' | 'percentile'>,
  place: string = percentileName(percentile),
): string {
  return `${formatNs(ns)} at ${place}${laneText(lane)}`;
}

/** Suffix with the lane; empty if there is only one. */
export function laneText(lane: string | null): string {
  return lane === null ? '' : ` of lane ${lane}`;
}

/**
 * True if at least one of `count` values is above a percentile (0 to 1); otherwise the percentile
 * would be the maximum.
 */
export function isCarried(count: number, percentile: number): boolean {
  return count * (1 - percentile) > 1 - 1e-9;
}

/** A text cut to the space in a drawing. */
export function fitText(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1)}…`;
}

/** Longest line of a table on a terminal. */
const LINE_MAX = 118;

/** A table line for an output stream; uncut unless it is a terminal. */
export function fitLine(text: string, { isTTY }: { readonly isTTY?: boolean }): string {
  return isTTY === true ? fitText(text, LINE_MAX) : text;
}

/** An ISO 8601 time, to the second: `2026-11-21 21:00:00 UTC`. */
export function instantText(iso: string): string {
  return iso.replace(/^(\S+)T([\d:]+)(?:\.\d+)?Z$/, '$1 $2 UTC');
}
