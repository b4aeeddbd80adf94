/** A number parsed from the start of a text, and the number of characters read (0: no number). */
interface Parsed<T> {
  readonly value: T;
  readonly length: number;
}

const U64_MAX = 2n ** 64n - 1n;

/**
 * A 64-bit number as a setting's double: exact below 2^53; above, only values that a double holds.
 * The largest value, or -1 ("no limit"), becomes 2^64. Undefined for other values.
 */
export function numberOfUint64(value: bigint): number | undefined {
  const number = Number(value);
  if (value < 0n || value > U64_MAX) return undefined;
  return BigInt(number) === value || value === U64_MAX ? number : undefined;
}

const INTEGER = /^([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)/;

/**
 * C's `strtoull(text, &end, 0)` on a text without leading blanks: decimal, octal (`010`) and
 * hexadecimal (`0x10`). A minus wraps; an overflow becomes 2^64 - 1.
 */
export function parseUint64(text: string): Parsed<bigint> {
  const match = INTEGER.exec(text);
  if (match === null) return { value: 0n, length: 0 };
  const [whole, sign, digits] = match as unknown as [string, string, string];
  const magnitude = magnitudeOf(digits);
  const length = whole.length;
  if (magnitude > U64_MAX) return { value: U64_MAX, length };
  return { value: sign === '-' ? BigInt.asUintN(64, -magnitude) : magnitude, length };
}

function magnitudeOf(digits: string): bigint {
  const isOctal = digits.length > 1 && digits.startsWith('0') && !/^0x/i.test(digits);
  return isOctal ? BigInt(`0o${digits}`) : BigInt(digits);
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/;
const HEXADECIMAL = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)(?:[pP]([+-]?\d+))?/;
const WORD = /^([+-]?)(infinity|inf|nan(?:\([A-Za-z0-9_]*\))?)/i;

/**
 * C's `strtod(text, &end)` in the C locale, on a text without leading blanks: decimal, hexadecimal
 * (`0x1.8p3`), `inf`, `infinity`, `nan`, `nan(...)`, in any case of letters.
 */
export function parseDouble(text: string): Parsed<number> {
  const word = WORD.exec(text);
  if (word !== null) {
    const magnitude = /^i/i.test(word[2] as string) ? Number.POSITIVE_INFINITY : Number.NaN;
    return { value: word[1] === '-' ? -magnitude : magnitude, length: word[0].length };
  }
  const hexadecimal = HEXADECIMAL.exec(text);
  if (hexadecimal !== null && `${hexadecimal[2]}${hexadecimal[3]}` !== '') {
    return { value: hexadecimalValue(hexadecimal), length: hexadecimal[0].length };
  }
  const decimal = DECIMAL.exec(text);
  if (decimal === null) return { value: 0, length: 0 };
  return { value: Number(decimal[0]), length: decimal[0].length };
}

/** Correctly rounded, except for subnormal results, which no setting has. */
function hexadecimalValue(match: RegExpExecArray): number {
  const [, sign, whole, fraction, exponentText] = match as unknown as string[];
  const magnitude = Number(BigInt(`0x${whole}${fraction}`));
  const limit = 1e6; // Beyond it the result is 0 or infinite anyway.
  const stated = Math.min(Math.max(Number(exponentText ?? 0), -limit), limit);
  const exponent = stated - 4 * (fraction as string).length;
  const half = Math.trunc(exponent / 2);
  const value = magnitude === 0 ? 0 : magnitude * 2 ** half * 2 ** (exponent - half);
  return sign === '-' ? -value : value;
}
