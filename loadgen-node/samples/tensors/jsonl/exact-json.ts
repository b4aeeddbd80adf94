/**
 * A whole number that JavaScript's numbers may not hold, as {@link parseExactJson} gives it: its digits, below the key that
 * nobody uses.
 */
export interface LongInteger {
  readonly '': string;
}

/** Digits from which on a number may be beyond 2^53. */
const LONG_DIGITS = /\d{16}/;

/** A text of JSON, or a number; both as they stand in it. A text is matched so that long ones need no stack. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * JSON.parse, but for whole numbers of 16 digits or more: they come as {@link LongInteger}, digit by digit, because
 * JSON.parse would round them.
 * @throws SyntaxError
 */
export function parseExactJson(text: string): unknown {
  if (!LONG_DIGITS.test(text)) return JSON.parse(text);
  const exact = text.replaceAll(TOKENS, (token) =>
    /^-?\d{16,}$/.test(token) ? `{"":"${token}"}` : token,
  );
  return JSON.parse(exact);
}

/** True for what stands for a whole number of many digits. */
export function isLongInteger(value: unknown): value is LongInteger {
  return (
    typeof value === 'object' && value !== null && '' in value && typeof value[''] === 'string'
  );
}
