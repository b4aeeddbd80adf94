import { rounded } from '../figures/figure-text.ts';

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

/** A length of time for people, three significant figures: `12.3 ms`. */
export function formatNs(ns: number): string {
  if (!Number.isFinite(ns)) return '-';
  if (ns < 1e3) return `${Math.round(ns)} ns`;
  if (ns < 1e6) return `${rounded(ns / 1e3, 3)} µs`;
  if (ns < 1e9) return `${rounded(ns / 1e6, 3)} ms`;
  return `${rounded(ns / 1e9, 3)} s`;
}
