import { roundHalfEven } from '../../../shared/base/round-half-even.ts';

/**
 * Exponent and fraction bits of 16-bit floats. Rule: IEEE 754 binary16; BF16 is the upper half of
 * binary32.
 */
const FORMS = {
  FP16: { exponentBits: 5, fractionBits: 10 },
  BF16: { exponentBits: 8, fractionBits: 7 },
} as const;

/**
 * Bits of the nearest 16-bit float, ties to even.
 * @returns undefined if a finite number exceeds the largest value.
 */
export function toSmallFloat(value: number, form: keyof typeof FORMS): number | undefined {
  const { exponentBits, fractionBits } = FORMS[form];
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const allExponents = (2 ** exponentBits - 1) * 2 ** fractionBits;
  if (Number.isNaN(value)) return allExponents + 2 ** (fractionBits - 1);
  const size = Math.abs(value);
  if (size === Number.POSITIVE_INFINITY) return sign + allExponents;
  const bias = 2 ** (exponentBits - 1) - 1;
  scratch.setFloat64(0, size);
  // floor(log2(size)); far below all others for 0 and for subnormal doubles.
  const binary = ((scratch.getUint16(0) >>> 4) & 0x7ff) - 1023;
  // Below the smallest normal number all values share its exponent, without implied bit. Scaling by
  // a power of two is exact.
  const exponent = Math.max(binary, 1 - bias);
  const fraction = roundHalfEven(size * 2 ** (fractionBits - exponent));
  // The implied bit carries into the exponent, also if rounding reached the next power of two.
  const bits = (exponent + bias - 1) * 2 ** fractionBits + fraction;
  return bits >= allExponents ? undefined : sign + bits;
}

const scratch = new DataView(new ArrayBuffer(8));
