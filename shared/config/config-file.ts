import { isMap, isNode, isScalar, isSeq, type YAMLMap } from 'yaml';
import { configFileError, configInvalid } from '../base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readNamedText } from '../base/files/read-file.ts';
import { parseGoodYaml } from '../base/text/yaml-text.ts';

/** A value of a configuration file and where it stands. */
export interface FileValue {
  readonly value: unknown;
  /** `path:line:column`, for messages. */
  readonly place: string;
  /** Places of the values of a list, in order; absent where the value is none. */
  readonly itemPlaces?: readonly string[];
}

/** Sections of a configuration file: verb → key → value. */
export type ConfigFile = ReadonlyMap<string, ReadonlyMap<string, FileValue>>;

/**
 * Reads a configuration file. Only its form is checked here: a map of sections, each a map of keys.
 * @param sections Names that a section may have.
 * @throws MlperfError `ERR_CONFIG_FILE` (cannot be read, is not YAML), `ERR_CONFIG_INVALID` (unknown section)
 */
export function readConfigFile(path: string, sections: readonly string[]): ConfigFile {
  const text = readNamedText(path, FILE_BYTES_MAX.settings);
  return parseConfigFile(path, text, sections);
}

/** See {@link readConfigFile}. @param path Stands in messages only. */
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
    if (!sections.includes(name)) {
      throw configInvalid(`${place}: unknown section "${name}"; there is: ${sections.join(', ')}`);
    }
    const values = new Map<string, FileValue>();
    // A section of which all keys are commented out.
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
