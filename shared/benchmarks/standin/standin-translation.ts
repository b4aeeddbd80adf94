import { BPE_JOINT, GNMT_SPECIAL_TOKENS } from '../../rules/cards/gnmt.ts';
import { madeUpWord } from './made-up-words.ts';

/**
 * Raise with every change of the words or sentences: no data set of the old way is found in the
 * cache then.
 */
export const TRANSLATION_REVISION = 2;

/** BLEU of the stand-in model on the standard sentences, 0 to 1, whatever its cost. */
export const TRANSLATION_STANDIN_BLEU = 0.686;

/** Tokens of the source language. The translation of one has an id so many further on. */
export const SOURCE_WORD_COUNT = 800;

/**
 * Token `n` of either language: each fourth one is the beginning of a word, which the next token
 * ends.
 */
export function translationToken(n: number): string {
  return n % 4 === 3 ? madeUpWord(n) + BPE_JOINT : madeUpWord(n);
}

/**
 * Tokens of both languages by id: the special ones, those of the source, then their translations.
 */
export function translationVocabulary(): string[] {
  const tokens = Array.from({ length: 2 * SOURCE_WORD_COUNT }, (_, n) => translationToken(n));
  return [...GNMT_SPECIAL_TOKENS, ...tokens];
}
