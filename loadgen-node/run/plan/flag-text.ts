import { flagOf } from '../../../shared/config/setting.ts';

/**
 * A setting as it stands on a command line of a shell: `--target-qps 10`; lists with commas; `true` as the flag alone.
 * @param key Of a table of settings.
 */
export function flagText(key: string, value: unknown): string {
  if (value === true) return flagOf(key);
  const text = Array.isArray(value) ? value.join(',') : String(value);
  return `${flagOf(key)} ${shellWord(text)}`;
}

/** One word for a POSIX shell, in quotes where it needs them. */
export function shellWord(text: string): string {
  return /^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
