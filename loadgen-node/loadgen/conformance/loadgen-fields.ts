import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { SCENARIOS } from '../../../shared/domain/scenario.ts';
import { numberOfUint64 } from '../base/c-numbers.ts';
import {
  defaultTestSettings,
  type FieldType,
  SETTINGS_FIELDS,
  type TestSettings,
} from '../settings/test-settings.ts';

/** Settings by LoadGen's own field names, values as texts: how golden files hold them. */
export type LoadgenArgs = Readonly<Record<string, string>>;

/** Settings as they were asked for, and the names that are not LoadGen's. */
export interface ParsedArgs {
  readonly settings: TestSettings;
  /** For the harness that ran the C++ LoadGen, or misspelt: they have no effect. */
  readonly unknownNames: readonly string[];
}

interface Field {
  readonly key: keyof TestSettings;
  readonly type: FieldType | 'scenario';
}

/** LoadGen's fields by name (LoadGen: test_settings.h). */
const FIELDS: ReadonlyMap<string, Field> = new Map<string, Field>([
  ['scenario', { key: 'scenario', type: 'scenario' }],
  ...SETTINGS_FIELDS.map(({ name, field, type }): [string, Field] => [name, { key: field, type }]),
]);

/**
 * Reads settings over a base, which is LoadGen's defaults where nothing else is said.
 * @throws MlperfError `ERR_CONFIG_INVALID` that lists every wrong value, one per line.
 */
export function parseLoadgenArgs(
  args: LoadgenArgs,
  base: TestSettings = defaultTestSettings(),
): ParsedArgs {
  const problems: string[] = [];
  const unknownNames: string[] = [];
  const values: Record<string, unknown> = { ...base };
  for (const [name, text] of Object.entries(args)) {
    const field = FIELDS.get(name);
    if (field === undefined) {
      unknownNames.push(name);
      continue;
    }
    const { parse, expected } = FORMS[field.type];
    const value = parse(text.trim());
    if (value === undefined) problems.push(`${name} = ${JSON.stringify(text)} must be ${expected}`);
    else values[field.key] = value;
  }
  if (problems.length > 0) throw configInvalid(problems.join('\n'));
  // Every field of the base is there, each of its own kind.
  return { settings: values as unknown as TestSettings, unknownNames };
}

const MODES = ['SubmissionRun', 'AccuracyOnly', 'PerformanceOnly', 'FindPeakPerformance'];
const SEED_END = 1n << 64n;
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['0', false],
  ['1', true],
  ['false', false],
  ['true', true],
]);

interface Form {
  readonly expected: string;
  /** Undefined for a text that is not of this form. */
  readonly parse: (text: string) => unknown;
}

const FORMS: Readonly<Record<FieldType | 'scenario', Form>> = {
  scenario: {
    expected: `one of: ${SCENARIOS.join(', ')}`,
    parse: (text) => SCENARIOS.find((scenario) => scenario === text),
  },
  mode: { expected: `one of: ${MODES.join(', ')}`, parse: (text) => MODES.find((m) => m === text) },
  u64: {
    expected: 'a whole number from 0 to 2^53, a larger one that a double holds, or 2^64 - 1',
    parse: (text) => (/^\d+$/.test(text) ? numberOfUint64(BigInt(text)) : undefined),
  },
  int: {
    expected: 'a whole number',
    parse: (text) => (/^-?\d+$/.test(text) && Number.isSafeInteger(+text) ? +text : undefined),
  },
  double: {
    expected: 'a number',
    parse: (text) => (text !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined),
  },
  seed: {
    expected: 'a whole number from 0 to 2^64 - 1',
    parse: (text) => (/^\d+$/.test(text) && BigInt(text) < SEED_END ? BigInt(text) : undefined),
  },
  bool: { expected: '0 or 1', parse: (text) => FLAGS.get(text) },
};
