import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import { PROMPT_TOKENS } from '../../../../shared/rules/cards/stable-diffusion-xl.ts';
import { readingFile } from '../../data-set/data-set.ts';
import { readJsonForm } from '../../data-set/read-json.ts';

/** Files of a tokenizer in a Hugging Face checkpoint. */
export const TOKENIZER_FILES = ['vocab.json', 'merges.txt', 'special_tokens_map.json'] as const;

/** CLIP's byte-level BPE. */
export interface ClipTokenizer {
  /** 77 ids of a text: start token, as many tokens as fit, end token, padding. */
  idsOf(text: string): Int32Array;
}

const VOCABULARY = z.record(
  z.string(),
  z
    .int()
    .min(0)
    .max(2 ** 31 - 1),
);
const SPECIAL = z.union([z.string(), z.object({ content: z.string() })]);
const SPECIALS = z.object({ bos_token: SPECIAL, eos_token: SPECIAL, pad_token: SPECIAL });

/**
 * Pattern for the parts of a text that are merged separately. Source: transformers, CLIPTokenizer.
 */
const PARTS = /'s|'t|'re|'ve|'m|'ll|'d|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+/giu;
const IDEOGRAPH =
  /[\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF\u{20000}-\u{2A6DF}\u{2A700}-\u{2CEAF}\u{2F800}-\u{2FA1F}]/gu;
const DROPPED = /[\0\uFFFD]|(?![\t\n\r])\p{C}/gu;

/** Suffix of a word's last symbol. */
const WORD_END = '</w>';

/**
 * Reads a tokenizer like transformers' CLIPTokenizer without ftfy (which does not change COCO's
 * captions).
 * @throws MlperfError `ERR_DATA_SET` with the missing or wrong file.
 */
export async function readClipTokenizer(folder: string): Promise<ClipTokenizer> {
  const [vocabularyFile, mergesFile, specialsFile] = TOKENIZER_FILES;
  const vocabulary = await readJsonForm(join(folder, vocabularyFile), VOCABULARY);
  const specials = await readJsonForm(join(folder, specialsFile), SPECIALS);
  const mergesPath = join(folder, mergesFile);
  const merges = await readingFile(mergesPath, () => readFile(mergesPath, 'utf8'));
  const ids = new Map(Object.entries(vocabulary));
  const [begin, end, pad] = [specials.bos_token, specials.eos_token, specials.pad_token].map(
    (special) => {
      const token = typeof special === 'string' ? special : special.content;
      const id = ids.get(token);
      if (id !== undefined) return { token, id };
      throw dataSetError(
        `${join(folder, vocabularyFile)} has no ${JSON.stringify(token)}, which ${specialsFile} names`,
      );
    },
  ) as [Special, Special, Special];
  return clipTokenizer({ ids, ranks: ranksOf(merges, mergesPath), begin, end, pad });
}

interface Special {
  readonly token: string;
  readonly id: number;
}

interface Parts {
  readonly ids: ReadonlyMap<string, number>;
  /** Merge rank by pair of symbols, separated by a blank. */
  readonly ranks: ReadonlyMap<string, number>;
  readonly begin: Special;
  readonly end: Special;
  readonly pad: Special;
}

function clipTokenizer({ ids, ranks, begin, end, pad }: Parts): ClipTokenizer {
  const specials = new Map([begin, end, pad].map(({ token, id }) => [token, id]));
  const known = new Map<string, readonly number[]>();
  const idsOfPart = (part: string): readonly number[] => {
    const found = known.get(part) ?? merge(part, ranks).map((token) => ids.get(token) ?? end.id);
    known.set(part, found);
    return found;
  };
  return {
    idsOf: (text) => {
      const tokens = splitAt(text, [...specials.keys()]).flatMap((piece) => {
        const special = specials.get(piece);
        if (special !== undefined) return [special];
        const clean = piece.normalize('NFC').replace(DROPPED, '').replace(IDEOGRAPH, ' $& ');
        return (clean.toLowerCase().match(PARTS) ?? []).flatMap(idsOfPart);
      });
      const all = [begin.id, ...tokens.slice(0, PROMPT_TOKENS - 2), end.id];
      return Int32Array.from({ length: PROMPT_TOKENS }, (_, i) => all[i] ?? pad.id);
    },
  };
}

/**
 * Splits a text at special tokens, which map to themselves; in the second tokenizer that includes
 * its padding, the exclamation mark.
 */
function splitAt(text: string, tokens: readonly string[]): string[] {
  let pieces = [text];
  for (const token of tokens) {
    pieces = pieces.flatMap((piece) =>
      tokens.includes(piece)
        ? [piece]
        : piece.split(token).flatMap((part, i) => (i === 0 ? [part] : [token, part])),
    );
  }
  return pieces;
}

/** Symbols of a part, after repeatedly merging the pair with the lowest rank. */
function merge(part: string, ranks: ReadonlyMap<string, number>): string[] {
  const bytes = [...new TextEncoder().encode(part)];
  let symbols = bytes.map((byte, i) => {
    return `${BYTE_SYMBOLS[byte]}${i === bytes.length - 1 ? WORD_END : ''}`;
  });
  while (symbols.length > 1) {
    let best = '';
    let rank = Number.POSITIVE_INFINITY;
    for (let i = 0; i + 1 < symbols.length; i += 1) {
      const pair = `${symbols[i]} ${symbols[i + 1]}`;
      const found = ranks.get(pair) ?? Number.POSITIVE_INFINITY;
      if (found < rank) [best, rank] = [pair, found];
    }
    if (rank === Number.POSITIVE_INFINITY) break;
    symbols = joined(symbols, best);
  }
  return symbols;
}

/** Symbols with every occurrence of `pair` merged. */
function joined(symbols: readonly string[], pair: string): string[] {
  const merged: string[] = [];
  for (let i = 0; i < symbols.length; i += 1) {
    const isPair = `${symbols[i]} ${symbols[i + 1]}` === pair;
    merged.push(isPair ? pair.replace(' ', '') : (symbols[i] as string));
    if (isPair) i += 1;
  }
  return merged;
}

/**
 * A printable character for each byte; unprintable bytes and blanks map to characters from 256 on.
 * Source: GPT-2's encoder.py.
 */
const BYTE_SYMBOLS: readonly string[] = (() => {
  let further = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const isPrintable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    return String.fromCharCode(isPrintable ? byte : further++);
  });
})();

/** The first line is a heading. */
function ranksOf(text: string, path: string): ReadonlyMap<string, number> {
  const lines = text.trimEnd().split('\n').slice(1);
  return new Map(
    lines.map((line, i) => {
      if (line.split(' ').length === 2) return [line, i];
      throw dataSetError(`${path}, line ${i + 2}: a merge is two symbols with a blank between`);
    }),
  );
}
