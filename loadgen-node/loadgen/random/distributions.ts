import type { Mt19937 } from './mt19937.ts';

/**
 * The distributions that LoadGen draws from, with libstdc++'s exact draws. The sample order depends
 * on the C++ library that built LoadGen: libstdc++ changed its integer draws in version 11; libc++
 * and MSVC draw differently and are not supported.
 */

/** Supported C++ libraries. Doubles, and so the schedule, are the same for both. */
export const RNG_LIBRARIES = ['libstdc++-11', 'libstdc++-10'] as const;

/** A library, named by the first (11) or last (10) version with these draws. */
export type RngLibrary = (typeof RNG_LIBRARIES)[number];

const TWO_POW_32 = 4294967296;
const TWO_POW_64 = TWO_POW_32 * TWO_POW_32;
const LARGEST_BELOW_1 = 1 - 2 ** -53;

/** Draws a double in [0, 1). Two draws, the low word first. */
export function uniformReal(generator: Mt19937): number {
  const low = generator.nextUint32();
  const high = generator.nextUint32();
  const value = (low + high * TWO_POW_32) / TWO_POW_64;
  return value < 1 ? value : LARGEST_BELOW_1;
}

/**
 * Draws a whole number in [0, `bound`): by Lemire's method since libstdc++ 11, by division before.
 * @param bound 1 to 2^32 - 1. Takes one draw even for 1.
 */
export function uniformInt(
  generator: Mt19937,
  bound: number,
  library: RngLibrary = 'libstdc++-11',
): number {
  if (library === 'libstdc++-10') return uniformIntByDivision(generator, bound);
  let draw = generator.nextUint32();
  let low = lowWordOfProduct(draw, bound);
  if (low < bound) {
    const threshold = (TWO_POW_32 - bound) % bound;
    while (low < threshold) {
      draw = generator.nextUint32();
      low = lowWordOfProduct(draw, bound);
    }
  }
  return highWordOfProduct(draw, bound);
}

function uniformIntByDivision(generator: Mt19937, bound: number): number {
  const scaling = Math.floor((TWO_POW_32 - 1) / bound);
  const past = bound * scaling;
  let draw = generator.nextUint32();
  while (draw >= past) draw = generator.nextUint32();
  return Math.floor(draw / scaling);
}

/** Bits 0 to 31 of a 64-bit product. */
function lowWordOfProduct(a: number, b: number): number {
  return Math.imul(a, b) >>> 0;
}

/** Bits 32 to 63 of a 64-bit product, computed in halves since a double holds only 53 bits. */
function highWordOfProduct(a: number, b: number): number {
  const upper = (a >>> 16) * b;
  const lower = (a & 0xffff) * b;
  return Math.floor((upper + Math.floor(lower / 0x10000)) / 0x10000);
}

/** Shuffles in place (`std::shuffle`): up to 65,535 elements use one draw per two swaps. */
export function shuffle(
  generator: Mt19937,
  values: Uint32Array,
  library: RngLibrary = 'libstdc++-11',
): void {
  const count = values.length;
  if (count > 0 && count <= 0xffff) shuffleByPairs(generator, values, library);
  else for (let i = 1; i < count; i += 1) swap(values, i, uniformInt(generator, i + 1, library));
}

function shuffleByPairs(generator: Mt19937, values: Uint32Array, library: RngLibrary): void {
  const count = values.length;
  let i = 1;
  if (count % 2 === 0) {
    swap(values, 1, uniformInt(generator, 2, library));
    i = 2;
  }
  while (i < count) {
    const range = i + 1;
    const both = uniformInt(generator, range * (range + 1), library);
    swap(values, i, Math.floor(both / (range + 1)));
    swap(values, i + 1, both % (range + 1));
    i += 2;
  }
}

function swap(values: Uint32Array, i: number, j: number): void {
  const held = values[i] as number; // Both in range: i, j < length.
  values[i] = values[j] as number;
  values[j] = held;
}

/**
 * Draws an exponentially distributed gap between two arrivals at `rate` per second, in s.
 * @internal For tests that compare draws; schedules use {@link exponentialNs}.
 */
export function exponential(generator: Mt19937, rate: number): number {
  return -Math.log(1 - uniformReal(generator)) / rate;
}

/**
 * Distance to a whole ns below which the last bit of the logarithm may matter: some steps of the
 * double that holds the gap, at least 1e-6 ns (the step for gaps of 2 s).
 */
function nearWholeNs(gapNs: number): number {
  return Math.max(1e-6, gapNs * 2 ** -49);
}

/** {@link exponential} in whole ns, truncated as in LoadGen; the same ns as with the C library. */
export function exponentialNs(generator: Mt19937, rate: number): number {
  const rest = 1 - uniformReal(generator);
  const gapNs = (-Math.log(rest) / rate) * 1e9;
  if (Math.abs(gapNs - Math.round(gapNs)) > nearWholeNs(gapNs)) return Math.trunc(gapNs);
  return Math.trunc((-exactLog(rest) / rate) * 1e9);
}

/** Shuffles a new list of 0, `stride`, 2 * `stride`, ... below `end`. */
export function shuffledRange(
  generator: Mt19937,
  end: number,
  stride: number,
  library: RngLibrary = 'libstdc++-11',
): Uint32Array {
  const values = new Uint32Array(Math.ceil(end / stride));
  for (let i = 0; i < values.length; i += 1) values[i] = i * stride;
  shuffle(generator, values, library);
  return values;
}

/** Bits after the binary point: far more than a double's 53, even after cancellation. */
const FRACTION_BITS = 192n;
const ONE = 1n << FRACTION_BITS;
const MANTISSA_BITS = 52n;

/**
 * Natural logarithm, correctly rounded. It equals that of LoadGen's C library in all but one of a
 * thousand cases; JavaScript's differs in the last bit in one of fourteen. Slow: only for the rare
 * draws where the last bit matters.
 * @param value In (0, 1], not subnormal.
 */
export function exactLog(value: number): number {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setFloat64(0, value);
  const bits = bytes.getBigUint64(0);
  const exponent = ((bits >> MANTISSA_BITS) & 0x7ffn) - 1023n;
  const mantissa = (bits & 0xf_ffff_ffff_ffffn) | (1n << MANTISSA_BITS);
  // value = mantissa * 2^exponent with mantissa in [1, 2).
  const log = logOfFraction(mantissa, 1n << MANTISSA_BITS) + exponent * LOG_2;
  // Number() rounds to the nearest double; a power of two changes no digit.
  return Number(log) * 2 ** -Number(FRACTION_BITS);
}

const LOG_2: bigint = logOfFraction(2n, 1n);

/** ln(a / b) = 2 artanh((a - b) / (a + b)), scaled by {@link ONE}, for 1 <= a / b <= 2. */
function logOfFraction(a: bigint, b: bigint): bigint {
  const z = ((a - b) * ONE) / (a + b);
  const square = (z * z) >> FRACTION_BITS;
  let power = z;
  let sum = 0n;
  for (let k = 1n; power !== 0n; k += 2n) {
    sum += power / k;
    power = (power * square) >> FRACTION_BITS;
  }
  return 2n * sum;
}
