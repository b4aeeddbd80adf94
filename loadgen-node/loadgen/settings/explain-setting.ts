import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import type { VerbResult } from '../../../shared/config/command-line.ts';
import { DEFAULT_ROUND, mlperfConfOf } from '../../../shared/rules/rounds/rounds.ts';
import { parseConf } from './conf-grammar.ts';
import { ExactSettings } from './exact-settings.ts';
import { CONF_FIELDS, type ConfField } from './from-config.ts';
import { SETTINGS_FIELDS, type SettingsField } from './test-settings.ts';

/**
 * Explains a setting by any of its names.
 * @param name LoadGen's field or file key, or a flag of `longhaul run`.
 * @throws MlperfError `ERR_CONFIG_INVALID` listing the known keys
 */
export function explainSetting(name: string): VerbResult {
  const fields = SETTINGS_FIELDS.filter((field) => isCalled(field, name));
  if (fields.length === 0) {
    const known = [...new Set(CONF_FIELDS.map(({ key }) => key))].join(', ');
    const message = `unknown setting "${name}"; the keys of LoadGen's files are: ${known}`;
    throw configInvalid(message);
  }
  const json = { key: name, settings: fields.map(explainJson) };
  return { text: fields.map(explain).join('\n'), json };
}

function isCalled(field: SettingsField, word: string): boolean {
  if ([field.name, field.field].includes(word)) return true;
  if (field.flag?.split(' ')[0] === word) return true;
  const [model, scenario, ...rest] = word.split('.');
  return keysOf(field).some(({ key, under }) => {
    if (key === word) return true;
    const isOfScenario = under === '*' || scenario === '*' || scenario === under;
    return model !== undefined && isOfScenario && key === rest.join('.');
  });
}

/** Keys that set the field, or the field itself if no file sets it. */
function keysOf({ field }: SettingsField): ConfField[] {
  return CONF_FIELDS.filter((one) => one.field === field);
}

/** LoadGen's default, as text: seeds exceed what JSON readers can hold. */
function fallbackOf({ field }: SettingsField): string {
  return String(new ExactSettings('Server').get(field).value);
}

function explainJson(field: SettingsField): object {
  const keys = keysOf(field);
  return {
    name: field.name,
    about: field.help,
    effect: field.effect ?? null,
    unit: field.unit === '' ? null : field.unit,
    default: fallbackOf(field),
    fileKeys: keys.map((key) => ({ key: key.key, form: keyText(key), readFrom: readFrom(key) })),
    round: DEFAULT_ROUND,
    linesOfRound: keys.flatMap(linesOfRound),
    flag: field.flag ?? null,
  };
}

function explain(field: SettingsField): string {
  const keys = keysOf(field);
  const fallback = fallbackOf(field);
  const rows: [string, string | undefined][] = [
    ['what', field.help],
    ['effect', field.effect],
    ['unit', field.unit === '' ? undefined : field.unit],
    ['default', `${fallback} (LoadGen's, before any file)`],
    ['file key', keys.map(keyText).join('; ') || 'none: no file of LoadGen sets it'],
    ['read from', keys.map(readFrom).join('; ') || undefined],
    [`round ${DEFAULT_ROUND}`, keys.flatMap(linesOfRound).join('\n') || undefined],
    ['flag', field.flag === undefined ? undefined : `longhaul run ${field.flag}`],
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  const lines = rows.flatMap(([label, text]) =>
    (text?.split('\n') ?? []).map(
      (line, i) => `  ${(i === 0 ? label : '').padEnd(width)}  ${line}\n`,
    ),
  );
  return `${field.name}\n${lines.join('')}`;
}

const UNITS: Readonly<Record<string, string>> = { ns: ', in ms', fraction: ', in percent' };

const WHOLE = 'a whole number (what follows it is cut off: 1.5 is 1, 1e3 is 1)';

const FORMS: Readonly<Record<SettingsField['type'], string>> = {
  u64: WHOLE,
  seed: WHOLE,
  double: 'a number',
  int: 'a whole number of 32 bits',
  bool: '0 for no, anything else for yes',
  mode: '0 submission, 1 accuracy, 2 performance, 3 find peak performance',
};

function keyText({ key, under, unit, type, needsOne }: ConfField): string {
  const where =
    under === '*' ? 'any scenario' : `looked up under ${under} whatever scenario is run`;
  const form = needsOne ? '1 for yes, anything else for no' : FORMS[type];
  return `*.${under}.${key}${UNITS[unit] ?? ''}, ${form} (${where})`;
}

function readFrom({ isOfRound, needs, needsAccuracyCount }: ConfField): string {
  const flag = SETTINGS_FIELDS.find(({ field }) => field === needs)?.name;
  const parts = [
    isOfRound
      ? "any file up to round v4.1; from v5.0 on only the round's own mlperf.conf"
      : 'mlperf.conf, user.conf, audit.config',
  ];
  if (flag !== undefined) parts.push(`only where ${flag} is 1 (up to v4.1: in the same file)`);
  if (needsAccuracyCount) parts.push('rounds v6.0 and later');
  return parts.join(', ');
}

function linesOfRound({ key, under }: ConfField): string[] {
  const { entries } = parseConf(mlperfConfOf(DEFAULT_ROUND));
  return [...entries]
    .filter(([name]) => {
      const [scenario, last] = name.split('.').slice(-2);
      return last === key && (under === '*' || scenario === under || scenario === '*');
    })
    .map(([name, { text }]) => `${name} = ${text}`);
}
