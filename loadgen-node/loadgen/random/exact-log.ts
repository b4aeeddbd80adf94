/** Bits behind the binary point: far more than a double's 53, whatever cancels. */
const FRACTION_BITS = 192n;
const ONE = 1n << FRACTION_BITS;
const MANTISSA_BITS = 52n;

/**
 * Natural logarithm, correctly rounded: what the C library of LoadGen's machine prints in all but one
 * of a thousand cases, while JavaScript's differs in the last bit in one of fourteen. Slow: for the
 * rare draws where the last bit decides.
 * @param value Above 0, at most 1, and no denormal number.
 */
export function exactLog(value: number): number {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setFloat64(0, value);
  const bits = bytes.getBigUint64(0);
  const exponent = ((bits >> MANTISSA_BITS) & 0x7ffn) - 1023n;
  const mantissa = (bits & 0xf_ffff_ffff_ffffn) | (1n << MANTISSA_BITS);
  // value = mantissa * 2^exponent with a mantissa of 1 up to 2.
  const log = logOfFraction(mantissa, 1n << MANTISSA_BITS) + exponent * LOG_2;
  // Number() rounds a whole number to the nearest double; a power of two changes no digit.
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
