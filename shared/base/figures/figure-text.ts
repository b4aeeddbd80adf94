/** A number with so many significant digits at most: `0.333`, `1200`. */
export function rounded(value: number, digits: number): string {
  return String(Number(value.toPrecision(digits)));
}

/** A share from 0 to 1 as a percentage: `0.12 %`. @param digits Significant ones, at most. */
export function percentage(share: number, digits: number = 3): string {
  return `${rounded(share * 100, digits)} %`;
}

/** A number with its digits in groups of three: `24,576`. */
export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}
