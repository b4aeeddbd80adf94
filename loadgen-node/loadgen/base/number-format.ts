/**
 * Number formats of LoadGen's logs, as the C++ library prints them: exact rounding of the binary
 * value, ties to the even digit. JavaScript's toFixed and toPrecision round ties away from zero.
 */

const SIGNIFICANT_DIGITS = 6;

/** C's `%.<decimals>f`. */
export function formatFixed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return formatNonFinite(value);
  const digits = roundedScaled(Math.abs(value), decimals)
    .toString()
    .padStart(decimals + 1, '0');
  const sign = isNegative(value) ? '-' : '';
  if (decimals === 0) return sign + digits;
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** C's `%g`, the default of C++ streams: 6 significant digits, no trailing zeros. */
export function formatGeneral(value: number): string {
  if (!Number.isFinite(value)) return formatNonFinite(value);
  if (value === 0) return isNegative(value) ? '-0' : '0';
  const { digits, exponent } = significantDigits(Math.abs(value));
  const sign = value < 0 ? '-' : '';
  if (exponent < -4 || exponent >= SIGNIFICANT_DIGITS) {
    const mantissa = withoutTrailingZeros(`${digits[0]}.${digits.slice(1)}`);
    const power = String(Math.abs(exponent)).padStart(2, '0');
    return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${power}`;
  }
  if (exponent < 0) return sign + withoutTrailingZeros(`0.${'0'.repeat(-exponent - 1)}${digits}`);
  const whole = digits.slice(0, exponent + 1);
  return sign + withoutTrailingZeros(`${whole}.${digits.slice(exponent + 1)}`);
}

/** A whole number with all its digits; a double holds 2^64 - 1 as 2^64. */
export function formatUint64(value: number | bigint): string {
  if (typeof value === 'bigint' || !(value > Number.MAX_SAFE_INTEGER)) return String(value);
  return String(value >= 2 ** 64 ? 2n ** 64n - 1n : BigInt(value));
}

/**
 * A double as Python prints it, as in scores of the official scripts. Both languages print the
 * shortest digits that read back the same; they differ in where exponent notation begins.
 */
export function pythonFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const [digits = '', power = ''] = value.toExponential().split('e');
  const exponent = Number(power);
  if (value !== 0 && (exponent < -4 || exponent >= 16)) {
    const sign = exponent < 0 ? '-' : '+';
    return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  if (exponent < 0) {
    const fraction = digits.replace(/^-/, '').replace('.', '');
    return `${value < 0 ? '-' : ''}0.${'0'.repeat(-exponent - 1)}${fraction}`;
  }
  const plain = String(value);
  return plain.includes('.') ? plain : `${plain}.0`;
}

/** JSON.stringify, but whole numbers from 2^53 on keep all digits: {@link formatUint64}. */
export function exactJson(value: unknown): string {
  const marked = JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'number' && Number.isInteger(member) && member > Number.MAX_SAFE_INTEGER
      ? `\0${formatUint64(member)}`
      : member,
  );
  return marked.replaceAll(/"\\u0000(\d+)"/g, '$1');
}

/** Infinity and NaN as the C library of x86-64 Linux prints them; its 0/0 is a negative NaN. */
function formatNonFinite(value: number): string {
  if (Number.isNaN(value)) return '-nan';
  return value > 0 ? 'inf' : '-inf';
}

function significantDigits(value: number): { digits: string; exponent: number } {
  // A first guess: 17 digits may already have been rounded up to the next power of ten.
  let exponent = Number(value.toExponential(16).split('e')[1]);
  if (value < 10 ** exponent) exponent -= 1;
  const rounded = roundedScaled(value, SIGNIFICANT_DIGITS - 1 - exponent).toString();
  if (rounded.length > SIGNIFICANT_DIGITS) {
    return { digits: rounded.slice(0, SIGNIFICANT_DIGITS), exponent: exponent + 1 };
  }
  return { digits: rounded, exponent };
}

/** `value * 10^power` as a whole number, exact, a tie to the even one. */
function roundedScaled(value: number, power: number): bigint {
  let { numerator, denominator } = exactFraction(value);
  if (power >= 0) numerator *= 10n ** BigInt(power);
  else denominator *= 10n ** BigInt(-power);
  const floor = numerator / denominator;
  const twiceRest = 2n * (numerator % denominator);
  const isAbove = twiceRest > denominator || (twiceRest === denominator && floor % 2n === 1n);
  return isAbove ? floor + 1n : floor;
}

function exactFraction(value: number): { numerator: bigint; denominator: bigint } {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setFloat64(0, value);
  const bits = bytes.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  const mantissa = biased === 0 ? fraction : fraction | (1n << 52n);
  const exponent = Math.max(biased, 1) - 1075;
  return exponent >= 0
    ? { numerator: mantissa << BigInt(exponent), denominator: 1n }
    : { numerator: mantissa, denominator: 1n << BigInt(-exponent) };
}

/** @param text Number text that contains a decimal point. */
function withoutTrailingZeros(text: string): string {
  return text.replace(/0+$/, '').replace(/\.$/, '');
}

function isNegative(value: number): boolean {
  return value < 0 || Object.is(value, -0);
}

/** A percentile as the logs write it: `99` or `99.0` (target), `99.00` (the fixed ones). */
export function percentileLabel(percentile: number, decimals: 0 | 1 | 2): string {
  return formatFixed(percentile * 100, decimals);
}
