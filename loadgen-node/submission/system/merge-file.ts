import { isMap, isScalar, type Scalar, type YAMLMap } from 'yaml';
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
 * a file; what is a TODO there is taken as not given.
 * @throws MlperfError `ERR_CONFIG_FILE` (cannot be read, neither)
 */
export function readMergeFile(path: string): MergeValues {
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
  const { document, placeOf } = parseGoodYaml(path, text);
  const root = document.contents;
  // A file with nothing but comments.
  if (root === null) return { values: {}, places: {}, unknown: [], problems: [] };
  if (!isMap(root)) {
    throw new MlperfError('ERR_CONFIG_FILE', `${path}:1:1: fields with texts are expected here`);
  }
  return readFields(root, placeOf);
}

function readFields(root: YAMLMap, placeOf: (offset: number) => string): MergeValues {
  const values: Record<string, string> = {};
  const places: Record<string, string> = {};
  const unknown: { place: string; key: string }[] = [];
  const problems: string[] = [];
  for (const { key, value } of root.items) {
    const place = placeOf(isScalar(key) ? (key.range?.[0] ?? 0) : 0);
    const name = isScalar(key) ? String(key.value) : String(key);
    const given = KEYS.has(name) ? textOf(value) : undefined;
    if (!KEYS.has(name)) unknown.push({ place, key: name });
    else if (typeof given === 'object') problems.push(problemOf(`${place}: ${name}`, given));
    else if (given !== undefined && !isTodo(given)) {
      values[name] = given;
      places[name] = place;
    }
  }
  return { values, places, unknown, problems };
}

/** Why a value is no text that can be taken. */
interface WrongValue {
  readonly problem: string;
}

function problemOf(where: string, { problem }: WrongValue): string {
  return `${where} ${where.endsWith(': is_network') ? 'must be "True" in quotes' : problem}`;
}

/** Undefined for a key without a value. */
function textOf(value: unknown): string | WrongValue | undefined {
  if (value === null || (isScalar(value) && value.value === null)) return undefined;
  if (isScalar(value) && typeof value.value === 'string') return oneLine(value.value);
  // A number keeps the digits that were written.
  if (isScalar(value) && typeof value.value === 'number') return sourceOf(value);
  return { problem: 'must be a text' };
}

function sourceOf(scalar: Scalar): string {
  return scalar.source ?? String(scalar.value);
}

function oneLine(text: string): string | WrongValue {
  const line = text.trim().replace(/\s*\n\s*/g, ' ');
  return /\p{Cc}/u.test(line) ? { problem: 'must not hold control characters' } : line;
}
