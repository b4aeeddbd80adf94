import {
  type DataType,
  Dictionary,
  Field,
  Float32,
  Int16,
  Int64,
  Schema,
  Uint16,
  Uint32,
  Utf8,
} from 'apache-arrow';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import {
  type ColumnType,
  RECORD_COLUMNS,
  RECORDS_VERSION,
  type RecordColumn,
} from './record-columns.ts';

/** What a file of records says of its run. */
export interface RecordsAbout {
  readonly longhaul: string;
  readonly runId: string;
  readonly startedAt: string;
  readonly benchmark: string;
  readonly scenario: string;
  /** Names of the SUT nodes; `node` of a row is an index into them. */
  readonly nodes: readonly string[];
}

/** Key of the form's version in the metadata of the schema. */
const VERSION_KEY = 'longhaul.records';
const NODES_KEY = 'longhaul.nodes';
const TEXT_KEYS = {
  longhaul: 'longhaul.version',
  runId: 'longhaul.run_id',
  startedAt: 'longhaul.started_at',
  benchmark: 'longhaul.benchmark',
  scenario: 'longhaul.scenario',
} as const;

/** Keys of a batch's metadata: the part that its rows are of, and how many rows that part has in all. */
export const PART_KEY = 'longhaul.part';
export const PART_ROWS_KEY = 'longhaul.rows_of_part';

/** Number of the one dictionary of a file. */
const NODE_DICTIONARY = 0;

/** Schema of a file with these columns. */
export function recordsSchema(columns: readonly RecordColumn[], about: RecordsAbout): Schema {
  const fields = columns.map(({ name, type, isNullable, about: text }) => {
    const unit: [string, string][] = name.endsWith('_ns') ? [['unit', 'ns']] : [];
    return new Field(name, arrowType(type), isNullable, new Map([['about', text], ...unit]));
  });
  const texts = Object.entries(TEXT_KEYS) as [keyof typeof TEXT_KEYS, string][];
  const metadata = new Map([
    [VERSION_KEY, String(RECORDS_VERSION)],
    ...texts.map(([field, key]): [string, string] => [key, about[field]]),
    [NODES_KEY, JSON.stringify(about.nodes)],
  ]);
  return new Schema(fields, metadata);
}

/**
 * Reads a schema back.
 * @param path For the messages.
 * @throws MlperfError `ERR_CONFIG_INVALID` for records of another form, or with columns that are not as they should be.
 */
export function readSchema(
  path: string,
  schema: Schema,
): { readonly about: RecordsAbout; readonly columns: readonly RecordColumn[] } {
  const { metadata, fields } = schema;
  const version = metadata.get(VERSION_KEY);
  if (version === undefined)
    throw invalid(path, 'is an Arrow file, but not of the records of a run');
  if (version !== String(RECORDS_VERSION)) {
    const text = `has records of form ${version}; this longhaul reads form ${RECORDS_VERSION}`;
    throw invalid(path, text);
  }
  const columns = RECORD_COLUMNS.filter(({ name }) => fields.some((field) => field.name === name));
  for (const [i, field] of fields.entries()) {
    const column = columns[i];
    const needed = column === undefined ? 'no such column' : String(arrowType(column.type));
    if (column?.name === field.name && String(field.type) === needed) continue;
    throw invalid(path, `column ${field.name} is ${field.type}; it should be ${needed}`);
  }
  for (const { name } of RECORD_COLUMNS.slice(0, -2)) {
    if (!columns.some((column) => column.name === name))
      throw invalid(path, `has no column ${name}`);
  }
  const text = (key: string): string => metadata.get(key) ?? '';
  const about: RecordsAbout = {
    longhaul: text(TEXT_KEYS.longhaul),
    runId: text(TEXT_KEYS.runId),
    startedAt: text(TEXT_KEYS.startedAt),
    benchmark: text(TEXT_KEYS.benchmark),
    scenario: text(TEXT_KEYS.scenario),
    nodes: readNodes(path, text(NODES_KEY)),
  };
  return { about, columns };
}

function readNodes(path: string, text: string): string[] {
  try {
    const nodes: unknown = JSON.parse(text);
    if (Array.isArray(nodes) && nodes.every((name) => typeof name === 'string')) return nodes;
  } catch {
    // Said below.
  }
  throw invalid(path, `${NODES_KEY} is no list of names`);
}

function arrowType(type: ColumnType): DataType {
  switch (type) {
    case 'uint16':
      return new Uint16();
    case 'uint32':
      return new Uint32();
    case 'int64':
      return new Int64();
    case 'float32':
      return new Float32();
    case 'node':
      return new Dictionary(new Utf8(), new Int16(), NODE_DICTIONARY);
  }
}

function invalid(path: string, text: string): MlperfError {
  return new MlperfError('ERR_CONFIG_INVALID', `${path} ${text}`);
}
