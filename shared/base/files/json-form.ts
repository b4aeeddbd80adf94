import type { z } from 'zod';

/** Zod's names of kinds of values → text for people. */
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

/**
 * The value in the requested form, or its first fault: `images[3].width must be a number; there is
 * none`.
 */
export function checkedForm<T>(
  form: z.ZodType<T>,
  value: unknown,
): { readonly data: T } | { readonly wrong: string } {
  const error = (issue: z.core.$ZodRawIssue): string =>
    `${inOurWords(issue)}; ${seen(issue.input)}`;
  const checked = form.safeParse(value, { error });
  if (checked.success) return { data: checked.data };
  const [issue] = checked.error.issues;
  return { wrong: `${placeOf(issue?.path ?? [])} ${issue?.message ?? 'is wrong'}` };
}

/**
 * Error map for Zod with texts such as `must be 1 or more`; a message of the schema itself takes
 * precedence. Use it for everything shown to people, so that no text of the library appears.
 */
export function inOurWords(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${KINDS[String(issue.expected)] ?? issue.expected}`;
    case 'too_small':
      return `must be ${atLeast(issue)}`;
    case 'too_big':
      return issue.inclusive === false
        ? `must be below ${issue.maximum}`
        : `must be ${issue.maximum}${SIZES[issue.origin] ?? ''} or less`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of: ' : ''}${issue.values.map(String).join(', ')}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `has unknown keys: ${issue.keys.join(', ')}`;
    case 'invalid_format':
      return issue.pattern === undefined
        ? `must be of the form ${issue.format}`
        : `must match ${issue.pattern}`;
    default:
      return 'has an unknown form';
  }
}

/** Units of sizes, by Zod's name of the kind. */
const SIZES: Readonly<Record<string, string>> = {
  string: ' characters',
  array: ' items',
  tuple: ' items',
  set: ' items',
};

function atLeast({ origin, minimum, inclusive }: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall>) {
  if (origin === 'string')
    return minimum === 1 ? 'a non-empty text' : `${minimum} characters or more`;
  if (origin === 'array' || origin === 'tuple') return `a list of ${minimum} or more`;
  return inclusive === false ? `above ${minimum}` : `${minimum} or more`;
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
