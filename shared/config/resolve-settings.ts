import { isMap, isNode, isScalar, isSeq, type YAMLMap } from 'yaml';
import type { z } from 'zod';
import { configFileError, configInvalid } from '../base/errors/mlperf-error.ts';
import { inOurWords } from '../base/files/json-form.ts';
import { FILE_BYTES_MAX, readNamedText } from '../base/files/read-file.ts';
import { parseGoodYaml } from '../base/files/yaml-text.ts';
import { meantHint } from '../base/text.ts';
import { FLAG_ALIASES } from './flag-names.ts';
import { flagOf, type Setting, type SettingTable, type SettingValues } from './setting.ts';

/** An effective value and its source. */
export interface ResolvedSetting {
  readonly key: string;
  /** The value in file form; undefined if it was not set. */
  readonly raw: unknown;
  /**
   * `flag --target-qps`, `longhaul.yaml:3:5`, `asked of SUT node 10.0.0.2:50051`, `default`, or
   * `not set`.
   */
  readonly source: string;
  /** For a list in a file: the position of each value. */
  readonly itemSources?: readonly string[] | undefined;
}

/** Unknown keys listed one per line: more mean that the file is not ours. */
const UNKNOWN_KEYS_TOLD = 20;

/** Effective settings of a verb, with their sources. */
export interface ResolvedSettings<T extends SettingTable> {
  readonly values: SettingValues<T>;
  readonly settings: readonly ResolvedSetting[];
}

/** Settings with problems: `values` holds only the valid ones. */
interface InspectedSettings<T extends SettingTable> extends ResolvedSettings<T> {
  /** One line per unknown key and wrong value. */
  readonly problems: readonly string[];
  /** One line per required setting that is missing. */
  readonly missing: readonly string[];
}

/** Sources of a verb's settings: flags by key, and the verb's section of the file. */
export interface SettingSources {
  /** Undefined for a verb without a section. */
  readonly section: string | undefined;
  readonly file: ReadonlyMap<string, FileValue> | undefined;
  readonly flags: Readonly<Record<string, string | undefined>>;
  /** Sources of flag values that no user set, by key. */
  readonly asked?: Readonly<Record<string, string>>;
}

/**
 * Joins flags, configuration file and defaults, in that order of precedence, and checks every
 * value.
 * @throws MlperfError `ERR_CONFIG_INVALID` listing all faults, one per line.
 */
export function resolveSettings<T extends SettingTable>(
  table: T,
  sources: SettingSources,
): ResolvedSettings<T> {
  const { values, settings, problems, missing } = inspectSettings(table, sources);
  const all = [...problems, ...missing];
  if (all.length > 0) throw configInvalid(all.join('\n'));
  return { values, settings };
}

/** Like {@link resolveSettings}, without throwing. */
export function inspectSettings<T extends SettingTable>(
  table: T,
  sources: SettingSources,
): InspectedSettings<T> {
  const { section, file } = sources;
  const problems: string[] = [];
  const missing: string[] = [];
  const unknown = [...(file ?? [])].filter(([key]) => !Object.hasOwn(table, key));
  for (const [key, { place }] of unknown.slice(0, UNKNOWN_KEYS_TOLD)) {
    problems.push(unknownKey(table, section, key, place));
  }
  const more = unknown[UNKNOWN_KEYS_TOLD];
  if (more !== undefined) {
    const count = unknown.length - UNKNOWN_KEYS_TOLD;
    problems.push(`${more[1].place}: ${count} more unknown keys from this line on`);
  }
  const values: Record<string, unknown> = {};
  const settings: ResolvedSetting[] = [];
  for (const [key, setting] of Object.entries(table)) {
    const resolved = resolveOne(key, table, sources);
    settings.push(resolved);
    if (resolved.raw === undefined) {
      if (setting.isRequired) missing.push(missingKey(key, section, setting.placeholder));
      continue;
    }
    const checked = setting.schema.safeParse(resolved.raw, { error: inOurWords });
    if (checked.success) values[key] = checked.data;
    else problems.push(...wrongValues(resolved, checked.error.issues));
  }
  return { values: values as SettingValues<T>, settings, problems, missing };
}

function resolveOne(key: string, table: SettingTable, sources: SettingSources): ResolvedSetting {
  const { file, flags, asked } = sources;
  const setting = table[key];
  const flag = flags[key];
  if (flag !== undefined) {
    const raw = setting?.fromFlag(flag);
    const name = flagOf(setting?.flagKey ?? key);
    const source = `flag ${raw === false ? name.replace('--', '--no-') : name}`;
    return { key, raw, source: asked?.[key] ?? source };
  }
  const entry = file?.get(key);
  if (entry !== undefined) {
    const { value, place, itemPlaces } = entry;
    const isOne = typeof value === 'string' || typeof value === 'number';
    const raw = isOne && setting?.readsAsFlag === true ? setting.fromFlag(String(value)) : value;
    return { key, raw, source: place, itemSources: itemPlaces };
  }
  const raw =
    setting?.fallbackFrom?.((other) => resolveOne(other, table, sources).raw) ?? setting?.fallback;
  return { key, raw, source: raw === undefined ? 'not set' : 'default' };
}

/** One line per wrong value of a list; for other settings the first fault. */
function wrongValues(resolved: ResolvedSetting, issues: readonly z.core.$ZodIssue[]): string[] {
  const byItem = new Map(issues.map((issue) => [issue.path[0], issue] as const).reverse());
  const [first] = issues;
  if (first === undefined || typeof first.path[0] !== 'number') return [wrong(resolved, first)];
  return [...byItem.values()].reverse().map((issue) => wrong(resolved, issue));
}

