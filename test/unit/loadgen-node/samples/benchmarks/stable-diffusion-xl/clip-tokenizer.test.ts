import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { benchmark } from '../../../../../../loadgen-node/samples/benchmarks/stable-diffusion-xl/benchmark.ts';
import { encodePng } from '../../../../../../loadgen-node/samples/benchmarks/stable-diffusion-xl/png.ts';
import { bicubicBytes } from '../../../../../../loadgen-node/samples/benchmarks/stable-diffusion-xl/resize-picture.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';

// Goal: a folder of the user's becomes token ids as the reference's tokenizers make them, and what
// is wrong in it is named; what pictures become for a score is right. Method: a vocabulary small
// enough to merge by hand.

const VOCABULARY = [
  ...['!', 'a', 't', 'c', '!</w>', 'a</w>', 't</w>', "'s</w>", 'ca', 'cat</w>', "'", 's</w>'],
  ...['<|startoftext|>', '<|endoftext|>'],
];
const [BEGIN, END] = [12, 13];

function folderWith(captions: string): string {
  const folder = tempFolder();
  mkdirSync(join(folder, 'captions'));
  writeFileSync(join(folder, 'captions/captions.tsv'), captions);
  for (const [name, pad] of [
    ['tokenizer', { content: '<|endoftext|>' }],
    ['tokenizer_2', '!'],
  ] as const) {
    mkdirSync(join(folder, name));
    const ids = Object.fromEntries(VOCABULARY.map((token, id) => [token, id]));
    writeFileSync(join(folder, name, 'vocab.json'), JSON.stringify(ids));
    writeFileSync(join(folder, name, 'merges.txt'), "#version: 0.2\nc a\nca t</w>\n' s</w>\n");
    const specials = { bos_token: '<|startoftext|>', eos_token: '<|endoftext|>', pad_token: pad };
    writeFileSync(join(folder, name, 'special_tokens_map.json'), JSON.stringify(specials));
  }
  return folder;
}

async function open(dataFolder: string) {
  return benchmark.openDataSet({ dataFolder, cacheFolder: '', onProgress: () => undefined });
}

async function idsOf(caption: string): Promise<number[][]> {
  const dataSet = await open(folderWith(`id\tcaption\n1\t${caption}\n`));
  const ids = new Int32Array((await dataSet.readPayload(0, 'ids')).buffer as ArrayBuffer);
  return [0, 1, 2, 3].map((row) => [...ids.subarray(row * 77, (row + 1) * 77)]);
}

describe('prompts of a folder', () => {
  it('are lower case, merged, between beginning and end, with the padding of each tokenizer', async () => {
    const [first, second, negative] = await idsOf(`"A  ""CAT's"""`);
    // The quote is in no vocabulary: such a symbol is the unknown token, the end.
    expect(first?.slice(0, 7)).toEqual([BEGIN, 5, END, 9, 7, END, END]);
    expect(first).toHaveLength(77);
    expect(second?.slice(0, 8)).toEqual([BEGIN, 5, END, 9, 7, END, END, 0]);
    expect(negative?.[0]).toBe(BEGIN);
  });

  it('have an exclamation mark that is padding of the second tokenizer, a word of the first', async () => {
    const [first, second] = await idsOf('cat!');
    expect(first?.slice(0, 5)).toEqual([BEGIN, 9, 4, END, END]);
    expect(second?.slice(0, 5)).toEqual([BEGIN, 9, 0, END, 0]);
  });

  it('are cut so that the end has a place', async () => {
    const [first] = await idsOf('a '.repeat(100).trim());
    expect(first?.slice(74)).toEqual([5, 5, END]);
  });

  it('are refused with file and line', async () => {
    await expect(open(tempFolder())).rejects.toThrow(
      /captions\.tsv: .*(no such|not exist|ENOENT)/i,
    );
    await expect(open(folderWith('id\ttext\n1\ta\n'))).rejects.toThrow(/no column "caption"/);
    await expect(open(folderWith('id\tcaption\n1\n'))).rejects.toThrow(/line 2: has 1 fields of 2/);
    const folder = folderWith('caption\na\n');
    writeFileSync(join(folder, 'tokenizer_2/vocab.json'), '{"a": "b"}');
    await expect(open(folder)).rejects.toThrow(
      /tokenizer_2\/vocab\.json: a must be a number; it is "b"$/,
    );
    writeFileSync(join(folder, 'tokenizer_2/vocab.json'), '{}');
    await expect(open(folder)).rejects.toThrow(/has no "<\|startoftext\|>"/);
  });

  it('say before a run that no score can be had', async () => {
    const { marks = [] } = await open(folderWith('caption\na\n'));
    expect(marks.join()).toContain('no inception.onnx, clip.onnx, val2014.npz');
    const dataSet = await open(folderWith('caption\na\n'));
    await expect(dataSet.scoreAccuracy([])).rejects.toMatchObject({ code: 'ERR_NOT_INSTALLED' });
  });
});

describe('pictures for a score', () => {
  it('stay as they are where they are even, and keep their mean where not', () => {
    const even = bicubicBytes(new Uint8Array(64 * 64 * 3).fill(77), 64, 14);
    expect(new Set(even)).toEqual(new Set([77]));
    const ramp = Uint8Array.from({ length: 64 * 64 * 3 }, (_, i) => Math.floor((i / 3) % 64) * 4);
    const line = bicubicBytes(ramp, 64, 16)
      .filter((_, i) => i % 3 === 0)
      .subarray(0, 16);
    // Of a slope the cubic gives the slope: 16 per pixel, from the middle of the first four.
    expect([...line.subarray(2, 14)]).toEqual(Array.from({ length: 12 }, (_, i) => 38 + 16 * i));
  });

  it('become PNG files of RGB', () => {
    const png = Buffer.from(encodePng(Uint8Array.of(1, 2, 3, 4, 5, 6), 1));
    expect(png.subarray(12, 29).toString('hex')).toBe(
      `49484452${'00000001'}${'00000002'}${'0802000000'}`,
    );
    const length = png.readUInt32BE(33);
    expect([...inflateSync(png.subarray(41, 41 + length))]).toEqual([0, 1, 2, 3, 0, 4, 5, 6]);
  });
});
