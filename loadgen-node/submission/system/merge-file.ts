import { isMap, isScalar } from 'yaml';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { FILE_BYTES_MAX, readBoundedText } from '../../../shared/base/files/read-file.ts';
import { parseGoodYaml } from '../../../shared/base/text/yaml-text.ts';
import { NETWORK_FIELDS, SYSTEM_FIELDS } from '../tree/system-fields.ts';
import { isTodo } from './field-text.ts';

/** Values that a user gives. */
export interface MergeValues {
  /** Field → text; without those that are still to do. */
  readonly values: Readonly<Record<string, string>>;
  /** Where each of them stands: `path:line:column`. */
  readonly places: Readonly<Record<string, string>>;
  /** Keys that no description has, each with its place. */
  readonly unknown: readonly { readonly place: string; readonly key: string }[];
  /** What is wrong with values, each with its place. */
  readonly problems: readonly string[];
}

const KEYS = new Set([...SYSTEM_FIELDS, ...NETWORK_FIELDS].map(({ key }) => key));

/**
 * Reads a user's file of fields, YAML or JSON (which YAML includes): an object of texts. An earlier description is such
 * a file; what is a TODO there is taken as not given. Without a file nothing is given.
 * @throws MlperfError `ERR_CONFIG_FILE` (cannot be read, neither)
 */
export function readMergeFile(path: string | undefined): MergeValues {
  if (path === undefined) return parseMergeFile('', '');
  let text: string;
  try {
    text = readBoundedText(path, FILE_BYTES_MAX.settings);
  } catch (error) {
    const why = describeSystemError(error);
    throw new MlperfError('ERR_CONFIG_FILE', `cannot read ${path}: ${why}`, { cause: error });
  }
  return parseMergeFile(path, text);
}

/** See {@link readMergeFile}. @param path Stands in messages only. */
export function parseMergeFile(path: string, text: string): MergeValues {
  const values: Record<string, string> = {};
  const places: Record<string, string> = {};
  const unknown: { place: string; key: string }[] = [];
  const problems: string[] = [];
  const { document, placeOf } = parseGoodYaml(path, text);
  const root = document.contents;
  // A file with nothing but comments has no contents.
  if (root !== null && !isMap(root)) {
    throw new MlperfError('ERR_CONFIG_FILE', `${path}:1:1: fields with texts are expected here`);
  }
  for (const { key, value } of root?.items ?? []) {
    const place = placeOf(isScalar(key) ? (key.range?.[0] ?? 0) : 0);
    const name = String(key);
    if (!KEYS.has(name)) {
      unknown.push({ place, key: name });
      continue;
    }
    const given = textOf(value);
    const problem = problemOf(name, given);
    if (problem !== undefined) problems.push(`${place}: ${name} ${problem}`);
    if (problem !== undefined || given == null || isTodo(given)) continue;
    values[name] = given;
    places[name] = place;
  }
  return { values, places, unknown, problems };
}

/** A value as one line of text; a number keeps the digits that were written. Null for none; undefined for no text. */
function textOf(value: unknown): string | null | undefined {
  const plain = isScalar(value) ? value.value : value;
  if (plain === null) return null;
  if (typeof plain === 'string') return plain.trim().replace(/\s*\n\s*/g, ' ');
  const isNumber = isScalar(value) && typeof plain === 'number';
  return isNumber ? (value.source ?? String(plain)) : undefined;
}

function problemOf(name: string, given: string | null | undefined): string | undefined {
  const isClean = !/\p{Cc}/u.test(given ?? '');
  if (given !== undefined && isClean) return undefined;
  if (name === 'is_network') return 'must be "True" in quotes';
  return isClean ? 'must be a text' : 'must not hold control characters';
}
