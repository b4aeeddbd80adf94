import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { ensureArtifact } from '../../../../shared/base/cache/artifact-cache.ts';
import { SeededRandom } from '../../../../shared/benchmarks/digits/seeded-random.ts';
import {
  CLICKS_REVISION,
  PLANTED_DENSE,
} from '../../../../shared/benchmarks/dlrm-v2/planted-clicks.ts';
import {
  DENSE_COUNT,
  MULTI_HOT_SIZES,
  TABLE_ROWS,
} from '../../../../shared/rules/cards/dlrm-v2.ts';
import type { GeneratedSet } from '../../../../shared/rules/rows/benchmark-card.ts';
import type { PrepareProgress } from '../../data-set/data-set.ts';
import { makeAggregationTrace } from './aggregation-trace.ts';
import { DENSE_FILE, LABEL_FILE, OFFICIAL_ROWS, SPARSE_FILE } from './criteo-files.ts';

/** Rows that are drawn at once. */
const CHUNK_ROWS = 16_384;

/** Streams of random numbers beside those of the tables. */
const LABEL_STREAM: number = TABLE_ROWS.length;
const DENSE_STREAM: number = LABEL_STREAM + 1;

/**
 * Share of pairs that are clicks, and deviation of the planted logit, whose mean is 1 for a click
 * and -1 for none.
 */
const CLICK_SHARE = 0.25;
const LOGIT_DEVIATION = 0.5;

/** Of so many pairs one has the logit of the other label. */
const WRONG_ONE_OF = 5;

/**
 * Bytes of a header of a .npy file here: the elements begin at a multiple of 64, as NumPy aligns
 * them.
 */
const NPY_HEADER_BYTES = 128;

/**
 * Finds made-up data in the layout of the official files in the cache, or makes it. A larger set of
 * a seed begins with the samples of a smaller one.
 * @returns Its folder.
 * @throws MlperfError `ERR_CACHE`
 */
export async function ensureStandinClicks(
  set: GeneratedSet,
  {
    cacheFolder,
    onProgress,
  }: { readonly cacheFolder: string; readonly onProgress: PrepareProgress },
): Promise<string> {
  return ensureArtifact({
    cacheFolder,
    name: 'dlrm-v2-standin-data-set',
    recipe: { samples: set, revision: CLICKS_REVISION },
    build: (folder, onBuildProgress) => writeClicks(set, folder, onBuildProgress),
    onProgress,
  });
}

async function writeClicks(
  { seed, sampleCount }: GeneratedSet,
  folder: string,
  onProgress: PrepareProgress,
): Promise<void> {
  const rowCount = makeAggregationTrace(OFFICIAL_ROWS, sampleCount).at(-1) ?? 0;
  const groups = TABLE_ROWS.length + 1;
  const report = (done: number): void =>
    onProgress(done / groups, `drawing ${sampleCount} samples of ${rowCount} pairs`);
  report(0);
  const labels = drawLabels(seed, rowCount);
  const dense = drawDense(seed, labels);
  await writeArray(join(folder, LABEL_FILE), '<i4', [rowCount, 1], [labels]);
  await writeArray(join(folder, DENSE_FILE), '<f4', [rowCount, DENSE_COUNT], dense);
  await writeArchive(join(folder, SPARSE_FILE), rowCount, (table) => {
    report(table + 1);
    return drawTable(seed, table, rowCount);
  });
}

/** Rows of each chunk: [first, end). */
function* chunks(rowCount: number): Generator<readonly [number, number]> {
  for (let row = 0; row < rowCount; row += CHUNK_ROWS) {
    yield [row, Math.min(row + CHUNK_ROWS, rowCount)];
  }
}

function drawLabels(seed: number, rowCount: number): Int32Array {
  const random = new SeededRandom(seed, LABEL_STREAM);
  return Int32Array.from({ length: rowCount }, () => Number(random.uniform(0, 1) < CLICK_SHARE));
}

function* drawDense(seed: number, labels: Int32Array): Generator<Float32Array> {
  const random = new SeededRandom(seed, DENSE_STREAM);
  for (const [first, end] of chunks(labels.length)) {
    const values = new Float32Array((end - first) * DENSE_COUNT);
    for (let i = 0; i < values.length; i += 1) values[i] = random.nearlyNormal();
    for (let row = first; row < end; row += 1) {
      const isClick = (labels[row] === 1) !== (row % WRONG_ONE_OF === 0);
      const place = (row - first) * DENSE_COUNT + PLANTED_DENSE;
      values[place] = (isClick ? 1 : -1) + LOGIT_DEVIATION * (values[place] as number);
    }
    yield values;
  }
}

