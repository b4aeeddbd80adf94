import { type FileHandle, open } from 'node:fs/promises';
import { type Data, type RecordBatch, RecordBatchReader } from 'apache-arrow';
import {
  describeSystemError,
  errorCodeOf,
  MlperfError,
} from '../../../shared/base/errors/mlperf-error.ts';
import { csvField, rounded } from '../../../shared/base/text.ts';
import {
  type Frame,
  type Frames,
  GAPS_KEY,
  type RecordsAbout,
  readAt,
  readGaps,
  readSchema,
  walkFrames,
} from './arrow-schema.ts';
import {
  type ColumnArray,
  copyRecords,
  type RecordColumn,
  type SampleRecords,
  tableFor,
} from './sample-records.ts';

const TWO_POW_32 = 2 ** 32;

/** The rows of one part of a run in a file. */
export interface PartOfFile {
  readonly part: number;
  /** Readable rows. */
  readonly rowCount: number;
  /** Total rows of the part. */
  readonly rowsInAll: number;
}

/**
 * A file of records, open for reading. A truncated file is read up to its last complete block. Only
 * one block is in memory, except in {@link readAll}.
 */
export class RecordsReader {
  readonly path: string;
  readonly about: RecordsAbout;
  readonly columns: readonly RecordColumn[];
  readonly parts: readonly PartOfFile[];
  /** Readable rows. */
  readonly rowCount: number;
  /** Text on the missing rows; null for a complete file. */
  readonly cut: string | null;
  readonly #file: FileHandle;
  readonly #frames: Frames;
  /** Schema and dictionaries, needed to decode any block. */
  readonly #head: Uint8Array;

  private constructor(
    file: FileHandle,
    { path, frames, head }: { path: string; frames: Frames; head: Uint8Array },
  ) {
    this.path = path;
    this.#file = file;
    this.#frames = frames;
    this.#head = head;
    const reader = RecordBatchReader.from([head]).open();
    const { about, columns } = readSchema(path, reader.schema);
    this.about = about;
    this.columns = columns;
    this.parts = partsOf(frames);
    this.rowCount = this.parts.reduce((sum, { rowCount }) => sum + rowCount, 0);
    this.cut = frames.end === 'whole' ? null : cutText(this.parts, frames.end);
  }

  /**
   * Opens a file and scans its blocks once, without reading their rows.
   * @throws MlperfError `ERR_CONFIG_FILE` (cannot be read, not an Arrow file, truncated before
   *   its first block, damaged), `ERR_CONFIG_INVALID` (no records, or another format)
   */
  static async open(path: string): Promise<RecordsReader> {
    const file = await openFile(path);
    try {
      const frames = await walkFrames(file);
      if (frames === null) throw unreadable(path, await whyNoArrow(file));
      const { schema, dictionaries } = frames;
      if (schema === null) throw unreadable(path, 'it was cut before its first record');
      const heads = [schema, ...dictionaries].map((frame) =>
        readAt(file, frame.at, frame.byteLength),
      );
      const head = Buffer.concat(await Promise.all(heads));
      return new RecordsReader(file, { path, frames, head });
    } catch (error) {
      await file.close();
      throw error instanceof MlperfError ? error : unreadable(path, error);
    }
  }

  /**
   * Reads block by block.
   * @param parts Parts to read. Default: all.
   * @throws MlperfError `ERR_CONFIG_FILE`
   */
  async *blocks(parts?: readonly number[]): AsyncGenerator<SampleRecords> {
    for (const frame of this.#frames.batches) {
      if (parts !== undefined && !parts.includes(frame.part)) continue;
      yield await this.#block(frame);
    }
  }

