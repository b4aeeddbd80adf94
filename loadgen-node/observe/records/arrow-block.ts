import {
  type Data,
  type Field,
  makeData,
  RecordBatch,
  type Schema,
  Struct,
  type Utf8,
  type Vector,
} from 'apache-arrow';
import { allocateRecords } from './record-block.ts';
import type { ColumnArray, RecordColumn } from './record-columns.ts';
import type { SampleRecords } from './sample-records.ts';

const TWO_POW_32 = 4294967296;

/**
 * Makes a record batch of the first rows of a block. It shares the block's memory: it is good until the block is filled anew.
 * @param columns Those of the schema, in order; the block has them.
 * @param names Dictionary of the nodes' names.
 * @param metadata Goes with the batch.
 */
export function encodeBlock(
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

/** What all batches of a file have in common. */
export interface BatchForm {
  readonly schema: Schema;
  readonly columns: readonly RecordColumn[];
  readonly names: Vector<Utf8>;
}

function encodeColumn(
  { type: kind, isNullable }: RecordColumn,
  // biome-ignore lint/suspicious/noExplicitAny: one of several types, decided at run time by the column.
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

/** A bit per row, 1 for a value; no value is NaN, or a node below 0. */
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

/** Whole numbers below 2^53 as 64-bit ones; 0 where there is none. */
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
