import type { FileHandle } from 'node:fs/promises';
import {
  AsyncByteQueue,
  Message,
  RecordBatchFileWriter,
  type Schema,
  type Utf8,
  vectorFromArray,
} from 'apache-arrow';
import type { RecordedSet } from '../../loadgen/engine/test-context.ts';
import { type BatchForm, encodeBlock } from './arrow-block.ts';
import { PART_KEY, PART_ROWS_KEY, type RecordsAbout, recordsSchema } from './arrow-schema.ts';
import { allocateRecords, presentColumns } from './record-block.ts';
import { SetRows } from './records-of-set.ts';
import type { SampleRecords } from './sample-records.ts';

/** Rows of a record batch: a block of 5 MB. */
const ROWS_PER_BATCH = 65_536;

/** Takes what the Arrow writer says, to be written when we say. */
class ChunkSink extends AsyncByteQueue {
  chunks: Uint8Array[] = [];

  override write(chunk: Uint8Array): void {
    this.chunks.push(chunk);
  }
}

/** Writes the schema at the beginning as well, as the format asks for; the package has it at the end only. */
class SchemaFirstWriter extends RecordBatchFileWriter {
  protected override _writeSchema(schema: Schema): this {
    super._writeSchema(schema);
    return this._writeMessage(Message.from(schema));
  }
}

/**
 * Writes the records of sets to an Arrow file, one block after the other: beside the recorder there is one block in memory, in
 * two forms. What is written is readable from the beginning of the file, also if the process is killed before {@link end}.
 */
export class RecordsWriter {
  readonly #file: FileHandle;
  readonly #about: RecordsAbout;
  readonly #sink = new ChunkSink();
  readonly #writer = new SchemaFirstWriter();
  /** Made with the first set, which tells whether there are tokens. */
  #block: SampleRecords | null = null;
  #form: BatchForm | null = null;
  #rowCount = 0;

  /** @param file Open for writing, empty. */
  constructor(file: FileHandle, about: RecordsAbout) {
    this.#file = file;
    this.#about = about;
  }

  /** Rows written. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** Writes all rows of a set. Untimed. @throws system errors of the file. */
  async writeSet(set: RecordedSet): Promise<void> {
    const rows = new SetRows(set);
    const block = this.#block ?? allocateRecords(ROWS_PER_BATCH, rows.tokens);
    const form = this.#form ?? this.#begin(block);
    const metadata = new Map([
      [PART_KEY, String(set.part)],
      [PART_ROWS_KEY, String(rows.rowCount)],
    ]);
    for (let count = rows.fill(block); count > 0; count = rows.fill(block)) {
      this.#writer.write(encodeBlock(form, block, count, metadata));
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