/** Small indices are more frequent, as in logs of clicks. */
function* drawTable(seed: number, table: number, rowCount: number): Generator<Int32Array> {
  const random = new SeededRandom(seed, table);
  const [size, rows] = [MULTI_HOT_SIZES[table] as number, TABLE_ROWS[table] as number];
  for (const [first, end] of chunks(rowCount)) {
    yield Int32Array.from({ length: (end - first) * size }, () =>
      Math.floor(rows * random.uniform(0, 1) ** 3),
    );
  }
}

/** Contents of an array, in pieces. */
type Pieces = Iterable<Float32Array | Int32Array>;

async function writeArray(path: string, descr: string, shape: readonly number[], pieces: Pieces) {
  const file = await open(path, 'wx');
  try {
    for (const bytes of fileOf(descr, shape, pieces)) await file.write(bytes);
  } finally {
    await file.close();
  }
}

/** Bytes of a .npy file. */
function* fileOf(descr: string, shape: readonly number[], pieces: Pieces): Generator<Uint8Array> {
  const header = Buffer.alloc(NPY_HEADER_BYTES, ' ');
  header.write('\x93NUMPY\x01\x00', 'latin1');
  header.writeUInt16LE(NPY_HEADER_BYTES - 10, 8);
  header.write(
    `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape.join(', ')}), }`,
    10,
  );
  header.write('\n', NPY_HEADER_BYTES - 1);
  yield header;
  for (const { buffer, byteOffset, byteLength } of pieces) {
    yield new Uint8Array(buffer, byteOffset, byteLength);
  }
}

/** Stands for a number of 64 bits in the field of ZIP64. */
const ELSEWHERE = 0xffff_ffff;
/** Version of ZIP64, and 1 January 1980. */
const [VERSION, DAY] = [45, 0x21];

/**
 * The tables as numpy.savez writes them: a ZIP file (npz-file.ts) of stored members, with ZIP64
 * since a table may exceed 4 GB.
 */
async function writeArchive(path: string, rowCount: number, draw: (table: number) => Pieces) {
  const file = await open(path, 'wx');
  try {
    const entries: Buffer[] = [];
    let at = 0;
    const write = async (bytes: Uint8Array): Promise<void> => {
      await file.write(bytes, 0, bytes.length, at);
      at += bytes.length;
    };
    for (const [table, size] of MULTI_HOT_SIZES.entries()) {
      const begin = at;
      const name = Buffer.from(`${table}.npy`);
      const length = NPY_HEADER_BYTES + rowCount * size * 4;
      const wide = record(2, 1, 2, 24, 8, length, 8, length, 8, begin);
      const names = record(2, name.length, 2, wide.length);
      const headOf = (sum: number): Buffer =>
        record(2, VERSION, 6, 0, 2, DAY, 4, sum, 4, ELSEWHERE, 4, ELSEWHERE);
      const local = (sum: number): Buffer =>
        Buffer.concat([record(4, 0x04034b50), headOf(sum), names, name, wide]);
      await write(local(0));
      let sum = 0;
      for (const bytes of fileOf('<i4', [rowCount, size], draw(table))) {
        sum = crc32(bytes, sum);
        await write(bytes);
      }
      const head = local(sum);
      await file.write(head, 0, head.length, begin);
      const mark = record(4, 0x02014b50, 2, VERSION);
      entries.push(
        Buffer.concat([mark, headOf(sum), names, record(6, 0, 4, 0, 4, ELSEWHERE), name, wide]),
      );
    }
    await write(archiveEnd(Buffer.concat(entries), at));
  } finally {
    await file.close();
  }
}

/** The directory and what is behind it. @param at Place of the directory. */
function archiveEnd(directory: Buffer, at: number): Buffer {
  const count = MULTI_HOT_SIZES.length;
  const endAt = at + directory.length;
  return Buffer.concat([
    directory,
    record(4, 0x06064b50, 8, 44, 2, VERSION, 2, VERSION, 8, 0, 8, count, 8, count),
    record(8, directory.length, 8, at),
    record(4, 0x07064b50, 4, 0, 8, endAt, 4, 1),
    record(4, 0x06054b50, 4, 0, 2, count, 2, count, 4, ELSEWHERE, 4, ELSEWHERE, 2, 0),
  ]);
}

/** Numbers one behind the other, little-endian: the bytes of each, then its value. */
function record(...fields: readonly number[]): Buffer {
  const parts: Buffer[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    const part = Buffer.alloc(fields[i] as number);
    // 48 bits are enough for a file.
    part.writeUIntLE(fields[i + 1] as number, 0, Math.min(6, part.length));
    parts.push(part);
  }
  return Buffer.concat(parts);
}
