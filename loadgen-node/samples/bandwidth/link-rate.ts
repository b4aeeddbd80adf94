import { rounded } from '../../../shared/base/figures/figure-text.ts';

const PREFIX: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, g: 1e9, t: 1e12 };

/** A number, a prefix, and perhaps a unit: `100G`, `25 Gbit/s`, `10GbE`, `800 Mbps`. Bytes (`GB/s`) are no rate of a link. */
const RATE = /^(\d+(?:\.\d+)?)\s*([kKmMgGtT])\s*(?:b|bits?|bps|b\/s|bits?\/s(?:ec)?|b[eE])?$/;

/** Bits per second of a link, above 0; undefined when the text is no rate. */
export function parseRate(text: string): number | undefined {
  const match = RATE.exec(text.trim());
  const prefix = PREFIX[match?.[2]?.toLowerCase() ?? ''];
  if (match === null || prefix === undefined) return undefined;
  const rate = Number(match[1]) * prefix;
  return rate > 0 ? rate : undefined;
}

/** Bits per second for people: `100 Gbit/s`. */
export function formatRate(bitsPerSecond: number): string {
  for (const [prefix, factor] of [
    ['T', 1e12],
    ['G', 1e9],
    ['M', 1e6],
    ['k', 1e3],
  ] as const) {
    if (bitsPerSecond >= factor) return `${threeFigures(bitsPerSecond / factor)} ${prefix}bit/s`;
  }
  return `${threeFigures(bitsPerSecond)} bit/s`;
}

function threeFigures(value: number): string {
  return value >= 1000 ? String(Math.round(value)) : rounded(value, 3);
}
