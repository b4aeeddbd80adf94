import {
  type Data,
  makeData,
  RecordBatch,
  type Schema,
  Struct,
  type Utf8,
  type Vector,
  vectorFromArray,
} from 'apache-arrow';
import { allocateRecords } from './record-block.ts';
import type { ColumnArray, RecordColumn } from './record-columns.ts';
import type { SampleRecords } from './sample-records.ts';

const TWO_POW_32 = 4294967296;

/**
 * Turns blocks of a table into record batches. Its memory is that of one block, taken once: a batch is good until the next one
 * is made.
 */
export class BlockEncoder {
  readonly #schema: Schema;
  readonly #columns: readonly EncodedColumn[];

  /** @param rowsMax Rows of the largest block. */
  constructor(
    schema: Schema,
    columns: readonly RecordColumn[],
    { rowsMax, nodes }: { rowsMax: number; nodes: readonly string[] },
  ) {
    this.#schema = schema;
    const names = vectorFromArray(nodes, schema.dictionaries.get(0) as Utf8);
    this.#columns = columns.map((column, i) => ({
      column,
      type: schema.fields[i]?.type as EncodedColumn['type'], // One field per column.
      words: column.type === 'int64' ? new Uint32Array(2 * rowsMax) : null,
      values: column.isNullable && column.type === 'float32' ? new Float32Array(rowsMax) : null,
      nulls: column.isNullable ? new Uint8Array(Math.ceil(rowsMax / 64) * 8) : null,
      names: column.type === 'node' ? names : null,
    }));
  }

  /** @param metadata Goes with the batch. */
  encode(block: SampleRecords, rowCount: number, metadata: Map<string, string>): RecordBatch {
    const children = this.#columns.map((column) => encodeColumn(column, block, rowCount));
    const type = new Struct(this.#schema.fields);
    const data = makeData({ type, length: rowCount, nullCount: 0, children });
    return new RecordBatch(this.#schema, data, metadata);
  }
}

interface EncodedColumn {
  readonly column: RecordColumn;
  // biome-ignore lint/suspicious/noExplicitAny: one of several types, decided at run time by the column.
  readonly type: any;
  /** Pairs of 32-bit words of 64-bit numbers, the lower first. */
  readonly words: Uint32Array | null;
  readonly values: Float32Array | null;
  /** A bit per row, 1 for a value. */
  readonly nulls: Uint8Array | null;
  readonly names: Vector<Utf8> | null;
}

function encodeColumn(
  { column, type, words, values, nulls, names }: EncodedColumn,
  block: SampleRecords,
  rowCount: number,
): Data {
  const source = column.of(block) as ColumnArray; // The block has the columns of the schema.
  const nullCount = nulls === null ? 0 : markNulls(nulls, source, rowCount, column.type === 'node');
  let data: unknown = source.subarray(0, rowCount);
  if (words !== null)
    data = new BigInt64Array(splitWords(words, source, rowCount).buffer, 0, rowCount);
  else if (values !== null) data = withoutNaN(values, source, rowCount);
  const nullBitmap = nullCount === 0 ? undefined : nulls?.subarray(0, Math.ceil(rowCount / 8));
  const shared = { type, length: rowCount, nullCount, data, nullBitmap };
  return makeData(names === null ? shared : { ...shared, dictionary: names });
}

/** @returns How many rows have no value: NaN, or a node below 0. */
function markNulls(
  bits: Uint8Array,
  values: ColumnArray,
  rowCount: number,
  isNode: boolean,
): number {
  let nullCount = 0;
  bits.fill(0);
  for (let row = 0; row < rowCount; row += 1) {
    const value = values[row] as number;
    if (isNode ? value >= 0 : !Number.isNaN(value))
      bits[row >>> 3] = (bits[row >>> 3] as number) | (1 << (row & 7));
    else nullCount += 1;
  }
  return nullCount;
}

/** Whole numbers below 2^53 as 64-bit ones; 0 where there is none. */
function splitWords(words: Uint32Array, values: ColumnArray, rowCount: number): Uint32Array {
  for (let row = 0; row < rowCount; row += 1) {
    const value = values[row] as number;
    const upper = Math.floor(value / TWO_POW_32);
    words[2 * row] = value - upper * TWO_POW_32;
    words[2 * row + 1] = upper;
  }
  return words;
}

function withoutNaN(target: Float32Array, values: ColumnArray, rowCount: number): Float32Array {
  for (let row = 0; row < rowCount; row += 1) {
    const value = values[row] as number;
    target[row] = Number.isNaN(value) ? 0 : value;
  }
  return target.subarray(0, rowCount);
}

/** Reads a record batch into a table of its own. @param columns Those of its schema, in order. */
export function decodeBatch(batch: RecordBatch, columns: readonly RecordColumn[]): SampleRecords {
  const has = (name: string): boolean => columns.some((column) => column.name === name);
  const block = allocateRecords(batch.numRows, {
    hasTokens: has('token_count'),
    hasFirstTokens: has('first_token_ns'),
  });
  for (const [i, column] of columns.entries()) {
    const data = batch.data.children[i] as Data; // One per field.
    decodeColumn(column, data, column.of(block) as ColumnArray);
  }
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
