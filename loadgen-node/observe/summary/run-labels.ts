import { z } from 'zod';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import type { Setting } from '../../../shared/config/setting.ts';

/** Labels of a run: the user's own key-value texts. */
export type RunLabels = Readonly<Record<string, string>>;

/** Names of the two, so that an error says which one is wrong. */
const KEY = /^[A-Za-z][A-Za-z0-9_.-]{0,62}$/;
const VALUE = /^\P{Cc}{1,200}$/u;
const LABELS_MAX = 32;

const RIGHT =
  'must be key=value, for example commit=4f2a9c1: a key of letters, digits, "_", "." and "-" that begins with a letter, and a value of 1 to 200 characters';

/** Parses `key=value`; undefined if the text has another form. */
function readLabel(text: string): readonly [key: string, value: string] | undefined {
  const at = text.indexOf('=');
  const [key, value] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  return at > 0 && KEY.test(key) && VALUE.test(value) ? [key, value] : undefined;
}

/**
 * Parses a label given by a flag.
 * @throws MlperfError `ERR_CONFIG_INVALID` that names the flag
 */
export function parseLabel(text: string, flag: string): readonly [key: string, value: string] {
  const label = readLabel(text);
  if (label === undefined) throw configInvalid(`${flag} ${JSON.stringify(text)} ${RIGHT}`);
  return label;
}

/** Labels of a run: a list or one key each in a file, repeated flags on the command line. */
export function labelSetting(help: string): Setting<RunLabels | undefined> {
  const message = 'must be a list such as [commit=4f2a9c1], or keys with values';
  const listed = z.array(z.string(RIGHT), message);
  const keyed = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]), message);
  const schema = z.union([listed, keyed], message).transform((given, context): RunLabels => {
    const texts = Array.isArray(given)
      ? given
      : Object.entries(given).map(([key, value]) => `${key}=${String(value)}`);
    const wrong = problemOf(texts);
    if (wrong === null) return Object.fromEntries(texts.flatMap((text) => [readLabel(text) ?? []]));
    context.addIssue({ code: 'custom', message: wrong });
    return z.NEVER;
  });
  return {
    help,
    placeholder: 'key=value',
    flagKey: 'label',
    schema: schema.optional(),
    isList: true,
    // Repeated flags are joined by commas, which a value may also contain.
    fromFlag: (text) => text.split(/,(?=\s*[A-Za-z][A-Za-z0-9_.-]*=)/),
    fallback: undefined,
    isRequired: false,
  };
}

/** Problem of the labels; null if they are valid. */
function problemOf(texts: readonly string[]): string | null {
  const bad = texts.find((text) => readLabel(text) === undefined);
  if (bad !== undefined) return `${RIGHT}; ${JSON.stringify(bad)} is not that`;
  if (texts.length > LABELS_MAX) return `must be ${LABELS_MAX} labels at most`;
  const keys = texts.map((text) => readLabel(text)?.[0]);
  const twice = keys.find((key, i) => keys.indexOf(key) !== i);
  return twice === undefined ? null : `must not have the key ${twice} twice`;
}

/** Labels as text: `commit=4f2a9c1 host=a`. */
export function labelText(labels: RunLabels | undefined): string {
  return Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${/\s/.test(value) ? JSON.stringify(value) : value}`)
    .join(' ');
}
