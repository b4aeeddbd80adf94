import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import { type Scenario, TEST_MODES } from '../../shared/domain/scenario.ts';
import type { Round } from '../../shared/rules/rounds/rounds.ts';
import type { ExactValue } from '../loadgen/settings/exact-settings.ts';
import {
  CONF_FIELDS,
  type ConfField,
  type ConfFile,
  type ConfResult,
} from '../loadgen/settings/from-config.ts';
import { loadgenOf } from '../loadgen/settings/loadgen-behaviour.ts';
import { readConfFiles } from '../loadgen/settings/read-conf-files.ts';
import type { TestSettings } from '../loadgen/settings/test-settings.ts';

/** Divisor from a field's unit to the file's unit: ns to ms, fraction to percent. */
const UNITS: Readonly<Record<string, number>> = { ns: 1e6, fraction: 0.01 };

/** Settings that LoadGen reads before user.conf. */
interface ConfBase {
  readonly round: Round;
  readonly model: string;
  /** Undefined: the round's own. */
  readonly mlperfConf?: ConfFile | undefined;
}

/**
 * Seeds: from v5.0 on LoadGen reads them only from its built-in mlperf.conf; a program may set
 * them.
 */
const SEEDS = ['qslRngSeed', 'sampleIndexRngSeed', 'scheduleRngSeed'] as const;

/** Seeds of a run, as decimal texts. */
export type Seeds = Readonly<Record<(typeof SEEDS)[number], string>>;

/**
 * A user.conf with a run's settings for the C++ LoadGen: the lines that differ from the round's
 * mlperf.conf, and the flags that they need.
 * @returns Its text, and the settings that LoadGen will read: a latency without exact decimal
 *   form differs in its last bit. Seeds that no file can set must be passed to LoadGen separately;
 *   undefined if the files have them.
 * @throws MlperfError `ERR_CONFIG_INVALID` listing each setting that no user.conf can set
 */
export function confOfSettings(
  settings: TestSettings,
  { round, model, mlperfConf }: ConfBase,
): {
  readonly text: string;
  readonly settings: TestSettings;
  readonly seeds: Seeds | undefined;
} {
  const { scenario } = settings;
  const ofRound = readConfFiles({ round, model, scenario, mlperfConf }).settings;
  const possible = CONF_FIELDS.filter(
    ({ type, under }) => type !== 'mode' && isOf(under, scenario),
  );
  const others = possible.filter(({ field }) => !isSame(ofRound.get(field).value, settings[field]));
  // Up to v4.1, a token bound is only read from a file that also has its flag.
  const flags = new Set<unknown>(others.map(({ needs }) => needs));
  const isBuiltIn = loadgenOf(round).configFiles === 'built-in';
  const lines = possible
    .filter((field) => others.includes(field) || flags.has(field.field))
    .filter(({ field }) => !(isBuiltIn && isSeed(field)))
    .map(
      (field) =>
        `*.${field.under === '*' ? scenario : field.under}.${field.key} = ${valueText(field, settings)}`,
    );
  const areBeside = isBuiltIn && others.some(({ field }) => isSeed(field));
  const seeds = areBeside
    ? (Object.fromEntries(SEEDS.map((seed) => [seed, String(settings[seed])])) as Seeds)
    : undefined;
  const beside = seeds === undefined ? '' : besideText(seeds);
  const text = `# Settings of the run, as longhaul gives them to the C++ LoadGen.\n${beside}${lines.join('\n')}\n`;
  const selection = { round, model, scenario, mlperfConf };
  const read = readConfFiles({ ...selection, userConf: { name: 'user.conf', text } });
  const { qslRngSeed, sampleIndexRngSeed, scheduleRngSeed } = settings;
  const { mode, scenario: own, serverNumIssueQueryThreads } = settings;
  const said = {
    ...read.settings.toTestSettings(),
    // Settings that no file has are unchanged: LoadGen's caller sets them.
    ...{ mode, scenario: own, serverNumIssueQueryThreads },
    ...(areBeside && { qslRngSeed, sampleIndexRngSeed, scheduleRngSeed }),
  };
  refuseLost(said, settings, read.results);
  return { text, settings: said, seeds };
}

function isSeed(field: string): boolean {
  return (SEEDS as readonly string[]).includes(field);
}

/** Comment for readers: the file is not everything that LoadGen received. */
function besideText({ qslRngSeed, sampleIndexRngSeed, scheduleRngSeed }: Seeds): string {
  return (
    '# No file sets seeds: longhaul set them in the settings that it gave to StartTest. They are not those of the round.\n' +
    `# qsl_rng_seed ${qslRngSeed}, sample_index_rng_seed ${sampleIndexRngSeed}, schedule_rng_seed ${scheduleRngSeed}\n`
  );
}

function isOf(under: ConfField['under'], scenario: Scenario): boolean {
  return under === '*' || under === scenario;
}

function isSame(value: ExactValue, wanted: TestSettings[ConfField['field']]): boolean {
  return typeof value === 'bigint' ? value === BigInt(wanted as number | bigint) : value === wanted;
}

function valueText({ field, type, unit }: ConfField, settings: TestSettings): string {
  const value = settings[field];
  if (type === 'bool') return value === true ? '1' : '0';
  if (type === 'mode') return String(TEST_MODES.indexOf(value as TestSettings['mode']));
  if (type === 'seed') return String(value);
  const inFile = Number(value) / (UNITS[unit] ?? 1);
  return type === 'double' ? String(inFile) : String(Math.round(inFile));
}

/** Relative rounding error of a latency or percentile converted to the file's unit. */
const ROUNDING = 1e-12;

function refuseLost(
  said: TestSettings,
  wanted: TestSettings,
  results: readonly ConfResult[],
): void {
  const lost = CONF_FIELDS.filter(
    ({ field, type, under }) =>
      type !== 'mode' &&
      isOf(under, wanted.scenario) &&
      !isNear(said[field], wanted[field], type === 'double'),
  );
  if (lost.length === 0) return;
  const names = lost.map(
    ({ name, field }) => `${name} ${String(wanted[field])} (LoadGen reads ${String(said[field])})`,
  );
  const notes = results.flatMap((result) => result.notes);
  throw configInvalid(
    [`the C++ LoadGen's user.conf cannot set ${names.join(', ')}`, ...notes].join('\n'),
  );
}

function isNear(said: unknown, wanted: unknown, isDouble: boolean): boolean {
  if (!isDouble || typeof said !== 'number' || typeof wanted !== 'number') return said === wanted;
  return Math.abs(said - wanted) <= ROUNDING * Math.abs(wanted);
}
