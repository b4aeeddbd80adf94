import { createReadStream, existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import { grouped } from '../../../../shared/base/text.ts';
import {
  DENSE_COUNT,
  MULTI_HOT_SIZES,
  PAIR_BYTES,
} from '../../../../shared/rules/cards/dlrm-v2.ts';
import { readingFile } from '../../data-set/data-set.ts';
import {
  NPY_HEADER_BYTES_MAX,
  type NpyHeader,
  parseNpyHeader,
} from '../../tensors/npy/npy-header.ts';
import { readNpzMembers } from '../../tensors/npy/npz-file.ts';
import type { ClickLabels } from './click-score.ts';

// Files of the reference's data set. Source: multihot_criteo.py of MLCommons inference,
// recommendation/dlrm_v2/pytorch/python.
export const DENSE_FILE = 'day_23_dense.npy';
export const SPARSE_FILE = 'day_23_sparse_multi_hot.npz';
export const LABEL_FILE = 'day_23_labels.npy';
/** The day in Criteo's format: one line per row, the label is the first field. */
export const TEXT_FILE = 'day_23';

/** Rows of the whole day. */
const DAY_ROWS = 178_274_637;
/** Rows of the first half of the day, which is the data set. */
export const OFFICIAL_ROWS = 89_137_319;

const ELEMENT_BYTES = 4;

/** Bytes per read when a file is scanned. */
const READ_BYTES = 2 ** 22;

const NEWLINE = 0x0a;
const TAB = 0x09;
const DIGIT_0 = 0x30;

/** Location of one array in a file. */
interface RowPlace {
  readonly file: string;
  /** Offset of row 0. */
  readonly offset: number;
  readonly rowBytes: number;
}

/** Features of all rows, read from disk on demand. */
export interface CriteoRows {
  readonly rowCount: number;
  /** Payload of rows [begin, end): see DLRM_ENCODINGS. */
  readPairs(begin: number, end: number): Promise<Uint8Array>;
}

/**
 * Opens a folder's features: reads the headers of the 27 arrays.
 * @returns undefined if neither file exists: a log can be scored without features.
 * @throws MlperfError `ERR_DATA_SET` with the file and the unexpected array
 */
export async function openCriteoRows(folder: string): Promise<CriteoRows | undefined> {
  const [densePath, sparsePath] = [join(folder, DENSE_FILE), join(folder, SPARSE_FILE)];
  if (!existsSync(densePath) && !existsSync(sparsePath)) return undefined;
  const dense = await withFile(densePath, async (file) => {
    const { size } = await file.stat();
    return findArray(file, densePath, { offset: 0, bytes: size }, '<f4', DENSE_COUNT);
  });
  const tables = await withFile(sparsePath, async (file) => {
    const members = await readNpzMembers(file, sparsePath);
    return Promise.all(
      MULTI_HOT_SIZES.map((size, table) => {
        const member = members.get(`${table}.npy`);
        if (member !== undefined) return findArray(file, sparsePath, member, '<i4', size, table);
        const names = [...members.keys()].join(', ') || 'none';
        throw dataSetError(`${sparsePath}: the array ${table} is missing; there is: ${names}`);
      }),
    );
  });
  for (const [table, { rowCount }] of tables.entries()) {
    if (rowCount === dense.rowCount) continue;
    const rows = `${DENSE_FILE} has ${grouped(dense.rowCount)}`;
    throw dataSetError(`${sparsePath}: array ${table} has ${grouped(rowCount)} rows, ${rows}`);
  }
  const places = [dense, ...tables];
  return {
    // The reference uses the first half of the day; other files are used whole.
    rowCount: dense.rowCount === DAY_ROWS ? OFFICIAL_ROWS : dense.rowCount,
    readPairs: (begin, end) => readPairs(densePath, sparsePath, places, begin, end),
  };
}

async function readPairs(
  densePath: string,
  sparsePath: string,
  [dense, ...tables]: readonly RowPlace[],
  begin: number,
  end: number,
): Promise<Uint8Array> {
  const payload = Buffer.allocUnsafeSlow((end - begin) * PAIR_BYTES);
  let at = 0;
  const readRows = async (file: FileHandle, place: RowPlace): Promise<void> => {
    const bytes = (end - begin) * place.rowBytes;
    await readAll(
      file,
      place.file,
      payload.subarray(at, at + bytes),
      place.offset + begin * place.rowBytes,
    );
    at += bytes;
  };
  await withFile(densePath, (file) => readRows(file, dense as RowPlace));
  await withFile(sparsePath, async (file) => {
    for (const table of tables) await readRows(file, table);
  });
  return payload;
}

/** @throws MlperfError `ERR_DATA_SET` for an array whose type or shape is not `[rows, width]` */
async function findArray(
  file: FileHandle,
  path: string,
  { offset, bytes }: { readonly offset: number; readonly bytes: number },
  descr: string,
  width: number,
  table?: number,
): Promise<RowPlace & { readonly rowCount: number }> {
  const what = table === undefined ? path : `${path}: array ${table}`;
  const { header, rowCount } = await readHeader(file, what, offset, bytes);
  const type = `${header.descr} [${header.shape.join(', ')}]`;
  if (header.descr !== descr || header.shape[1] !== width || header.shape.length !== 2) {
    throw dataSetError(`${what} has elements and shape ${type}; ${descr} [rows, ${width}] is read`);
  }
  if (header.isFortranOrder && width > 1) {
    throw dataSetError(
      `${what} is in column-major (Fortran) order: save numpy.ascontiguousarray of it`,
    );
  }
  const rowBytes = width * ELEMENT_BYTES;
  if (bytes !== header.dataOffset + rowCount * rowBytes) {
    throw dataSetError(
      `${what} has ${bytes - header.dataOffset} bytes of elements; its shape needs ${rowCount * rowBytes}: it is cut off`,
    );
  }
  return { file: what, offset: offset + header.dataOffset, rowBytes, rowCount };
}

async function readHeader(file: FileHandle, what: string, offset: number, bytes: number) {
  const beginning = Buffer.alloc(Math.min(bytes, NPY_HEADER_BYTES_MAX));
  await readAll(file, what, beginning, offset);
  const header: NpyHeader = parseNpyHeader(beginning, what);
  return { header, rowCount: header.shape[0] ?? 0 };
}

async function readAll(file: FileHandle, what: string, target: Buffer, position: number) {
  let done = 0;
  while (done < target.length) {
    const { bytesRead } = await file.read(target, done, target.length - done, position + done);
    if (bytesRead === 0) throw dataSetError(`${what} ends too early: it was cut off`);
    done += bytesRead;
  }
}

async function withFile<T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  return readingFile(path, async () => {
    const file = await open(path);
    try {
      return await work(file);
    } finally {
      await file.close();
    }
  });
}

