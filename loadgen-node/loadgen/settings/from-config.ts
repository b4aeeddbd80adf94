import { firstOf, hasByteOrderMark } from '../../../shared/base/text.ts';
import { SCENARIOS, TEST_MODES } from '../../../shared/domain/scenario.ts';
import { mlperfConfOf, type Round } from '../../../shared/rules/rounds/rounds.ts';
import { parseDouble, parseUint64 } from '../base/c-numbers.ts';
import {
  type ConfEntry,
  type ConfLineNote,
  lookUp,
  type ParsedConf,
  parseConf,
} from './conf-grammar.ts';
import type { ExactSettings, ExactValue } from './exact-settings.ts';
import { type LoadgenBehaviour, loadgenOf } from './loadgen-behaviour.ts';
import { SETTINGS_FIELDS, type SettingsField } from './test-settings.ts';

/** LoadGen's return codes: done, no such file (ENOENT), a wrong line (EINVAL). */
export type ReturnCode = 0 | -2 | -22;

/** A configuration file. */
export interface ConfFile {
  /** Path or name, for messages. */
  readonly name: string;
  /** Its text; null when it cannot be opened. */
  readonly text: string | null;
  /** Why it cannot be opened. */
  readonly obstacle?: string;
}

/** Result of reading one file. */
export interface ConfResult {
  readonly name: string;
  readonly rc: ReturnCode;
  /** LoadGen's messages about the file, in order. */
  readonly events: readonly ConfigEvent[];
  /** Errors for people: file, line, text, and the correct form. */
  readonly problems: readonly string[];
  /** Lines without effect that LoadGen does not report, for people. */
  readonly notes: readonly string[];
}

/**
 * Reads configuration files into settings as the LoadGen of a round does (LoadGen:
 * TestSettings::FromConfig). Holds state that LoadGen keeps for its process, so use one reader per
 * test.
 */
export class ConfReader {
  readonly round: Round;
  readonly #loadgen: LoadgenBehaviour;
  #userFileCount = 0;

  constructor(round: Round) {
    this.round = round;
    this.#loadgen = loadgenOf(round);
  }