/** The wrong value in a list and its position; for other settings the whole value. */
function wrong(resolved: ResolvedSetting, issue: z.core.$ZodIssue | undefined): string {
  const { key, raw, source, itemSources } = resolved;
  const at = issue?.path[0];
  const isItem = Array.isArray(raw) && typeof at === 'number';
  const value = JSON.stringify(isItem ? raw[at] : raw);
  const place = isItem ? (itemSources?.[at] ?? source) : source;
  const where = place.startsWith('flag ')
    ? `${place.slice('flag '.length)} ${value}`
    : `${place}: ${key}: ${value}`;
  return `${where} ${issue?.message ?? 'is wrong'}`;
}

function missingKey(key: string, section: string | undefined, placeholder: string): string {
  const needed = `${flagOf(key)} <${placeholder}> is needed`;
  if (section === undefined) return needed;
  return `${needed} (or "${key}" under "${section}" in a configuration file)`;
}

function unknownKey(
  table: SettingTable,
  section: string | undefined,
  key: string,
  place: string,
): string {
  const isMeant = ([name, { flagKey }]: [string, Setting<unknown>]): boolean =>
    flagKey === key || FLAG_ALIASES[name]?.includes(flagOf(key)) === true;
  const hint = meantHint(key, Object.keys(table), Object.entries(table).find(isMeant)?.[0]);
  const within = section === undefined ? '' : ` in section "${section}"`;
  return `${place}: unknown key "${key}"${within}; ${hint}`;
}

/** Keys of the settings given by a flag or a file. */
export function saidKeys(settings: readonly ResolvedSetting[]): ReadonlySet<string> {
  const given = settings.filter(({ source }) => source !== 'default' && source !== 'not set');
  return new Set(given.map(({ key }) => key));
}

/** A value of a configuration file and its position. */
export interface FileValue {
  readonly value: unknown;
  /** `path:line:column`, for messages. */
  readonly place: string;
  /** Positions of the values of a list, in order; absent for other values. */
  readonly itemPlaces?: readonly string[];
}

/** Sections of a configuration file: verb → key → value. */
type ConfigFile = ReadonlyMap<string, ReadonlyMap<string, FileValue>>;

/**
 * Reads a configuration file. Only its form is checked here: a map of sections, each a map of keys.
 * @param sections Names that a section may have.
 * @throws MlperfError `ERR_CONFIG_FILE` (cannot be read, is not YAML), `ERR_CONFIG_INVALID`
 *   (unknown section)
 */
export function readConfigFile(path: string, sections: readonly string[]): ConfigFile {
  const text = readNamedText(path, FILE_BYTES_MAX.settings);
  return parseConfigFile(path, text, sections);
}

/** Section of a run's record without settings: it names the C++ LoadGen that issued the queries. */
export const EVIDENCE_SECTION = 'engine';

/** See {@link readConfigFile}. @param path Used in messages only. */
export function parseConfigFile(
  path: string,
  text: string,
  sections: readonly string[],
): ConfigFile {
  const { document, placeOf } = parseGoodYaml(path, text);
  const result = new Map<string, ReadonlyMap<string, FileValue>>();
  if (document.contents === null) return result;
  const root = mapOf(document.contents, `${path}:1:1`, `sections (${sections.join(', ')})`);
  for (const [name, { node, place }] of entriesOf(root, placeOf)) {
    if (name === EVIDENCE_SECTION && isMap(node) && node.has('kind')) continue;
    if (!sections.includes(name)) {
      throw configInvalid(`${place}: unknown section "${name}"; there is: ${sections.join(', ')}`);
    }
    const values = new Map<string, FileValue>();
    // All keys of the section are commented out.
    const keys =
      isScalar(node) && node.value === null ? [] : entriesOf(mapOf(node, place, 'keys'), placeOf);
    for (const [key, entry] of keys) {
      const itemPlaces = itemPlacesOf(entry.node, placeOf);
      values.set(key, { value: toPlain(entry.node), place: entry.place, ...itemPlaces });
    }
    result.set(name, values);
  }
  return result;
}

interface Entry {
  readonly node: unknown;
  readonly place: string;
}

function mapOf(node: unknown, place: string, what: string): YAMLMap {
  if (isMap(node)) return node;
  throw configFileError(`${place}: a map of ${what} is expected here`);
}

function* entriesOf(map: YAMLMap, placeOf: (offset: number) => string): Generator<[string, Entry]> {
  for (const { key, value } of map.items) {
    const offset = isScalar(key) ? (key.range?.[0] ?? 0) : 0;
    yield [
      isScalar(key) ? String(key.value) : String(key),
      { node: value, place: placeOf(offset) },
    ];
  }
}

function itemPlacesOf(
  node: unknown,
  placeOf: (offset: number) => string,
): Pick<FileValue, 'itemPlaces'> {
  if (!isSeq(node)) return {};
  const offsets = node.items.map((item) => (isNode(item) ? item.range?.[0] : undefined));
  return { itemPlaces: offsets.map((offset) => placeOf(offset ?? node.range?.[0] ?? 0)) };
}

function toPlain(node: unknown): unknown {
  if (typeof node === 'object' && node !== null && 'toJSON' in node) {
    return (node as { toJSON(): unknown }).toJSON();
  }
  return node;
}
