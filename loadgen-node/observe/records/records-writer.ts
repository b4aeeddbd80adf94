import type { FileHandle } from 'node:fs/promises';
import {
  AsyncByteQueue,
  type Data,
  type Field,
  Message,
  makeData,
  RecordBatch,
  RecordBatchFileWriter,
  type Schema,
  Struct,
  type Utf8,
  type Vector,
  vectorFromArray,
} from 'apache-arrow';
import type { RecordedSet } from '../../loadgen/engine/test-context.ts';
import {
  GAPS_KEY,
  PART_KEY,
  PART_ROWS_KEY,
  type RecordsAbout,
  recordsSchema,
  writeGaps,
} from './arrow-schema.ts';
import {
  allocateRecords,
  type ColumnArray,
  type PromptTokensOf,
  presentColumns,
  type RecordColumn,
  type SampleRecords,
  SetRows,
} from './sample-records.ts';

/** Rows per record batch: a block of about 5 MB. */
const ROWS_PER_BATCH = 65_536;
const TWO_POW_32 = 2 ** 32;

/** Buffers the bytes of the Arrow writer until they are flushed. */
class ChunkSink extends AsyncByteQueue {
  chunks: Uint8Array[] = [];

  override write(chunk: Uint8Array): void {
    this.chunks.push(chunk);
  }
}

/**
 * Also writes the schema at the beginning, as the format requires; the package writes it only at
 * the end.
 */
class SchemaFirstWriter extends RecordBatchFileWriter {
  protected override _writeSchema(schema: Schema): this {
    super._writeSchema(schema);
    return this._writeMessage(Message.from(schema));
  }
}

/**
 * Writes the records of sets to an Arrow file, block by block: besides the recorder, one block is
 * in memory, in two forms. The file is readable from its beginning at any time, even if the process
 * is killed before {@link end}.
 */
export class RecordsWriter {
  readonly #file: FileHandle;
  readonly #about: RecordsAbout;
  readonly #sink = new ChunkSink();
  readonly #writer = new SchemaFirstWriter();
  /** Created with the first set, which decides the token columns. */
  #block: SampleRecords | null = null;
  #form: BatchForm | null = null;
  #rowCount = 0;

  /** @param file Empty file, open for writing. */
  constructor(file: FileHandle, about: RecordsAbout) {
    this.#file = file;
    this.#about = about;
  }

  /** Rows written. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** Writes all rows of a set. Untimed. @throws system errors of the file. */
  async writeSet(set: RecordedSet, promptTokensOf?: PromptTokensOf): Promise<void> {
    const rows = new SetRows(set, promptTokensOf);
    const block = this.#block ?? allocateRecords(ROWS_PER_BATCH, rows.tokens);
    const form = this.#form ?? this.#begin(block);
    const metadata = new Map([
      [PART_KEY, String(set.part)],
      [PART_ROWS_KEY, String(rows.rowCount)],
    ]);
    let ofBatch = metadata;
    if (rows.gaps !== null) ofBatch = new Map([...metadata, [GAPS_KEY, writeGaps(rows.gaps)]]);
    for (let count = rows.fill(block); count > 0; count = rows.fill(block)) {
      this.#writer.write(encodeBlock(form, block, count, ofBatch));
      ofBatch = metadata;
      await this.#flush();
      this.#rowCount += count;
    }
    await this.#flush();
  }

  /** Writes the index at the end of the file. */
  async end(): Promise<void> {
    this.#writer.finish();
    await this.#flush();
  }

  #begin(block: SampleRecords): BatchForm {
    const columns = presentColumns(block);
    const schema: Schema = recordsSchema(columns, this.#about);
    this.#writer.reset(this.#sink, schema);
    const names = vectorFromArray(this.#about.nodes, schema.dictionaries.get(0) as Utf8);
    this.#block = block;
    this.#form = { schema, columns, names };
    return this.#form;
  }

  async #flush(): Promise<void> {
    const { chunks } = this.#sink;
    this.#sink.chunks = [];
    if (chunks.length > 0) await this.#file.appendFile(Buffer.concat(chunks));
  }
}

/**
 * Makes a record batch of the first rows of a block. It shares the block's memory, so it is valid
 * until the block is refilled.
 * @param columns Columns of the schema, in order; the block has them.
 * @param names Dictionary of node names.
 * @param metadata Metadata of the batch.
 */
function encodeBlock(
  { schema, columns, names }: BatchForm,
  block: SampleRecords,
  rowCount: number,
  metadata: Map<string, string>,
): RecordBatch {
  const children = columns.map((column, i) => {
    const values = (column.of(block) as ColumnArray).subarray(0, rowCount);
    const field = schema.fields[i] as Field; // One per column.
    return encodeColumn(column, field.type, values, names);
  });
  const type = new Struct(schema.fields);
  const data = makeData({ type, length: rowCount, nullCount: 0, children });
  return new RecordBatch(schema, data, metadata);
}

/** Schema, columns and names of all batches of a file. */
interface BatchForm {
  readonly schema: Schema;
  readonly columns: readonly RecordColumn[];
  readonly names: Vector<Utf8>;
}

function encodeColumn(
  { type: kind, isNullable }: RecordColumn,
  // biome-ignore lint/suspicious/noExplicitAny: one of several types, by the column at run time.
  type: any,
  values: ColumnArray,
  names: Vector<Utf8>,
): Data {
  const { nullCount, nullBitmap } = isNullable ? nullsOf(values, kind === 'node') : NO_NULLS;
  let data: ColumnArray | BigInt64Array = values;
  if (kind === 'int64') data = splitWords(values);
  else if (kind === 'float32') data = values.map((value) => (Number.isNaN(value) ? 0 : value));
  const shared = { type, length: values.length, nullCount, data, nullBitmap };
  return makeData(kind === 'node' ? { ...shared, dictionary: names } : shared);
}

const NO_NULLS = { nullCount: 0, nullBitmap: undefined };

/** One bit per row, 1 for a value; NaN, or a negative node number, is no value. */
function nullsOf(
  values: ColumnArray,
  isNode: boolean,
): { nullCount: number; nullBitmap: Uint8Array | undefined } {
  const nullBitmap = new Uint8Array(Math.ceil(values.length / 8));
  let nullCount = 0;
  for (let row = 0; row < values.length; row += 1) {
    const value = values[row] as number;
    if (isNode ? value >= 0 : !Number.isNaN(value))
      nullBitmap[row >>> 3] = (nullBitmap[row >>> 3] as number) | (1 << (row & 7));
    else nullCount += 1;
  }
  return nullCount === 0 ? NO_NULLS : { nullCount, nullBitmap };
}

/** Whole numbers below 2^53 as 64-bit integers; 0 for no value. */
function splitWords(values: ColumnArray): BigInt64Array {
  // Pairs of 32-bit words, the lower first.
  const words = new Uint32Array(2 * values.length);
  for (let row = 0; row < values.length; row += 1) {
    const value = values[row] as number;
    const upper = Math.floor(value / TWO_POW_32);
    words[2 * row] = value - upper * TWO_POW_32;
    words[2 * row + 1] = upper;
  }
  return new BigInt64Array(words.buffer);
}