  /** Applies the round's own mlperf.conf (LoadGen from v5.0 on: configuration type 0). */
  readRound(settings: ExactSettings, model: string): ConfResult {
    const file = { name: `mlperf.conf of ${this.round}`, text: mlperfConfOf(this.round) };
    return { ...this.#read(settings, file, model, { stage: 'files', isOfRound: true }), notes: [] };
  }

  /**
   * Applies a user's file (type 1). In rounds with a built-in mlperf.conf, the first such file also
   * applies the built-in one; every further file is logged as an error and still applied.
   */
  readUser(settings: ExactSettings, file: ConfFile, model: string): ConfResult {
    const events: ConfigEvent[] = [];
    if (this.#loadgen.configFiles === 'built-in') {
      if (this.#userFileCount === 0) this.readRound(settings, model);
      else events.push(configError('files', MULTIPLE_FILES));
      this.#userFileCount += 1;
    }
    const result = this.#read(settings, file, model, { stage: 'files', isOfRound: false });
    return { ...result, events: [...events, ...result.events] };
  }

  /** Applies audit.config (type 2), for every model. */
  readAudit(settings: ExactSettings, file: ConfFile): ConfResult {
    const found: ConfigEvent = {
      stage: 'audit',
      kind: 'warning',
      key: 'warning_generic_message',
      text: `Found Audit Config file (${file.name}). Overriding TestSettings from audit.config file.`,
    };
    const result = this.#read(settings, file, '*', { stage: 'audit', isOfRound: false });
    return { ...result, events: [found, ...result.events] };
  }

  #read(
    settings: ExactSettings,
    file: ConfFile,
    model: string,
    { stage, isOfRound }: { stage: ConfigEvent['stage']; isOfRound: boolean },
  ): ConfResult {
    const { name, text } = file;
    if (text === null) {
      const events = [configError(stage, `can't open file ${name}`)];
      return {
        name,
        rc: -2,
        events,
        problems: [`cannot read ${name}: ${file.obstacle ?? 'it cannot be opened'}`],
        notes: [],
      };
    }
    const conf = parseConf(text);
    const notes = [
      ...[...conf.notes, ...notesOnKeys(conf, this.#loadgen)].map(
        ({ line, explanation }) => `${name}:${line}: ${explanation}`,
      ),
      ...(isOfRound ? [] : notesOnModels(conf, { name, model, round: this.round })),
    ];
    if (conf.errors.length > 0) {
      const events = conf.errors.map((error) => configError(stage, error.loadgenText));
      const problems = conf.errors.map((error) => `${name}:${error.line}: ${error.explanation}`);
      return { name, rc: -22, events, problems, notes };
    }
    const flagsOfFile = new Set<string>();
    const events: ConfigEvent[] = [];
    for (const field of CONF_FIELDS.filter((one) => this.#isRead(one, isOfRound))) {
      const scenario = field.under === '*' ? settings.scenario : field.under;
      const entry = lookUp(conf, model, scenario, field.key);
      if (entry === undefined) continue;
      if (!this.#hasFlag(field, settings, flagsOfFile)) {
        notes.push(...this.#withoutFlag(field, settings, `${name}:${entry.line}`));
        continue;
      }
      notes.push(...noteOnFraction(field, entry, `${name}:${entry.line}`));
      const value = readValue(field, entry.text);
      if (value === undefined) {
        events.push(configError(stage, 'Invalid value passed to Mode key in config.'));
        notes.push(
          `${name}:${entry.line}: mode ${entry.text} is unknown: 0 submission, 1 accuracy, 2 performance, 3 find peak`,
        );
        continue;
      }
      settings.set(field.field, value, `${name}:${entry.line}`);
      if (value === true) flagsOfFile.add(field.field);
    }
    return { name, rc: 0, events, problems: [], notes };
  }

  #isRead(field: ConfField, isOfRound: boolean): boolean {
    const { configFiles, knowsAccuracySampleCount } = this.#loadgen;
    if (field.isOfRound && configFiles === 'built-in' && !isOfRound) return false;
    return !field.needsAccuracyCount || knowsAccuracySampleCount;
  }

  /** Plain files: the flag must be in the same file. Later LoadGens: it must be on by now. */
  #hasFlag({ needs }: ConfField, settings: ExactSettings, ofFile: ReadonlySet<string>): boolean {
    if (needs === undefined) return true;
    if (this.#loadgen.configFiles === 'plain') return ofFile.has(needs);
    return settings.get(needs).value === true;
  }

  /** @returns No note for a line of another scenario, whose flag is not looked up. */
  #withoutFlag(
    { key, under, needs }: ConfField,
    { scenario }: ExactSettings,
    at: string,
  ): string[] {
    if (under !== '*' && under !== scenario) return [];
    const { configFiles, version } = this.#loadgen;
    const flag = CONF_FIELDS.find(({ field }) => field === needs)?.key;
    const where = configFiles === 'plain' ? 'in a file that sets' : 'behind a line that sets';
    return [`${at}: "${key}" has no effect: LoadGen ${version} reads it only ${where} ${flag} = 1`];
  }
}

const MULTIPLE_FILES = 'Multiple conf files are used. This is not valid for official submission.';

/** Factor from the unit in files to that of the field: ms to ns, percent to fraction. */
const MULTIPLIERS: Readonly<Record<string, number>> = { ns: 1e6, fraction: 0.01 };

/** @returns undefined for a mode that does not exist. */
function readValue({ type, unit, needsOne }: ConfField, text: string): ExactValue | undefined {
  const multiplier = MULTIPLIERS[unit] ?? 1;
  if (type === 'double') return parseDouble(text).value * multiplier;
  const value = BigInt.asUintN(64, parseUint64(text).value * BigInt(multiplier));
  switch (type) {
    case 'u64':
    case 'seed':
      return value;
    case 'int':
      // Converted via int to an unsigned field: -1 and 2^31 become larger than any count.
      return BigInt.asUintN(64, BigInt.asIntN(32, value));
    case 'bool':
      return needsOne ? value === 1n : value !== 0n;
    case 'mode':
      return TEST_MODES[Number(value)];
  }
}

/**
 * Note on a cut number: LoadGen reads an integer only up to the first other character, so 0.015 is
 * 0 and 1e3 is 1.
 */
function noteOnFraction({ key, type, unit }: ConfField, { text }: ConfEntry, at: string): string[] {
  if (type === 'double' || parseUint64(text).length === text.length) return [];
  const isTime = unit === 'ns' || unit === 'ms';
  const read = parseUint64(text).value;
  const ms = parseDouble(text).value * 1e3;
  const inSeconds = isTime && read === 0n && ms >= 1 ? `; ${text} s would be ${ms}` : '';
  return [
    `${at}: ${key} = ${text}: LoadGen takes a whole number${isTime ? ' of ms' : ''}, and reads ${read}${inSeconds}`,
  ];
}

/** A model's name without differences of spelling. */
function plainName(model: string): string {
  return model.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** Models in the mlperf.conf of a round, and `*`. */
export function confModels(round: Round): Set<string> {
  const keys = parseConf(mlperfConfOf(round)).entries.keys();
  return new Set([...[...keys].map(modelOf), '*']);
}

/** Model of a key. A model name may contain dots: scenario and key are the last two parts. */
function modelOf(fullKey: string): string {
  return fullKey.split('.').slice(0, -2).join('.');
}

/** Notes on lines for another spelling of the model, and on files without any line for it. */
function notesOnModels(
  conf: ParsedConf,
  { name, model, round }: { readonly name: string; readonly model: string; readonly round: Round },
): string[] {
  const lines = [...conf.entries].map(([key, { line }]) => ({ key, line, of: modelOf(key) }));
  const named = lines.filter(({ of }) => of !== '' && !hasByteOrderMark(of));
  const others = named.filter(({ of }) => of !== '*' && of !== model);
  if (others.length > 0 && others.length === named.length) {
    const models = firstOf([...new Set(others.map(({ of }) => of))], 5);
    // audit.config applies to every model.
    const whom = model === '*' ? 'every model (*)' : `model ${model}`;
    return [`no line of ${name} applies to ${whom}; it has lines for ${models}`];
  }
  if (model === '*') return [];
  const known = confModels(round);
  const own = plainName(model);
  return others
    .filter(({ of }) => !known.has(of) && plainName(of) !== '')
    .filter(({ of }) => own.startsWith(plainName(of)) || plainName(of).startsWith(own))
    .map(
      ({ key, line, of }) =>
        `${name}:${line}: "${key}" has no effect on model ${model}: it is for ${of}`,
    );
}

function configError(stage: ConfigEvent['stage'], text: string): ConfigEvent {
  return { stage, kind: 'error', key: 'error_invalid_config', text };
}

/** Keys that LoadGen silently ignores: unknown, or not read from this file. */
function notesOnKeys(conf: ParsedConf, loadgen: LoadgenBehaviour): ConfLineNote[] {
  const notes: ConfLineNote[] = [];
  for (const [key, { line }] of conf.entries) {
    const explanation = noteOnKey(key, loadgen);
    if (explanation !== undefined) notes.push({ line, explanation });
  }
  return notes;
}

function noteOnKey(fullKey: string, loadgen: LoadgenBehaviour): string | undefined {
  const parts = fullKey.split('.');
  const [scenario, key] = parts.slice(-2);
  if (parts.length < 3 || key === undefined || scenario === undefined) {
    return `"${fullKey}" has no effect: a key has the form model.scenario.key, as *.Server.target_qps`;
  }
  if (scenario !== '*' && !(SCENARIOS as readonly string[]).includes(scenario)) {
    return `"${fullKey}" has no effect: "${scenario}" is not one of ${SCENARIOS.join(', ')}, *`;
  }
  if (UNREAD_KEYS.includes(key)) return undefined;
  const known = CONF_FIELDS.filter((field) => field.key === key);
  if (known.length === 0) return `"${fullKey}" has no effect: LoadGen has no key "${key}"`;
  if (known.some(({ isOfRound }) => isOfRound) && loadgen.configFiles === 'built-in') {
    return `"${fullKey}" has no effect: only the round's own mlperf.conf sets ${key}`;
  }
  if (
    known.some(({ needsAccuracyCount }) => needsAccuracyCount) &&
    !loadgen.knowsAccuracySampleCount
  ) {
    return `"${fullKey}" has no effect: LoadGen ${loadgen.version} does not read ${key}`;
  }
  return undefined;
}

/** A message for the detail log about a configuration file, in LoadGen's words. */
export interface ConfigEvent {
  /**
   * `files`: before the test (LoadGen: FromConfig of the harness), logged before everything else;
   * `audit`: in the test, from audit.config and test05, logged before the requested settings.
   */
  readonly stage: 'files' | 'audit';
  readonly kind: 'error' | 'warning';
  /** Key of the line: `error_invalid_config`, `warning_generic_message`. */
  readonly key: string;
  readonly text: string;
}

/** A field that configuration files set. */
export type ConfField = SettingsField & { readonly key: string };

/** These fields, each flag before the fields that need it (LoadGen: TestSettings::FromConfig). */
export const CONF_FIELDS: readonly ConfField[] = SETTINGS_FIELDS.filter(
  (field): field is ConfField => field.key !== null,
);

/** Keys in official files that no LoadGen reads. */
const UNREAD_KEYS: readonly string[] = [
  'target_duration',
  'test07_accuracy_threshold',
  'test09_min_output_tokens',
  'test09_max_output_tokens',
];
