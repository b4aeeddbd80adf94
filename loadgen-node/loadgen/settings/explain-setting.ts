import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import type { VerbResult } from '../../../shared/config/command-line.ts';
import { DEFAULT_ROUND, mlperfConfOf } from '../../../shared/rules/rounds/rounds.ts';
import { parseConf } from './conf-grammar.ts';
import { ExactSettings } from './exact-settings.ts';
import { CONF_KEYS, type ConfKey } from './from-config.ts';
import { SETTINGS_FIELDS, type SettingsField } from './test-settings.ts';

/** What a run makes of a field, where that is more than the field says. */
const EFFECTS: Readonly<Partial<Record<SettingsField['field'], string>>> = {
  minDurationMs:
    'Server: its schedule reaches at least so far; Offline: the query is sized for 1.1 times this time; the streams issue until it has passed',
  minQueryCount:
    'Offline: the fewest samples of its one query; SingleStream with concatenated permutations: rounded up to whole rounds of the set',
  offlineExpectedQps:
    'samples of the query = the larger of min_query_count and 1.1 * min_duration * this rate; below 0 it is an error that is logged, and 1 is used',
  serverTargetQps: 'below 0 it is an error that is logged, and 1 is used',
  singleStreamExpectedLatencyNs:
    'target_qps = 1e9 / this; queries for twice the minimum duration are generated at that rate',
  multiStreamExpectedLatencyNs:
    'target_qps = 1e9 / this; queries for twice the minimum duration are generated at that rate',
  performanceIssueSameIndex: 'an index outside the performance set is an error that is logged',
  test05: 'the mode becomes performance; the three test05 seeds replace the others',
  useTokenLatencies:
    'the bounds on first and further tokens replace target_latency; rounds up to v4.1 read those bounds only from a file that sets this flag too',
};

/**
 * What a setting is, in whatever name one knows it.
 * @param name LoadGen's field or file key, or a flag of `longhaul run`.
 * @throws MlperfError `ERR_CONFIG_INVALID` listing the keys that there are
 */
export function explainSetting(name: string): VerbResult {
  const fields = SETTINGS_FIELDS.filter((field) => isCalled(field, name));
  if (fields.length === 0) {
    const known = [...new Set(CONF_KEYS.map((confKey) => confKey.key))].join(', ');
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
    const isOfScenario = under === 'own' || scenario === '*' || scenario === under;
    return model !== undefined && isOfScenario && key === rest.join('.');
  });
}

function keysOf({ field }: SettingsField): ConfKey[] {
  return CONF_KEYS.filter((key) => key.field === field);
}

/** LoadGen's default; as text, since seeds are larger than what JSON's readers keep. */
function fallbackOf({ field }: SettingsField): string {
  return String(new ExactSettings('Server').get(field).value);
}

function explainJson(field: SettingsField): object {
  const keys = keysOf(field);
  return {
    name: field.name,
    about: field.help,
    effect: EFFECTS[field.field] ?? null,
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
    ['effect', EFFECTS[field.field]],
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

function keyText({ key, under, multiplier, read }: ConfKey): string {
  const scenario = under === 'own' ? '*' : under;
  const where =
    under === 'own' ? 'any scenario' : `looked up under ${under} whatever scenario is run`;
  const units: Readonly<Record<number, string>> = { 1e6: ', in ms', 0.01: ', in percent' };
  const form: Readonly<Record<ConfKey['read'], string>> = {
    u64: ', a whole number (what follows it is cut off: 1.5 is 1, 1e3 is 1)',
    double: ', a number',
    int32: ', a whole number of 32 bits',
    'is-one': ', 1 for yes, anything else for no',
    'is-not-zero': ', 0 for no, anything else for yes',
    mode: ', 0 submission, 1 accuracy, 2 performance, 3 find peak performance',
  };
  return `*.${scenario}.${key}${units[multiplier] ?? ''}${form[read]} (${where})`;
}

function readFrom({ isOfRound, needs, needsAccuracyCount }: ConfKey): string {
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

function linesOfRound({ key, under }: ConfKey): string[] {
  const { entries } = parseConf(mlperfConfOf(DEFAULT_ROUND));
  return [...entries]
    .filter(([name]) => {
      const [scenario, last] = name.split('.').slice(-2);
      return last === key && (under === 'own' || scenario === under || scenario === '*');
    })
    .map(([name, { text }]) => `${name} = ${text}`);
}
