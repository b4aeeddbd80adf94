import { flagOf } from '../../../shared/config/setting.ts';

/**
 * A setting as shell flags: `--target-qps 10`; lists with commas; `true` as the flag alone.
 * @param key Key in a table of settings.
 */
export function flagText(key: string, value: unknown): string {
  if (value === true) return flagOf(key);
  const text = Array.isArray(value) ? value.join(',') : String(value);
  return `${flagOf(key)} ${shellWord(text)}`;
}

/** One word for a POSIX shell, quoted if necessary. */
export function shellWord(text: string): string {
  return /^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