  /**
   * Reads all rows of these parts into one table: at least 76 bytes per row.
   * @throws MlperfError `ERR_CONFIG_FILE`
   */
  async readAll(parts?: readonly number[]): Promise<SampleRecords> {
    const wanted = this.parts.filter(({ part }) => parts === undefined || parts.includes(part));
    const rowCount = wanted.reduce((sum, { rowCount: ofPart }) => sum + ofPart, 0);
    const records = tableFor(rowCount, this.columns);
    let at = 0;
    for await (const block of this.blocks(parts)) {
      copyRecords(records, at, block);
      at += block.rowCount;
    }
    return records;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #block({ at, byteLength }: Frame): Promise<SampleRecords> {
    try {
      const bytes = await readAt(this.#file, at, byteLength);
      const [batch] = [...RecordBatchReader.from([this.#head, bytes])];
      if (batch !== undefined) return decodeBatch(batch, this.columns);
    } catch (error) {
      if (errorCodeOf(error) !== undefined) throw unreadable(this.path, error);
      // Otherwise the package could not read the bytes.
    }
    throw unreadable(this.path, `it is damaged in the block at byte ${at}`);
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    throw unreadable(path, error);
  }
}

/**
 * Why the file is not an Arrow file. An empty one belongs to a killed run: a run opens the file
 * before its first query.
 */
async function whyNoArrow(file: FileHandle): Promise<string> {
  const { size } = await file.stat();
  return size === 0
    ? 'it is empty, as a run leaves it that was killed before the end of its first set'
    : 'it is not an Arrow file';
}

function unreadable(path: string, why: unknown): MlperfError {
  const text = typeof why === 'string' ? why : describeSystemError(why);
  const cause = typeof why === 'string' ? undefined : why;
  return new MlperfError('ERR_CONFIG_FILE', `cannot read the records ${path}: ${text}`, { cause });
}

function partsOf({ batches, cutBatch }: Frames): PartOfFile[] {
  const parts = new Map<number, PartOfFile>();
  for (const { part, rowCount, rowsOfPart } of batches) {
    const before = parts.get(part)?.rowCount ?? 0;
    parts.set(part, { part, rowCount: before + rowCount, rowsInAll: rowsOfPart });
  }
  if (cutBatch !== null && !parts.has(cutBatch.part)) {
    const { part, rowsOfPart } = cutBatch;
    parts.set(part, { part, rowCount: 0, rowsInAll: rowsOfPart });
  }
  return [...parts.values()];
}

function cutText(parts: readonly PartOfFile[], end: 'cut' | 'cut-index'): string {
  const rows = parts.reduce((sum, { rowCount }) => sum + rowCount, 0);
  if (end === 'cut-index')
    return `cut after all of its ${rows} rows, in the index that follows them`;
  const last = parts.at(-1);
  if (last === undefined) return 'cut before the first block of records';
  if (last.rowCount === last.rowsInAll) {
    return `cut after ${rows} rows, at the end of part ${last.part}; whether there were more is not known`;
  }
  const of = parts.reduce((sum, { rowsInAll }) => sum + rowsInAll, 0);
  return `cut after ${rows} of ${of} rows`;
}

/**
 * All records as CSV (RFC 4180), block by block: a header of column names, which end with their
 * units, then one line per sample. An empty field means no value.
 */
export async function* csvOf(
  reader: Pick<RecordsReader, 'about' | 'blocks' | 'columns'>,
): AsyncGenerator<string> {
  const { columns, about } = reader;
  yield `${columns.map(({ name }) => name).join(',')}\r\n`;
  const names = about.nodes.map(csvField);
  for await (const block of reader.blocks()) yield linesOf(block, columns, names);
}

function linesOf(
  block: SampleRecords,
  columns: readonly RecordColumn[],
  nodes: readonly string[],
): string {
  const fields = columns.map((column) => fieldsOf(column, block, nodes));
  const lines: string[] = [];
  for (let row = 0; row < block.rowCount; row += 1) {
    let line = '';
    for (const [i, field] of fields.entries()) line += i === 0 ? field(row) : `,${field(row)}`;
    lines.push(line);
  }
  return `${lines.join('\r\n')}\r\n`;
}

function fieldsOf(
  { type, of }: RecordColumn,
  block: SampleRecords,
  nodes: readonly string[],
): (row: number) => string {
  const values = of(block);
  if (values === null) return () => '';
  if (type === 'node') return (row) => nodes[values[row] as number] ?? '';
  return (row) => {
    const value = values[row] as number;
    if (Number.isNaN(value)) return '';
    // 9 digits distinguish every float32.
    return type === 'float32' && !Number.isInteger(value) ? rounded(value, 9) : String(value);
  };
}

/** Decodes a record batch into a new table. @param columns Columns of its schema, in order. */
function decodeBatch(batch: RecordBatch, columns: readonly RecordColumn[]): SampleRecords {
  const block = tableFor(batch.numRows, columns);
  for (const [i, column] of columns.entries()) {
    const data = batch.data.children[i] as Data; // One per field.
    decodeColumn(column, data, column.of(block) as ColumnArray);
  }
  const gaps = batch.metadata.get(GAPS_KEY);
  if (gaps !== undefined) block.tokenGaps?.addAll(readGaps(gaps));
  return block;
}

function decodeColumn({ type }: RecordColumn, data: Data, target: ColumnArray): void {
  const { values, length } = data;
  if (type === 'int64') joinWords(values as BigInt64Array, target);
  else target.set((values as ColumnArray).subarray(0, length));
  if (data.nullCount === 0) return;
  const none = type === 'node' ? -1 : Number.NaN;
  for (let row = 0; row < length; row += 1) {
    if (!data.getValid(row)) target[row] = none;
  }
}

function joinWords(values: BigInt64Array, target: ColumnArray): void {
  const words = new Uint32Array(values.buffer, values.byteOffset, 2 * target.length);
  const upper = new Int32Array(values.buffer, values.byteOffset, 2 * target.length);
  for (let row = 0; row < target.length; row += 1) {
    target[row] = (upper[2 * row + 1] as number) * TWO_POW_32 + (words[2 * row] as number);
  }
}
