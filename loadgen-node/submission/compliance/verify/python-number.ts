/**
 * A double as Python prints it: the official scripts are written in Python, and their texts show scores so.
 * Both languages print the shortest digits that read back the same; they part in where an exponent begins.
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
