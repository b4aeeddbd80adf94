import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { benchmark } from '../../../../../../loadgen-node/samples/benchmarks/gnmt/benchmark.ts';
import type { DataSet } from '../../../../../../loadgen-node/samples/data-set/data-set.ts';
import { TRANSLATION_STANDIN_BLEU } from '../../../../../../shared/benchmarks/standin/standin-translation.ts';
import { suiteFolder, tempFolder } from '../../../../../scenes/host/folders.ts';

// Goal: a folder with the official files' names becomes samples, and whatever is wrong with it is
// named. Method: small files, one fault at a time; made-up sentences.

const SOURCE = 'newstest2014.tok.bpe.32000.en';
const REFERENCE = 'newstest2014.tok.bpe.32000.de';
const cacheFolder = suiteFolder();

function open(
  dataFolder: string | undefined,
  generated?: { seed: number; sampleCount: number },
): Promise<DataSet> {
  return benchmark.openDataSet({ dataFolder, cacheFolder, generated, onProgress: () => {} });
}

function folderOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = tempFolder();
  const all = { [SOURCE]: 'a b@@ c\n ä d\n', [REFERENCE]: 'A\nB\n', ...files };
  for (const [file, text] of Object.entries(all)) writeFileSync(join(folder, file), text);
  return folder;
}

describe('openDataSet of gnmt', () => {
  it('opens a folder of the user and sends its lines as they are', async () => {
    const folder = folderOf({ 'vocab.bpe.32000.en': '<unk>\n' });
    const dataSet = await open(folder);
    expect(dataSet).toMatchObject({
      ...{ name: 'newstest-own-data', folder, totalSampleCount: 2, performanceRepeats: 1300 },
      files: [SOURCE, REFERENCE, 'vocab.bpe.32000.en'],
      marks: [
        expect.stringMatching(/is not newstest2014 .*: 2 sentences; .* 3,003, and 3,903,900/),
      ],
    });
    expect(Buffer.from(await dataSet.readPayload(1, 'text')).toString()).toBe(' ä d');
  });

  it('takes the large file only if it is the lines 1,300 times', async () => {
    const round = 'a b@@ c\n ä d\n';
    const large = (text: string) => folderOf({ [`${SOURCE}.large`]: text });
    expect((await open(large(round.repeat(1300)))).files).toContain(`${SOURCE}.large`);
    for (const other of [
      round.repeat(1299),
      round.repeat(1301),
      `x${round.repeat(1300).slice(1)}`,
    ]) {
      await expect(open(large(other))).rejects.toThrow(
        `${SOURCE}.large is not ${SOURCE} 1300 times`,
      );
    }
  });

  it.each<[string, Record<string, string | Uint8Array>, string]>([
    ['other numbers of lines', { [REFERENCE]: 'A\n' }, `${SOURCE} has 2 lines, ${REFERENCE} 1`],
    ['a line without a word', { [SOURCE]: 'a\n  \n' }, `${SOURCE}, line 2: it has no word`],
    ['an empty file', { [REFERENCE]: '' }, `${REFERENCE} has no line`],
    ['no text', { [SOURCE]: Uint8Array.of(0xff, 10) }, `${SOURCE} is not UTF-8 text`],
  ])('refuses %s', async (_, files, text) => {
    await expect(open(folderOf(files))).rejects.toMatchObject({
      ...{ code: 'ERR_DATA_SET', message: expect.stringContaining(text) },
    });
  });

  it('names missing files, and wants a folder that is there', async () => {
    const folder = tempFolder();
    await expect(open(folder)).rejects.toThrow(`${folder} lacks ${SOURCE} and ${REFERENCE} (`);
    await expect(open(undefined)).rejects.toThrow('needs --data-dir FOLDER');
    await expect(open(join(folder, 'none'))).rejects.toMatchObject({
      code: 'ERR_DATA_SET',
      message: expect.stringMatching(
        /none: there is no such folder; benchmark gnmt needs --data-dir/,
      ),
    });
  });

  it('makes up sentences, says so, and has their quality', async () => {
    const dataSet = await open('standin', { seed: 5, sampleCount: 3 });
    expect(dataSet).toMatchObject({
      ...{ name: 'newstest-standin-seed-5-count-3', totalSampleCount: 3, isManifestChecked: true },
      quality: { metric: 'BLEU', reference: { value: TRANSLATION_STANDIN_BLEU } },
      marks: [expect.stringContaining('stand-in'), expect.stringContaining('seed 5')],
    });
    const line = Buffer.from(await dataSet.readPayload(2, 'text')).toString();
    expect(line).toMatch(/^[a-z]{4}(@@)?( [a-z]{4}(@@)?){3,39}$/);
  });
});
