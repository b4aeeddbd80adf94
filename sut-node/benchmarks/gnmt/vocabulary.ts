import { dirname, join } from 'node:path';
import { withReason } from '../../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readBoundedText } from '../../../shared/base/files/read-file.ts';
import {
  BPE_JOINT,
  GNMT_SPECIAL_TOKENS,
  GNMT_VOCABULARIES,
} from '../../../shared/rules/cards/gnmt.ts';

/** Ids of {@link GNMT_SPECIAL_TOKENS}. */
const UNKNOWN_ID = 0;
export const START_ID = 1;
export const END_ID = 2;

/** Words of the warm-up. */
const WARM_UP_WORDS = 8;

/** The two vocabularies of a model. */
export interface Vocabularies {
  /** Tokens of the target language. */
  readonly targetSize: number;
  /** Converts a blank-separated text to ids; unknown tokens become `<unk>`. */
  idsOf(text: string): number[];
  /**
   * Converts ids to text: joins parts of words, separates words by blanks. A final part without its
   * continuation is left out, as in the reference. Source: r0.5, translation/gnmt,
   * nmt/utils/misc_utils.py, format_bpe_text.
   */
  textOf(ids: readonly number[]): string;
  /** Some words of the source language. */
  readonly someText: string;
}

/**
 * Reads the vocabularies beside a model.
 * @param modelFile The model's description, or any other file in its folder.
 * @throws MlperfError `ERR_MODEL` naming the unreadable file.
 */
export function readVocabularies(modelFile: string): Vocabularies {
  const folder = dirname(modelFile);
  const source = readTokens(join(folder, GNMT_VOCABULARIES.source));
  const target = readTokens(join(folder, GNMT_VOCABULARIES.target));
  const ids = new Map(source.map((token, id) => [token, id]));
  const first = GNMT_SPECIAL_TOKENS.length;
  return {
    targetSize: target.length,
    idsOf: (text) =>
      text
        .split(' ')
        .filter((token) => token !== '')
        .map((token) => ids.get(token) ?? UNKNOWN_ID),
    // In range: the decoder has as many rows.
    textOf: (tokens) => joinParts(tokens.map((id) => target[id] as string)),
    someText: source.slice(first, first + WARM_UP_WORDS).join(' '),
  };
}

function readTokens(path: string): string[] {
  const needs = `${Object.values(GNMT_VOCABULARIES).join(' and ')} must lie beside the model's description`;
  const text = withReason(
    `cannot read vocabulary ${path} (${needs})`,
    () => readBoundedText(path, FILE_BYTES_MAX.list),
    'ERR_MODEL',
  );
  const tokens = text.replace(/\n$/, '').split('\n');
  const hasSpecial = GNMT_SPECIAL_TOKENS.every((token, id) => tokens[id]?.trim() === token);
  // The reference does the same for a vocabulary that does not begin with them.
  return hasSpecial ? tokens : [...GNMT_SPECIAL_TOKENS, ...tokens];
}

function joinParts(tokens: readonly string[]): string {
  const words: string[] = [];
  let word = '';
  for (const token of tokens) {
    if (token.endsWith(BPE_JOINT)) {
      word += token.slice(0, -BPE_JOINT.length);
    } else {
      words.push(word + token);
      word = '';
    }
  }
  return words.join(' ');
}
