import { z } from 'zod';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readJsonFile } from '../../../shared/base/files/read-file.ts';
import { SCENARIOS, TEST_MODES } from '../../../shared/domain/scenario.ts';
import type { Round } from '../../../shared/rules/rounds/rounds.ts';
import { numberOfUint64 } from '../base/c-numbers.ts';
import type { ConfFile } from '../settings/from-config.ts';
import { readConfFiles } from '../settings/read-conf-files.ts';
import {
  defaultTestSettings,
  type FieldType,
  SETTINGS_FIELDS,
  type TestSettings,
} from '../settings/test-settings.ts';

const COUNT_MESSAGE = 'must be a whole number of 1 or more';
const count = z.int(COUNT_MESSAGE).min(1, COUNT_MESSAGE);

/** Sample counts of the library. */
const librarySchema = z.object(
  { total: count, performance: count },
  'must be an object with total and performance',
);

/** Settings by LoadGen's names, as texts: a JSON number would lose digits of 64-bit values. */
const argsSchema = z.record(
  z.string(),
  z.string('must be a text in quotes: JSON numbers lose digits of 64-bit values'),
  'must be an object with the settings as texts',
);

const traceFile = z.object(
  { args: argsSchema, qsl: librarySchema },
  'must be an object with args and qsl',
);

/** Flags of a trace. */
export interface TraceFlags {
  /** JSON file with args and qsl. */
  readonly args?: string;
  readonly scenario?: string;
  readonly mode?: string;
  readonly qslTotal?: number;
  readonly qslPerformance?: number;
  /** LoadGen fields by name. */
  readonly set: Readonly<Record<string, string>>;
  /** Model name to look up in the configuration files. */
  readonly model?: string;
  readonly round: Round;
}

/**
 * Settings and library of a trace. Flags win over the JSON file, and the JSON file over the
 * configuration files.
 * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_CONFIG_FILE`
 */
export function traceInput(flags: TraceFlags, userConf: ConfFile | undefined) {
  const { args, library } = inputOf(flags);
  return { library, ...parseLoadgenArgs(args, baseOf(flags, userConf, args)) };
}

/** Flags win over the file. */
function inputOf(options: TraceFlags) {
  const file =
    options.args === undefined
      ? undefined
      : readJsonFile(options.args, traceFile, FILE_BYTES_MAX.settings);
  const totalSampleCount = options.qslTotal ?? file?.qsl.total;
  const performanceSampleCount = options.qslPerformance ?? file?.qsl.performance;
  if (totalSampleCount === undefined || performanceSampleCount === undefined) {
    const text = '--args FILE, or --qsl-total and --qsl-performance, are needed';
    throw configInvalid(text);
  }
  return {
    args: {
      ...file?.args,
      ...(options.scenario === undefined ? {} : { scenario: options.scenario }),
      ...(options.mode === undefined ? {} : { mode: options.mode }),
      ...options.set,
    },
    library: { totalSampleCount, performanceSampleCount },
  };
}

/** LoadGen's defaults, changed by the configuration files. */
function baseOf(
  { model, round }: TraceFlags,
  userConf: ConfFile | undefined,
  args: z.infer<typeof argsSchema>,
): TestSettings {
  if (userConf === undefined && model === undefined) return defaultTestSettings();
  const { scenario } = parseLoadgenArgs(args).settings;
  const { settings, results } = readConfFiles({
    round,
    model: model ?? '*',
    scenario,
    userConf,
  });
  const problems = results.flatMap((result) => result.problems);
  if (problems.length > 0) throw configInvalid(problems.join('\n'));
  return settings.toTestSettings();
}

/** LoadGen's fields by name (LoadGen: test_settings.h). */
const FIELDS = new Map<string, { readonly field: string; readonly type: keyof typeof FORMS }>([
  ['scenario', { field: 'scenario', type: 'scenario' }],
  ...SETTINGS_FIELDS.map((field) => [field.name, field] as const),
]);

/**
 * Reads settings on top of a base; the default base is LoadGen's defaults.
 * @returns `unknownNames`: names without effect, either misspelt or meant for the harness that
 *   ran the C++ LoadGen.
 * @throws MlperfError `ERR_CONFIG_INVALID` that lists every wrong value, one per line.
 */
export function parseLoadgenArgs(
  args: z.infer<typeof argsSchema>,
  base: TestSettings = defaultTestSettings(),
) {
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
    else values[field.field] = value;
  }
  if (problems.length > 0) throw configInvalid(problems.join('\n'));
  // The base has every field, with the right type.
  return { settings: values as unknown as TestSettings, unknownNames };
}

const SEED_END = 1n << 64n;
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['0', false],
  ['1', true],
  ['false', false],
  ['true', true],
]);

interface Form {
  readonly expected: string;
  /** Undefined if the text has the wrong form. */
  readonly parse: (text: string) => unknown;
}

const FORMS: Readonly<Record<FieldType | 'scenario', Form>> = {
  scenario: {
    expected: `one of: ${SCENARIOS.join(', ')}`,
    parse: (text) => SCENARIOS.find((scenario) => scenario === text),
  },
  mode: {
    expected: `one of: ${TEST_MODES.join(', ')}`,
    parse: (text) => TEST_MODES.find((mode) => mode === text),
  },
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
