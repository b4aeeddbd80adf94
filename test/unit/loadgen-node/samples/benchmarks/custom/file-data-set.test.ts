import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { benchmark } from '../../../../../../loadgen-node/samples/benchmarks/custom/benchmark.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';

// Goal: every file of a folder is a sample, in an order that no machine changes. Method: a small
// folder.

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = tempFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  mkdirSync(join(folder, 'a-folder'));
  return folder;
}

const open = (dataFolder: string | undefined) =>
  benchmark.openDataSet({ dataFolder, cacheFolder: '/nowhere', onProgress: () => {} });

describe('the data set of the benchmark custom', () => {
  it('has the files of the folder by name, without hidden ones, folders and the list of checksums', async () => {
    const beside = { '.x': 'hidden', SHA256SUMS: 'a list' };
    const dataSet = await open(folderOf({ b: 'two', a10: 'one', Z: 'zero', ...beside }));
    expect(dataSet.totalSampleCount).toBe(3);
    expect(dataSet.files).toEqual(['Z', 'a10', 'b']);
    const texts = await Promise.all([0, 1, 2].map((index) => dataSet.readPayload(index, 'raw')));
    expect(texts.map((bytes) => Buffer.from(bytes).toString())).toEqual(['zero', 'one', 'two']);
  });

  it('scores which samples were answered, each once', async () => {
    const dataSet = await open(folderOf({ a: '1', b: '2', c: '3' }));
    const [full, empty] = [Uint8Array.of(0), new Uint8Array(0)];
    const entries = [
      { sampleIndex: 0, response: full },
      { sampleIndex: 0, response: empty },
      { sampleIndex: 2, response: empty },
    ];
    expect(await dataSet.scoreAccuracy(entries)).toEqual({
      metric: 'answered',
      value: 0.5,
      correctCount: 1,
      sampleCount: 2,
    });
    await expect(dataSet.scoreAccuracy([{ sampleIndex: 3, response: full }])).rejects.toThrow(
      '0 to 2',
    );
  });

  it('names a file that is empty', async () => {
    const dataSet = await open(folderOf({ a: '' }));
    await expect(dataSet.readPayload(0, 'raw')).rejects.toMatchObject({
      code: 'ERR_DATA_SET',
      message: expect.stringMatching(/a is empty; a sample has one byte at least/),
    });
  });

  it.each([
    ['no folder', () => undefined, 'ERR_CONFIG_INVALID', 'needs samples: --data random'],
    ['a folder that is not there', () => '/nowhere/x', 'ERR_DATA_SET', 'no such file or folder'],
    ['a folder without files', () => folderOf({}), 'ERR_DATA_SET', 'has no files'],
  ])('refuses %s', async (_case, folder, code, message) => {
    await expect(open(folder())).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });
});
