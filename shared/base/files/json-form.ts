import type { z } from 'zod';

/** For people, by Zod's name of a kind of value. */
const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'an object with keys',
  record: 'an object with keys',
  string: 'a text',
  tuple: 'a list',
};

/** Characters of a value that a message shows. */
const SHOWN_CHARACTERS = 40;

/** A value of the form that was asked for, or what is wrong with it first: `images[3].width must be a number; there is none`. */
export function checkedForm<T>(
  form: z.ZodType<T>,
  value: unknown,
): { readonly data: T } | { readonly wrong: string } {
  const { success, data, error } = form.safeParse(value, { error: inOurWords });
  if (success) return { data };
  const [issue] = error.issues;
  return { wrong: `${placeOf(issue?.path ?? [])} ${issue?.message ?? 'is wrong'}` };
}

/** Undefined: the form's own message, or Zod's. */
function inOurWords(issue: z.core.$ZodRawIssue): string | undefined {
  const what = mustBe(issue);
  return what === undefined ? undefined : `must be ${what}; ${seen(issue.input)}`;
}

function mustBe(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') return KINDS[String(issue.expected)];
  if (issue.code !== 'too_small' && issue.code !== 'too_big') return undefined;
  const { origin, inclusive } = issue;
  if (issue.code === 'too_big') return `${issue.maximum} or less`;
  if (origin === 'string') return 'a text that is not empty';
  if (origin === 'array' || origin === 'tuple') return `a list of ${issue.minimum} or more`;
  return inclusive === false ? `above ${issue.minimum}` : `${issue.minimum} or more`;
}

function seen(value: unknown): string {
  if (value === undefined) return 'there is none';
  const text = JSON.stringify(value);
  const isLong = text.length > SHOWN_CHARACTERS;
  return `it is ${isLong ? `${text.slice(0, SHOWN_CHARACTERS)} ...` : text}`;
}

/** `annotations[3].bbox`. */
function placeOf(keys: readonly PropertyKey[]): string {
  if (keys.length === 0) return 'the file';
  return keys
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
}
