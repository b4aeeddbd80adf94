import type { FileHandle } from 'node:fs/promises';
import {
  type DataType,
  Dictionary,
  Field,
  Float32,
  Int16,
  Int64,
  Message,
  MessageHeader,
  Schema,
  Uint16,
  Uint32,
  Utf8,
} from 'apache-arrow';
import { z } from 'zod';
import { configInvalid, type MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { LogHistogram } from '../../loadgen/recorder/log-histogram.ts';
import { gapHistogram } from '../../loadgen/recorder/token-gaps.ts';
import {
  type ColumnType,
  RECORD_COLUMNS,
  RECORDS_VERSION,
  type RecordColumn,
} from './sample-records.ts';

/** Facts of the run in the metadata of its records. */
export interface RecordsAbout {
  readonly longhaul: string;
  readonly runId: string;
  readonly startedAt: string;
  readonly benchmark: string;
  readonly scenario: string;
  /** Names of the SUT nodes; the `node` column is an index into them. */
  readonly nodes: readonly string[];
  /** The user's labels of the run; absent without any. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Metadata key of the format version, in the schema. */
const VERSION_KEY = 'longhaul.records';
const NODES_KEY = 'longhaul.nodes';
const LABELS_KEY = 'longhaul.labels';
/** Keys of the texts about the run. */
const TEXTS = [
  ['longhaul', 'longhaul.version'],
  ['runId', 'longhaul.run_id'],
  ['startedAt', 'longhaul.started_at'],
  ['benchmark', 'longhaul.benchmark'],
  ['scenario', 'longhaul.scenario'],
] as const;

/** Metadata keys of a batch: the part of its rows, and the total number of rows in that part. */
export const PART_KEY = 'longhaul.part';
export const PART_ROWS_KEY = 'longhaul.rows_of_part';

/**
 * Metadata key in the first batch of a part: all times between tokens, as {@link writeGaps}, if
 * measured.
 */
export const GAPS_KEY = 'longhaul.token_gaps';

const GAPS = z.strictObject({
  sumNs: z.number(),
  largestNs: z.number(),
  /** Pairs of bucket number and count. */
  buckets: z.array(z.tuple([z.int().min(0), z.number().positive()])),
});

/** A histogram of gaps, as text. */
export function writeGaps({ sumNs, largestNs, counts }: LogHistogram): string {
  const buckets = [...counts.entries()].filter(([, count]) => count > 0);
  return JSON.stringify({ sumNs, largestNs, buckets } satisfies z.infer<typeof GAPS>);
}

/** @throws RangeError if the text is not a gap histogram. */
export function readGaps(text: string): LogHistogram {
  const gaps = gapHistogram();
  let read: ReturnType<typeof GAPS.safeParse>;
  try {
    read = GAPS.safeParse(JSON.parse(text));
  } catch {
    throw new RangeError(`${GAPS_KEY} is not JSON`);
  }
  const isKnown = read.data?.buckets.every(([bucket]) => bucket < gaps.counts.length) === true;
  if (read.data === undefined || !isKnown) throw new RangeError(`${GAPS_KEY} is not a histogram`);
  for (const [bucket, count] of read.data.buckets) {
    gaps.counts[bucket] = count;
    gaps.count += count;
  }
  gaps.sumNs = read.data.sumNs;
  gaps.largestNs = read.data.largestNs;
  return gaps;
}

/** Number of token columns, the last ones; absent in a file without tokens. */
const TOKEN_COLUMN_COUNT = 4;

const ARROW_TYPES: Readonly<Record<ColumnType, () => DataType>> = {
  uint16: () => new Uint16(),
  uint32: () => new Uint32(),
  int64: () => new Int64(),
  float32: () => new Float32(),
  // The only dictionary of a file has number 0.
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
  const labels = about.labels ?? {};
  if (Object.keys(labels).length > 0) metadata.set(LABELS_KEY, JSON.stringify(labels));
  return new Schema(fields, metadata);
}

/**
 * Parses a schema.
 * @param path Path for messages.
 * @throws MlperfError `ERR_CONFIG_INVALID` for records of another format, or with unexpected
 *   columns.
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
  for (const { name } of RECORD_COLUMNS.slice(0, -TOKEN_COLUMN_COUNT)) {
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
    // Reported below.
  }
  throw invalid(path, `${NODES_KEY} is not a list of names`);
}

function invalid(path: string, text: string): MlperfError {
  return configInvalid(`${path} ${text}`);
}

/** `ARROW1` and two bytes of padding: the beginning of an Arrow file. */
const MAGIC = 'ARROW1';
const MAGIC_BYTES = 8;
/** Marker and length before the metadata of a message. */
const PREFIX_BYTES = 8;
const MARK = -1;
/** Largest metadata of one message; ours have a few KB. */
const METADATA_BYTES_MAX = 1 << 24;

/** A message of an Arrow file: its position and its number of rows. */
export interface Frame {
  readonly at: number;
  readonly byteLength: number;
  readonly rowCount: number;
  /** For a batch: part of the run, and the part's total rows. */
  readonly part: number;
  readonly rowsOfPart: number;
}

/**
 * Walks through the messages of an Arrow file from its beginning, without its index, which a
 * truncated file lacks.
 * @returns Null if it is not an Arrow file.
 * @throws RangeError with the byte at which the file is damaged.
 */
export async function walkFrames(file: FileHandle): Promise<Frames | null> {
  const { size } = await file.stat();
  if (!(await hasMagicAtBegin(file, size))) return null;
  const found = new Map<MessageHeader, Frame[]>();
  const frames = (end: 'whole' | 'cut' | 'cut-index', cutBatch: Frame | null = null) => ({
    schema: found.get(MessageHeader.Schema)?.[0] ?? null,
    dictionaries: found.get(MessageHeader.DictionaryBatch) ?? [],
    batches: found.get(MessageHeader.RecordBatch) ?? [],
    /** The truncated batch, if its head is complete. */
    cutBatch,
    /**
     * `cut`: the file ends between or within its messages; `cut-index`: within the index after
     * them. Blocks before this byte are complete.
     */
    end,
  });
  for (let at = MAGIC_BYTES; ; ) {
    const message = await messageAt(file, at, size);
    if (message === 'cut') return frames('cut');
    if (message === 'end') return frames((await hasMagicAtEnd(file, size)) ? 'whole' : 'cut-index');
    const { frame, type } = message;
    if (at + frame.byteLength > size) {
      return frames('cut', type === MessageHeader.RecordBatch ? frame : null);
    }
    found.set(type, [...(found.get(type) ?? []), frame]);
    at += frame.byteLength;
  }
}

/** The messages of a file, in order. */
export interface Frames {
  readonly schema: Frame | null;
  readonly dictionaries: readonly Frame[];
  readonly batches: readonly Frame[];
  /** The truncated batch, if its head is complete. */
  readonly cutBatch: Frame | null;
  /**
   * `cut`: the file ends between or within its messages; `cut-index`: within the index after them.
   * Blocks before this byte are complete.
   */
  readonly end: 'whole' | 'cut' | 'cut-index';
}

async function messageAt(
  file: FileHandle,
  at: number,
  size: number,
): Promise<{ readonly frame: Frame; readonly type: MessageHeader } | 'cut' | 'end'> {
  if (at + PREFIX_BYTES > size) return 'cut';
  const prefix = await readAt(file, at, PREFIX_BYTES);
  const metadataBytes = prefix.readInt32LE(4);
  if (prefix.readInt32LE(0) !== MARK || metadataBytes < 0 || metadataBytes > METADATA_BYTES_MAX) {
    throw damagedAt(at);
  }
  if (metadataBytes === 0) return 'end';
  if (at + PREFIX_BYTES + metadataBytes > size) return 'cut';
  const message = decode(await readAt(file, at + PREFIX_BYTES, metadataBytes), at);
  const byteLength = PREFIX_BYTES + metadataBytes + message.bodyLength;
  const part = Number(message.metadata.get(PART_KEY) ?? 0);
  const rowsOfPart = Number(message.metadata.get(PART_ROWS_KEY) ?? 0);
  const rowCount = message.isRecordBatch() ? message.header().length : 0;
  return { frame: { at, byteLength, rowCount, part, rowsOfPart }, type: message.headerType };
}

function decode(bytes: Uint8Array, at: number): Message {
  let message: Message;
  try {
    message = Message.decode(bytes);
    if (message.bodyLength >= 0 && Number.isSafeInteger(message.bodyLength)) return message;
  } catch {
    // Reported below.
  }
  throw damagedAt(at);
}

/** True also for a file that was truncated within the magic bytes. */
async function hasMagicAtBegin(file: FileHandle, size: number): Promise<boolean> {
  const begin = await readAt(file, 0, Math.min(size, MAGIC.length));
  return begin.length > 0 && MAGIC.startsWith(begin.toString('latin1'));
}

async function hasMagicAtEnd(file: FileHandle, size: number): Promise<boolean> {
  const end = await readAt(file, size - MAGIC.length, MAGIC.length);
  return end.toString('latin1') === MAGIC;
}

/** Reads `byteLength` bytes; the caller has checked that they exist. */
export async function readAt(file: FileHandle, at: number, byteLength: number): Promise<Buffer> {
  const buffer = Buffer.alloc(byteLength);
  let count = 0;
  while (count < byteLength) {
    const { bytesRead } = await file.read(buffer, count, byteLength - count, at + count);
    if (bytesRead === 0) throw new RangeError(`it ended at byte ${at + count} while it was read`);
    count += bytesRead;
  }
  return buffer;
}

function damagedAt(at: number): RangeError {
  return new RangeError(`it is damaged at byte ${at}`);
}
