import { percentage, rounded } from '../../../shared/base/figures/figure-text.ts';

const UNITS = [
  { name: 'ns', ns: 1, below: 1e3 },
  { name: 'µs', ns: 1e3, below: 1e6 },
  { name: 'ms', ns: 1e6, below: 1e9 },
  { name: 's', ns: 1e9, below: Number.POSITIVE_INFINITY },
] as const;

/** A mark of an axis of time: no more figures than it needs, each with its unit. */
export function tickTime(ns: number): string {
  if (ns === 0) return '0';
  const size = Math.abs(ns);
  const unit = UNITS.find(({ below }) => size < below * (1 - 1e-9)) ?? UNITS[3];
  return `${rounded(ns / unit.ns, 3)} ${unit.name}`;
}

/** Time since the start of a run, in s: `0.5`, `12`, `600`. */
export function tickSeconds(ns: number): string {
  return rounded(ns / 1e9, 6);
}

/** A share as a percentage: `0.12 %`. */
export function formatShare(share: number): string {
  return Number.isFinite(share) ? percentage(share) : '-';
}
