import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { benchmark } from '../../../../../../loadgen-node/samples/benchmarks/bert/benchmark.ts';
import { ensureStandinSquad } from '../../../../../../loadgen-node/samples/benchmarks/bert/standin-questions.ts';
import type { DataSet } from '../../../../../../loadgen-node/samples/data-set/data-set.ts';
import { madeUpWord } from '../../../../../../shared/benchmarks/standin/made-up-words.ts';
import {
  SQUAD_STANDIN_F1,
  SQUAD_STANDIN_VOCABULARY,
} from '../../../../../../shared/benchmarks/standin/standin-squad.ts';
import { suiteFolder, tempFolder } from '../../../../../scenes/host/folders.ts';

// Goal: a folder with SQuAD's files becomes samples in each form, and whatever is wrong with it is
// named; generated data has as many samples as asked for, and says what it is. Method: a golden
// data set, one fault at a time; small generated sets.

const GOLDEN = 'test/golden/benchmarks/bert/a';
const cacheFolder = suiteFolder();

function open(
  dataFolder: string | undefined,
  generated?: { seed: number; sampleCount: number },
): Promise<DataSet> {
  return benchmark.openDataSet({ dataFolder, cacheFolder, generated, onProgress: () => {} });
}

/** A copy of the golden data with another dev-v1.1.json. */
function withSquad(text: string): string {
  const folder = tempFolder();
  cpSync(join(GOLDEN, 'vocab.txt'), join(folder, 'vocab.txt'));
  writeFileSync(join(folder, 'dev-v1.1.json'), text);
  return folder;
}

describe('openDataSet of bert', () => {
  it('opens a folder of the user and marks that it is not the whole validation set', async () => {
    expect(await open(GOLDEN)).toMatchObject({
      ...{ name: 'squad-own-data', folder: GOLDEN, totalSampleCount: 108 },
      files: ['dev-v1.1.json', 'vocab.txt'],
      marks: [
        expect.stringMatching(
          /is not the validation set of SQuAD v1.1: 26 questions, 108 samples; .* 10570 questions/,
        ),
      ],
    });
    expect((await open(GOLDEN)).quality).toBeUndefined();
  });

  it('sends token ids, or all three inputs', async () => {
    const dataSet = await open(GOLDEN);
    const [{ input_ids: tokens, first_segment1: second }] = JSON.parse(
      readFileSync(join(GOLDEN, 'features.json'), 'utf8'),
    );
    const padded = (values: readonly number[]) => [
      ...values,
      ...Array(384 - values.length).fill(0),
    ];
    const mask = padded(tokens.map(() => 1));
    const segments = padded(tokens.map((_: number, i: number) => (i < second ? 0 : 1)));
    const all = [...padded(tokens), ...mask, ...segments];
    const { buffer: ids } = (await dataSet.readPayload(0, 'ids')) as Uint8Array<ArrayBuffer>;
    expect([...new Int32Array(ids)]).toEqual(padded(tokens));
    const { buffer: words } = (await dataSet.readPayload(0, 'int32')) as Uint8Array<ArrayBuffer>;
    expect([...new Int32Array(words)]).toEqual(all);
    const { buffer: longs } = (await dataSet.readPayload(0, 'int64')) as Uint8Array<ArrayBuffer>;
    expect(Array.from(new BigInt64Array(longs), Number)).toEqual(all);
  });

  it.each([
    ['no JSON', '{', /dev-v1.1.json is not JSON: /],
    [
      'another version',
      '{"version": "v2.0", "data": []}',
      /dev-v1\.1\.json: version must be "1\.1"/,
    ],
    [
      'a question without answers',
      '{"version":"1.1","data":[{"paragraphs":[{"context":"a","qas":[{"id":"1","question":"b","answers":[]}]}]}]}',
      /: data\[0\]\.paragraphs\[0\]\.qas\[0\]\.answers must have an answer/,
    ],
    [
      'two questions of one id',
      '{"version":"1.1","data":[{"paragraphs":[{"context":"a","qas":[{"id":"1","question":"b","answers":[{"text":"a"}]},{"id":"1","question":"c","answers":[{"text":"a"}]}]}]}]}',
      /two questions have the id "1"/,
    ],
    [
      'nothing to ask',
      '{"version":"1.1","data":[]}',
      /has no question with a context of a word or more/,
    ],
  ])('refuses %s', async (_case, text, message) => {
    await expect(open(withSquad(text))).rejects.toMatchObject({
      code: 'ERR_DATA_SET',
      message: expect.stringMatching(message),
    });
  });

  it('says what a folder needs', async () => {
    await expect(open(undefined)).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringMatching(
        /--data-dir FOLDER with dev-v1.1.json .* vocab.txt .* --data-dir standin/,
      ),
    });
    await expect(open(tempFolder())).rejects.toThrow(/lacks dev-v1\.1\.json and vocab\.txt \(/);
  });

  it('makes as many samples as asked for, a smaller set being the beginning of a larger one', async () => {
    const small = await open('standin', { seed: 12, sampleCount: 40 });
    const large = await open('standin', { seed: 12, sampleCount: 80 });
    expect([small.totalSampleCount, large.totalSampleCount]).toEqual([40, 80]);
    expect(small.name).toBe('squad-standin-seed-12-count-40');
    for (const index of [0, 20, 38]) {
      expect(await small.readPayload(index, 'ids')).toEqual(await large.readPayload(index, 'ids'));
    }
    expect(small.quality).toMatchObject({ metric: 'F1', target: SQUAD_STANDIN_F1 * 0.99 });
    expect(small.marks).toEqual([
      'the data set is a stand-in: 40 samples of questions made by longhaul, not SQuAD',
      expect.stringContaining('is not the standard one: 40'),
    ]);
    const other = await open('standin', { seed: 13, sampleCount: 40 });
    expect(await other.readPayload(0, 'ids')).not.toEqual(await small.readPayload(0, 'ids'));
  });

  it('makes answers between a key word and its closing word, nine of ten asked for by that key word', async () => {
    const folder = await ensureStandinSquad(
      { seed: 12, sampleCount: 80 },
      { cacheFolder, onProgress: () => {} },
    );
    const { keyCount } = SQUAD_STANDIN_VOCABULARY;
    const closing = new Map(
      Array.from({ length: keyCount }, (_, n) => [madeUpWord(n), madeUpWord(keyCount + n)]),
    );
    const { data } = JSON.parse(readFileSync(join(folder, 'dev-v1.1.json'), 'utf8'));
    let [count, askedCount] = [0, 0];
    for (const { context, qas } of data[0].paragraphs) {
      for (const { question, answers } of qas) {
        const [{ answer_start: begin, text }] = answers;
        expect(context.slice(begin, begin + text.length)).toBe(text);
        const [before] = context
          .slice(0, begin - 1)
          .split(' ')
          .slice(-1);
        const [behind] = context.slice(begin + text.length + 1).split(' ');
        expect(behind).toBe(closing.get(before));
        const words: string[] = question.toLowerCase().split(/[^\p{L}\d]+/u);
        expect(words.filter((word) => closing.has(word))).toHaveLength(1);
        count += 1;
        askedCount += Number(words.includes(before));
      }
    }
    expect(askedCount / count).toBeGreaterThan(0.85);
    expect(askedCount / count).toBeLessThan(0.95);
  });
});