/** Label types by NumPy name: bytes per element, and how to read one. */
const LABEL_TYPES: Readonly<
  Record<string, readonly [number, (data: DataView, at: number) => number]>
> = {
  '<i4': [4, (data, at) => data.getInt32(at, true)],
  '<f4': [4, (data, at) => data.getFloat32(at, true)],
  '<i8': [8, (data, at) => Number(data.getBigInt64(at, true))],
  '|u1': [1, (data, at) => data.getUint8(at)],
};

/**
 * Labels of the first rows, from `day_23_labels.npy` or else from the text file `day_23`.
 * @returns undefined if neither exists.
 * @throws MlperfError `ERR_DATA_SET` with the file and the first row whose label is not 0 or 1
 */
export async function readLabels(
  folder: string,
  rowCount: number,
): Promise<ClickLabels | undefined> {
  for (const [file, read] of [
    [LABEL_FILE, readLabelArray],
    [TEXT_FILE, readLabelText],
  ] as const) {
    const path = join(folder, file);
    if (!existsSync(path)) continue;
    const labels = new Uint8Array(rowCount);
    const found = await readingFile(path, () => read(path, labels));
    if (found >= rowCount) return { file, labels };
    throw dataSetError(
      `${path} has labels of ${grouped(found)} rows; the samples have ${grouped(rowCount)}`,
    );
  }
  return undefined;
}

/** @returns Total rows of the file; only as many as `labels` holds are read. */
async function readLabelArray(path: string, labels: Uint8Array): Promise<number> {
  return withFile(path, async (file) => {
    const { size } = await file.stat();
    const { header, rowCount } = await readHeader(file, path, 0, size);
    const type = LABEL_TYPES[header.descr];
    const isColumn =
      header.shape.length === 1 || (header.shape.length === 2 && header.shape[1] === 1);
    if (type === undefined || !isColumn) {
      throw dataSetError(
        `${path} has elements and shape ${header.descr} [${header.shape.join(', ')}]; ` +
          `one of ${Object.keys(LABEL_TYPES).join(', ')} in [rows] or [rows, 1] is read`,
      );
    }
    const [elementBytes, valueAt] = type;
    const count = Math.min(rowCount, labels.length);
    const perRead = READ_BYTES / elementBytes;
    for (let row = 0; row < count; row += perRead) {
      const chunk = Buffer.alloc(Math.min(perRead, count - row) * elementBytes);
      await readAll(file, path, chunk, header.dataOffset + row * elementBytes);
      const data = new DataView(chunk.buffer, chunk.byteOffset, chunk.length);
      for (let i = 0; i * elementBytes < chunk.length; i += 1) {
        const value = valueAt(data, i * elementBytes);
        if (value !== 0 && value !== 1) {
          throw dataSetError(`${path}: the label of row ${row + i} is ${value}, not 0 or 1`);
        }
        labels[row + i] = value;
      }
    }
    return rowCount;
  });
}

/** {@link readLabelArray} for text; stops when `labels` is full. */
async function readLabelText(path: string, labels: Uint8Array): Promise<number> {
  let row = 0;
  let rest: Buffer = Buffer.alloc(0);
  const readLines = (bytes: Buffer): void => {
    let at = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0 && row < labels.length; row += 1) {
      labels[row] = labelAt(bytes, at, path, row);
      at = end + 1;
      end = bytes.indexOf(NEWLINE, at);
    }
    rest = bytes.subarray(at);
  };
  for await (const chunk of createReadStream(path, { highWaterMark: READ_BYTES })) {
    readLines(Buffer.concat([rest, chunk as Buffer]));
    if (row === labels.length) return row;
    if (rest.length > READ_BYTES) labelAt(Buffer.alloc(2), 0, path, row);
  }
  if (rest.length > 0) readLines(Buffer.concat([rest, Buffer.of(NEWLINE)]));
  return row;
}

/** The first field of a line. @throws MlperfError `ERR_DATA_SET` if it is not 0 or 1 */
function labelAt(bytes: Buffer, at: number, path: string, row: number): number {
  const label = (bytes[at] as number) - DIGIT_0;
  const isAlone = bytes[at + 1] === TAB || bytes[at + 1] === NEWLINE;
  if ((label === 0 || label === 1) && isAlone) return label;
  throw dataSetError(`${path}, line ${row + 1}: does not begin with a label of 0 or 1 and a tab`);
}
