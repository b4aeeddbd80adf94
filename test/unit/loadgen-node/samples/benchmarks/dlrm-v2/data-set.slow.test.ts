import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { benchmark } from '../../../../../../loadgen-node/samples/benchmarks/dlrm-v2/benchmark.ts';
import {
  openCriteoRows,
  readLabels,
} from '../../../../../../loadgen-node/samples/benchmarks/dlrm-v2/criteo-files.ts';
import {
  DENSE_COUNT,
  MULTI_HOT_SIZES,
  PAIR_BYTES,
  TABLE_ROWS,
} from '../../../../../../shared/rules/cards/dlrm-v2.ts';
import { suiteFolder, tempFolder } from '../../../../../scenes/host/folders.ts';

// Goal: a sample has the rows that the trace says, in the layout on the wire, and a wrong file is
// refused by name. Method: made-up data of four samples (900 pairs), read whole and compared with
// what is read in parts; copies with one thing wrong.

const DENSE = 'day_23_dense.npy';
const SPARSE = 'day_23_sparse_multi_hot.npz';
const LABELS = 'day_23_labels.npy';

const options = { cacheFolder: '', onProgress: () => {} };
let cacheFolder: string;
let folder: string;
beforeAll(async () => {
  cacheFolder = suiteFolder();
  const generated = { seed: 7, sampleCount: 5 };
  ({ folder } = await benchmark.openDataSet({
    ...options,
    dataFolder: 'standin',
    cacheFolder,
    generated,
  }));
});

/** A copy that may be changed, without the checksums. */
function copy(...files: readonly string[]): string {
  const target = tempFolder();
  for (const file of files) cpSync(join(folder, file), join(target, file));
  return target;
}

const openOwn = (dataFolder: string) => benchmark.openDataSet({ ...options, dataFolder });

/** Overwrites bytes of a file. */
async function patch(path: string, bytes: string | Uint8Array, position: number): Promise<void> {
  const file = await open(path, 'r+');
  await file.write(Buffer.from(bytes as Uint8Array), 0, bytes.length, position);
  await file.close();
}

describe('made-up data', () => {
  it('is the same for the same seed, and begins alike for more samples', async () => {
    const make = async (seed: number, sampleCount: number) => {
      const set = {
        ...options,
        dataFolder: 'standin',
        cacheFolder: tempFolder(),
        generated: { seed, sampleCount },
      };
      const dataSet = await benchmark.openDataSet(set);
      const whole = (file: string) => readFileSync(join(dataSet.folder, file));
      return { dataSet, payload: await dataSet.readPayload(1, 'raw'), labels: whole(LABELS) };
    };
    const [same, other, more] = await Promise.all([make(7, 5), make(8, 5), make(7, 6)]);
    const own = await openOwn(folder);
    expect(await own.readPayload(1, 'raw')).toEqual(same.payload);
    expect(more.payload).toEqual(same.payload);
    expect(more.labels.subarray(128, 128 + 400)).toEqual(same.labels.subarray(128, 128 + 400));
    expect(other.payload).not.toEqual(same.payload);
    expect(same.dataSet.name).toBe('criteo-standin-seed-7-count-5');
    expect(same.dataSet.quality?.target).toBeCloseTo(0.99 * 0.79933, 5);
    expect(same.dataSet.marks).toHaveLength(2);
  });

  it('has indices of every table and labels of both kinds', async () => {
    const dataSet = await openOwn(folder);
    const payload = await dataSet.readPayload(4, 'raw');
    expect(payload).toHaveLength(500 * PAIR_BYTES);
    let at = 500 * DENSE_COUNT * 4;
    for (const [table, size] of MULTI_HOT_SIZES.entries()) {
      const indices = new Int32Array(payload.buffer, at, 500 * size);
      expect(Math.min(...indices)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...indices)).toBeLessThan(TABLE_ROWS[table] as number);
      expect(new Set(indices).size).toBeGreaterThan(1);
      at += indices.byteLength;
    }
    const labels = await readLabels(folder, 1300);
    const clicks = labels?.labels.reduce((a, b) => a + b, 0) ?? 0;
    expect(clicks / 1300).toBeGreaterThan(0.15);
    expect(clicks / 1300).toBeLessThan(0.4);
  });
});

