/** A coordinate as SVG has it: a tenth of a unit is finer than a screen shows. */
export function coordinate(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** A number for people, three significant figures, without exponent up to a million: `12.3`, `1,230`, `1.2e+7`. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const rounded = Number(value.toPrecision(3));
  const size = Math.abs(rounded);
  if (size >= 1e7 || (size > 0 && size < 1e-4)) return rounded.toExponential();
  return rounded.toLocaleString('en-US', { maximumFractionDigits: 8 });
}
