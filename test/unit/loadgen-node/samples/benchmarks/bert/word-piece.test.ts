import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  basicWords,
  readWordPieces,
  wordPieces,
} from '../../../../../../loadgen-node/samples/benchmarks/bert/word-piece.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';

// Goal: texts are cut as BERT's tokenizer cuts them, and a file that is no vocabulary is refused.
// Method: one kind of character at a time; a vocabulary of a few tokens.

const TOKENS = [
  '[PAD]',
  '[UNK]',
  '[CLS]',
  '[SEP]',
  'play',
  'plays',
  '##ing',
  '##s',
  ',',
  'x',
  '##x',
];

describe('basicWords', () => {
  it.each([
    ['lower case and no accents', 'Crème BRÛLÉE', ['creme', 'brulee']],
    [
      'punctuation apart, symbols of ASCII too',
      'a-b$c“d”',
      ['a', '-', 'b', '$', 'c', '“', 'd', '”'],
    ],
    ['symbols beyond ASCII stay', 'a€b', ['a€b']],
    ['ideographs apart', 'x中文y', ['x', '中', '文', 'y']],
    ['an ideograph of two UTF-16 units apart', 'x\u{20000}y', ['x', '\u{20000}', 'y']],
    ['control characters vanish', 'a\u0000b\u200Bc\uFFFDd', ['abcd']],
    ['all blanks separate', 'a\tb\nc\rd\u00A0e\u202Ff\u3000g\u2028h', [...'abcdefgh']],
    ['a sharp s stays', 'Straße', ['straße']],
    ['nothing at all', ' \t', []],
  ])('%s', (_case, text, words) => {
    expect(basicWords(text)).toEqual(words);
  });
});

describe('wordPieces', () => {
  const { idsOf } = wordPieces(TOKENS, 'vocab.txt');

  it('takes the longest piece, again and again', () => {
    expect(idsOf('Playing plays, play')).toEqual([4, 6, 5, 8, 4]);
  });

  it('has one unknown token for a word of which a part is unknown', () => {
    expect(idsOf('playxed play')).toEqual([1, 4]);
  });

  it('does not cut words of more than 100 characters', () => {
    expect(idsOf('x'.repeat(100))).toEqual([9, ...Array(99).fill(10)]);
    expect(idsOf('x'.repeat(101))).toEqual([1]);
  });
});

describe('readWordPieces', () => {
  async function read(text: string) {
    const path = join(tempFolder(), 'vocab.txt');
    await writeFile(path, text);
    return readWordPieces(path);
  }

  it('takes both kinds of line ends, with and without the last one', async () => {
    for (const end of ['\n', '\r\n']) {
      const { tokens, clsId, sepId } = await read(TOKENS.join(end) + end);
      expect({ tokens, clsId, sepId }).toEqual({ tokens: TOKENS, clsId: 2, sepId: 3 });
    }
    expect((await read(TOKENS.join('\n'))).tokens).toEqual(TOKENS);
  });

  it('refuses a file without the special tokens', async () => {
    await expect(read('[UNK]\n[CLS]\nplay\n')).rejects.toMatchObject({
      code: 'ERR_DATA_SET',
      message: expect.stringMatching(
        /vocab.txt has no line "\[SEP\]": it is not a BERT vocabulary; its 3 lines/,
      ),
    });
  });

  it('names a file that is not there', async () => {
    await expect(readWordPieces('/nowhere/vocab.txt')).rejects.toMatchObject({
      code: 'ERR_DATA_SET',
      message: expect.stringContaining('/nowhere/vocab.txt: '),
    });
  });
});