describe('a folder', () => {
  it('gives the rows of a sample: dense, then table by table', async () => {
    const rows = await openCriteoRows(folder);
    expect(rows?.rowCount).toBe(1300);
    const whole = (await rows?.readPairs(0, 1300)) as Uint8Array;
    const dataSet = await openOwn(folder);
    expect([0, 3, 4].map((i) => dataSet.payloadBytes?.(i, 'raw'))).toEqual(
      [200, 200, 500].map((pairs) => pairs * PAIR_BYTES),
    );
    const sample = await dataSet.readPayload(3, 'raw');
    let [from, at] = [0, 0];
    for (const width of [DENSE_COUNT, ...MULTI_HOT_SIZES]) {
      const rowBytes = width * 4;
      expect(sample.subarray(at, at + 200 * rowBytes)).toEqual(
        whole.subarray(from + 600 * rowBytes, from + 800 * rowBytes),
      );
      from += 1300 * rowBytes;
      at += 200 * rowBytes;
    }
    expect(at).toBe(sample.length);
  });

  it('is cut by its own trace where it has one', async () => {
    const own = copy(DENSE, SPARSE, LABELS);
    writeFileSync(join(own, 'dlrm_trace_of_aggregated_samples.txt'), '0, 3, 3\n3, 10, 7\n');
    const dataSet = await openOwn(own);
    expect(dataSet.totalSampleCount).toBe(2);
    expect(await dataSet.readPayload(1, 'raw')).toHaveLength(7 * PAIR_BYTES);
    expect(dataSet.files).toHaveLength(4);
    expect(dataSet.marks?.[0]).toContain('2 samples of 10 pairs; an official run needs 330,067');
  });

  it('needs a name', async () => {
    const none = benchmark.openDataSet({ ...options, dataFolder: undefined });
    await expect(none).rejects.toThrow(/dlrm-v2 needs --data-dir FOLDER with day_23_dense\.npy/);
  });

  it.each([
    ['no tables', [DENSE], DENSE, '', 0, /multi_hot\.npz: there is no such file/],
    [
      'other elements',
      [DENSE, SPARSE],
      DENSE,
      '<f8',
      21,
      /dense\.npy has elements and shape <f8 \[1300, 13\]; <f4 \[rows, 13\]/,
    ],
    [
      'another shape',
      [DENSE, SPARSE],
      DENSE,
      '(1301, 13)',
      60,
      /dense\.npy has 67600 bytes of elements; its shape needs 67652/,
    ],
    ['columns', [DENSE, SPARSE], DENSE, 'True ', 44, /dense\.npy is in column-major/],
    ['no .npy file', [DENSE, SPARSE], DENSE, 'x', 0, /dense\.npy: is no \.npy file/],
    [
      'other rows in a table',
      [DENSE, SPARSE],
      SPARSE,
      '(99, 3), }  ',
      63 + 60,
      /array 0 has 15600 bytes of elements/,
    ],
    [
      'another width of a table',
      [DENSE, SPARSE],
      SPARSE,
      '(3900, 1), }',
      63 + 60,
      /array 0 has elements and shape <i4 \[3900, 1\]/,
    ],
  ])('refuses %s', async (_what, files, file, text, position, message) => {
    const own = copy(...files);
    await patch(join(own, file), text, position);
    await expect(openOwn(own)).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_DATA_SET', message: expect.stringMatching(message) }),
    );
  });

  it('refuses a file that was cut, and tables of another number of rows', async () => {
    const own = copy(DENSE, SPARSE);
    writeFileSync(join(own, DENSE), readFileSync(join(own, DENSE)).subarray(0, -4));
    await expect(openOwn(own)).rejects.toThrow(/dense\.npy has 67596 bytes of elements/);
    const whole = readFileSync(join(folder, DENSE));
    const shorter = Buffer.from(whole.subarray(0, 128 + 1200 * DENSE_COUNT * 4));
    shorter.write('(1200, 13)', 60);
    writeFileSync(join(own, DENSE), shorter);
    await expect(openOwn(own)).rejects.toThrow(
      /array 0 has 1,300 rows, day_23_dense\.npy has 1,200/,
    );
  });
});

describe('readLabels', () => {
  it('takes the array, else the text, else nothing', async () => {
    const own = copy(LABELS);
    writeFileSync(join(own, 'day_23'), '1\ta\n0\t\n1');
    expect((await readLabels(own, 3))?.file).toBe(LABELS);
    const text = tempFolder();
    writeFileSync(join(text, 'day_23'), '1\ta\n0\t\n1');
    expect(await readLabels(text, 3)).toEqual({ file: 'day_23', labels: Uint8Array.of(1, 0, 1) });
    expect(await readLabels(text, 2)).toEqual({ file: 'day_23', labels: Uint8Array.of(1, 0) });
    await expect(readLabels(text, 4)).rejects.toThrow(/day_23 has labels of 3 rows; .* 4/);
    expect(await readLabels(tempFolder(), 2)).toBeUndefined();
  });

  it('reads a text of many pieces', async () => {
    const own = tempFolder();
    const lines = Array.from(
      { length: 60_000 },
      (_, i) => `${i % 3 === 0 ? 1 : 0}\t${'x'.repeat(i % 200)}\n`,
    );
    writeFileSync(join(own, 'day_23'), lines.join(''));
    const labels = (await readLabels(own, lines.length))?.labels;
    expect(labels?.every((label, i) => label === Number(i % 3 === 0))).toBe(true);
  });

  it.each([
    ['2\ta\n', /day_23, line 1: does not begin with a label/],
    ['0\ta\n\n', /line 2/],
    ['0\ta\n10\tb\n', /line 2/],
  ])('refuses the text %j', async (text, message) => {
    const own = tempFolder();
    await mkdir(own, { recursive: true });
    writeFileSync(join(own, 'day_23'), text);
    await expect(readLabels(own, 2)).rejects.toThrow(message);
  });

  it('refuses an array of other labels or another shape', async () => {
    const own = copy(LABELS);
    await patch(join(own, LABELS), Uint8Array.of(2), 128 + 4 * 5);
    await expect(readLabels(own, 1300)).rejects.toThrow(/labels\.npy: the label of row 5 is 2/);
    await patch(join(own, LABELS), '(650, 2),  }', 60);
    await expect(readLabels(own, 1300)).rejects.toThrow(/<i4 \[650, 2\]; one of <i4/);
  });
});
