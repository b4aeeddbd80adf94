/** Figures of a result. Source: inference_rules v4.1, "Submission" (five significant figures, ties to even). */
const FIGURES = 5;

/**
 * A number with five significant figures, a tie to the even digit, as the rules publish results. It rounds
 * the decimal digits that stand in the log: their binary value would decide ties by chance.
 */
export function fiveFigures(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const [mantissa = '0', power = '0'] = Math.abs(value).toExponential().split('e');
  const digits = mantissa.replace('.', '');
  let exponent = Number(power);
  let kept = roundToEven(digits, FIGURES);
  if (kept.length > FIGURES) {
    kept = kept.slice(0, FIGURES);
    exponent += 1;
  }
  return (value < 0 ? '-' : '') + withPoint(kept, exponent);
}

/** The decimal numbers of a line in five figures; whole numbers are counts and stay. */
export function fiveFiguresIn(line: string): string {
  return line.replace(/\d+\.\d+/g, (number) => fiveFigures(Number(number)));
}

function roundToEven(digits: string, count: number): string {
  const head = digits.slice(0, count).padEnd(count, '0');
  const rest = digits.slice(count).replace(/0+$/, '');
  if (rest === '') return head;
  const isTie = rest === '5';
  const isUp = isTie ? Number(head.at(-1)) % 2 === 1 : rest >= '5';
  return isUp ? String(BigInt(head) + 1n) : head;
}

/** @param exponent Power of ten of the first digit. */
function withPoint(digits: string, exponent: number): string {
  if (exponent >= digits.length - 1) return digits + '0'.repeat(exponent - digits.length + 1);
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  return `${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}
