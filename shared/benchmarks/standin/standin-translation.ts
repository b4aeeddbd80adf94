import { BPE_JOINT, GNMT_SPECIAL_TOKENS } from '../../rules/cards/gnmt.ts';
import { madeUpWord } from './made-up-words.ts';

/** Raise with every change of the words or sentences: no data set and no model of the old way is found in the cache then. */
export const TRANSLATION_REVISION = 1;

/** BLEU of the stand-in model on the standard sentences, 0 to 1, whatever its cost. */
export const TRANSLATION_STANDIN_BLEU = 0.642;

/** Words of the source language. */
export const SOURCE_WORD_COUNT = 800;

/** Words that a word can become, and how probably: one or two tokens. */
export interface Translation {
  readonly tokens: readonly string[];
  readonly probability: number;
}

/**
 * The translations of source word `n`. Of eight words four have one token, two have two that are joined, one has two translations, and
 * one is translated best by a token that is not the most probable first one: a search with one beam misses it.
 */
export function translationsOf(n: number): Translation[] {
  // The words behind those of the source language, four for each.
  const [a, b, c, d] = [0, 1, 2, 3].map((i) => madeUpWord(SOURCE_WORD_COUNT + 4 * n + i)) as [
    string,
    string,
    string,
    string,
  ];
  const joined = a + BPE_JOINT;
  switch (n % 8) {
    case 4:
    case 5:
      return [{ tokens: [joined, b], probability: 1 }];
    case 6:
      return [
        { tokens: [a], probability: 0.7 },
        { tokens: [joined, b], probability: 0.3 },
      ];
    case 7:
      return [
        { tokens: [d], probability: 0.45 },
        { tokens: [joined, b], probability: 0.3 },
        { tokens: [joined, c], probability: 0.25 },
      ];
    default:
      return [{ tokens: [a], probability: 1 }];
  }
}

/** Tokens of both languages by id: the special ones, the source words, then their translations. */
export function translationVocabulary(): string[] {
  const tokens = new Set<string>(GNMT_SPECIAL_TOKENS);
  for (let n = 0; n < SOURCE_WORD_COUNT; n += 1) tokens.add(madeUpWord(n));
  for (let n = 0; n < SOURCE_WORD_COUNT; n += 1) {
    for (const { tokens: own } of translationsOf(n)) for (const token of own) tokens.add(token);
  }
  return [...tokens];
}
