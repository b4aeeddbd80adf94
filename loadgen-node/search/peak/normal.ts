/** Standard normal deviates of the confidences that a search uses, one-sided. */

/** Half of an interval at 95 %. */
export const Z_95 = 1.959964;

/**
 * The deviate that a standard normal value stays below with this chance (Acklam's rational approximation, error below 2e-9 of the
 * value).
 * @param chance Above 0 and below 1.
 */
export function normalDeviate(chance: number): number {
  if (chance > 0.5) return -normalDeviate(1 - chance);
  if (chance < 0.02425) {
    const q = Math.sqrt(-2 * Math.log(chance));
    return polynomial(TAIL_TOP, q) / polynomial(TAIL_BOTTOM, q);
  }
  const q = chance - 0.5;
  const r = q * q;
  return (polynomial(TOP, r) * q) / polynomial(BOTTOM, r);
}

const TOP = [
  -39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716,
  2.506628277459239,
];
const BOTTOM = [
  -54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572,
  1,
];
const TAIL_TOP = [
  -0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734,
  4.374664141464968, 2.938163982698783,
];
const TAIL_BOTTOM = [
  0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416, 1,
];

function polynomial(coefficients: readonly number[], x: number): number {
  let value = 0;
  for (const coefficient of coefficients) value = value * x + coefficient;
  return value;
}
