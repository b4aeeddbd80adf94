import { rounded } from '../../../shared/base/text.ts';

/** Bytes of an element, by the words that input_data_types and encodings use. */
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

/** Bytes of a sample that the rules ask a datacenter system to take in and give out. */
interface BandwidthFormula {
  /** As the rules write it. */
  readonly input: string;
  readonly inputElements: number;
  /** Undefined: negligible, the bandwidth must only be above 0. */
  readonly outputElements?: number;
}

const image = (side: number): BandwidthFormula => ({
  input: `3*${side}*${side}*dtype_size`,
  inputElements: 3 * side * side,
});
const tokens = (count: number): BandwidthFormula => ({
  input: `${count}*dtype_size`,
  inputElements: count,
});

/**
 * By benchmark, as mlperf.conf names it. DLRMv2 has two types of data: 270 pairs of 13 numbers and 26
 * categories, here of one size.
 * Source: inference_rules v4.1, "Datacenter Bandwidth Requirements".
 */
const FORMULAS: Readonly<Record<string, BandwidthFormula>> = {
  resnet50: image(224),
  retinanet: image(800),
  '3d-unet': {
    input: '32944795*dtype_size',
    inputElements: 32_944_795,
    outputElements: 32_944_795,
  },
  bert: { input: '3*384*dtype_size', inputElements: 3 * 384 },
  gptj: tokens(2048),
  'llama2-70b': tokens(1024),
  'mixtral-8x7b': tokens(2048),
  'dlrm-v2': { input: '270*(13+26)*dtype_size', inputElements: 270 * 39 },
  'stable-diffusion-xl': {
    input: '77*dtype_size',
    inputElements: 77,
    outputElements: 3_145_728,
  },
};

/** The rules' formula for a benchmark; undefined where they have none. */
export function bandwidthFormula(benchmark: string): BandwidthFormula | undefined {
  return Object.hasOwn(FORMULAS, benchmark) ? FORMULAS[benchmark] : undefined;
}

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
