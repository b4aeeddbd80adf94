import { rounded } from '../../shared/base/text.ts';
import { cardOf } from '../../shared/rules/cards.ts';
import type { BandwidthFormula } from '../../shared/rules/rows/benchmark-card.ts';

/** Bytes per element, by the data type words in input_data_types and encodings. */
const DTYPE_BYTES: readonly (readonly [RegExp, number])[] = [
  [/^(fp64|float64|double|int64|uint64)$/i, 8],
  [/^(fp32|float32|float|int32|uint32|tf32)$/i, 4],
  [/^(fp16|float16|bf16|bfloat16|int16|uint16)$/i, 2],
  [/^(fp8|int8|uint8|byte|bool)$/i, 1],
];

/** Size of a data type in bytes; undefined for any other word, such as `jpeg`. */
export function dtypeBytes(word: string): number | undefined {
  return DTYPE_BYTES.find(([pattern]) => pattern.test(word.trim()))?.[1];
}

/**
 * The rules' bandwidth formula for a benchmark, by its name in mlperf.conf; undefined if there is
 * none. Source: inference_rules v4.1, "Datacenter Bandwidth Requirements".
 */
export function bandwidthFormula(benchmark: string): BandwidthFormula | undefined {
  return cardOf(benchmark)?.bandwidth;
}

const PREFIX: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, g: 1e9, t: 1e12 };

/**
 * A number, a prefix, and an optional unit: `100G`, `25 Gbit/s`, `10GbE`, `800 Mbps`. Bytes
 * (`GB/s`) are not accepted for a link.
 */
const RATE = /^(\d+(?:\.\d+)?)\s*([kKmMgGtT])\s*(?:b|bits?|bps|b\/s|bits?\/s(?:ec)?|b[eE])?$/;

/** Bits per second of a link, above 0; undefined if the text is not a rate. */
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
