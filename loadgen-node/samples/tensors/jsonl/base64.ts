/**
 * Bytes of `{"b64": "..."}`.
 * @returns undefined where the value is none, or what it holds is no base64 (with or without its padding).
 */
export function base64Bytes(value: unknown): Buffer | undefined {
  if (typeof value !== 'object' || value === null || !('b64' in value)) return undefined;
  const { b64 } = value;
  if (typeof b64 !== 'string') return undefined;
  const bytes = Buffer.from(b64, 'base64');
  // Node reads what it can and says nothing of the rest.
  const isAll = bytes.toString('base64').replace(/=+$/, '') === b64.replace(/=+$/, '');
  return isAll ? bytes : undefined;
}
