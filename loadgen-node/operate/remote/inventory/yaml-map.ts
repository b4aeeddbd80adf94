import { type Document, isAlias, isMap, isNode, isScalar, isSeq } from 'yaml';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError } from '../../../../shared/base/errors/to-mlperf-error.ts';
import { FILE_BYTES_MAX, readBoundedText } from '../../../../shared/base/files/read-file.ts';
import { parseGoodYaml } from '../../../../shared/base/text/yaml-text.ts';
import type { FileValue } from '../../../../shared/config/config-file.ts';

/** A map of a YAML file: its keys with values and places, and the maps in it. */
export interface YamlMap {
  readonly place: string;
  readonly values: ReadonlyMap<string, FileValue>;
  /** The map at a key; undefined: there is none, or it is no map. */
  mapAt(key: string): YamlMap | undefined;
  /** The maps of the list at a key; what is no map is left out. */
  mapsAt(key: string): readonly YamlMap[];
}

/** @throws MlperfError `ERR_CONFIG_FILE` */
export function readYamlMap(path: string): YamlMap {
  try {
    return parseYamlMap(path, readBoundedText(path, FILE_BYTES_MAX.settings));
  } catch (error) {
    if (error instanceof MlperfError) throw error;
    const why = describeSystemError(error);
    throw new MlperfError('ERR_CONFIG_FILE', `cannot read ${path}: ${why}`, { cause: error });
  }
}

/** See {@link readYamlMap}. @param path Stands in messages only. */
function parseYamlMap(path: string, text: string): YamlMap {
  const { document, placeOf } = parseGoodYaml(path, text);
  const map = new Reader(document, placeOf).mapOf(document.contents);
  if (map !== undefined) return map;
  throw new MlperfError('ERR_CONFIG_FILE', `${path}:1:1: a map of keys is expected here`);
}

class Reader {
  readonly #document: Document;
  readonly #placeOf: (offset: number) => string;

  constructor(document: Document, placeOf: (offset: number) => string) {
    this.#document = document;
    this.#placeOf = placeOf;
  }

  mapOf(node: unknown): YamlMap | undefined {
    const map = this.#resolved(node);
    if (!isMap(map)) return undefined;
    const nodes = new Map<string, unknown>();
    const values = new Map<string, FileValue>();
    for (const { key, value } of map.items) {
      const name = isScalar(key) ? String(key.value) : String(key);
      nodes.set(name, value);
      values.set(name, this.#valueOf(key, value));
    }
    return {
      place: this.#place(map),
      values,
      mapAt: (key) => this.mapOf(nodes.get(key)),
      mapsAt: (key) => {
        const list = this.#resolved(nodes.get(key));
        return isSeq(list) ? list.items.flatMap((item) => this.mapOf(item) ?? []) : [];
      },
    };
  }

  #valueOf(key: unknown, value: unknown): FileValue {
    const list = this.#resolved(value);
    const itemPlaces = isSeq(list)
      ? { itemPlaces: list.items.map((item) => this.#place(item)) }
      : {};
    const plain = isNode(value) ? (value.toJS(this.#document) as unknown) : value;
    return { value: plain, place: this.#place(key), ...itemPlaces };
  }

  #resolved(node: unknown): unknown {
    return isAlias(node) ? node.resolve(this.#document) : node;
  }

  #place(node: unknown): string {
    return this.#placeOf(isNode(node) ? (node.range?.[0] ?? 0) : 0);
  }
}
