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
/** Keys of the texts about the run. */
const TEXTS = [
  ['longhaul', 'longhaul.version'],
  ['runId', 'longhaul.run_id'],
  ['startedAt', 'longhaul.started_at'],
  ['benchmark', 'longhaul.benchmark'],
  ['scenario', 'longhaul.scenario'],
] as const;

/** Keys of a batch's metadata: the part that its rows are of, and how many rows that part has in all. */
export const PART_KEY = 'longhaul.part';
export const PART_ROWS_KEY = 'longhaul.rows_of_part';

const ARROW_TYPES: Readonly<Record<ColumnType, () => DataType>> = {
  uint16: () => new Uint16(),
  uint32: () => new Uint32(),
  int64: () => new Int64(),
  float32: () => new Float32(),
  // The one dictionary of a file has number 0.
  node: () => new Dictionary(new Utf8(), new Int16(), 0),
};

/** Schema of a file with these columns. */
export function recordsSchema(columns: readonly RecordColumn[], about: RecordsAbout): Schema {
  const fields = columns.map(({ name, type, isNullable, about: text }) => {
    const unit: [string, string][] = name.endsWith('_ns') ? [['unit', 'ns']] : [];
    return new Field(name, ARROW_TYPES[type](), isNullable, new Map([['about', text], ...unit]));
  });
  const metadata = new Map<string, string>([
    [VERSION_KEY, String(RECORDS_VERSION)],
    ...TEXTS.map(([field, key]) => [key, about[field]] as const),
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
    const needed = column === undefined ? 'no such column' : String(ARROW_TYPES[column.type]());
    if (column?.name === field.name && String(field.type) === needed) continue;
    throw invalid(path, `column ${field.name} is ${field.type}; it should be ${needed}`);
  }
  for (const { name } of RECORD_COLUMNS.slice(0, -2)) {
    if (!columns.some((column) => column.name === name))
      throw invalid(path, `has no column ${name}`);
  }
  const texts = TEXTS.map(([field, key]) => [field, metadata.get(key) ?? '']);
  const about = {
    ...(Object.fromEntries(texts) as Omit<RecordsAbout, 'nodes'>),
    nodes: readNodes(path, metadata.get(NODES_KEY) ?? ''),
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

function invalid(path: string, text: string): MlperfError {
  return new MlperfError('ERR_CONFIG_INVALID', `${path} ${text}`);
}
