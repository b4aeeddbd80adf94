import { readFile } from 'node:fs/promises';
import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import { readingFile } from '../../data-set/data-set.ts';

/** Removed characters: NUL, the replacement character, and category C except tab and line ends. */
const DROPPED = /[\0\uFFFD]|(?![\t\n\r])\p{C}/gu;
const SPACE = /[\t\n\r\p{Zs}]/gu;
/** Ideographs; each is a separate word. */
const IDEOGRAPH =
  /[\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF\u{20000}-\u{2A6DF}\u{2A700}-\u{2CEAF}\u{2F800}-\u{2FA1F}]/gu;
const ACCENT = /\p{Mn}/gu;
/**
 * Punctuation; each is a separate word: Unicode punctuation, and all ASCII except letters, digits
 * and blanks.
 */
const PUNCTUATION = /[!-/:-@[-`{-~\p{P}]/gu;

/** Longest word to split, in characters; longer ones are unknown. */
const WORD_MAX = 100;

/**
 * Words of a text for BERT's uncased models: lower case, no accents, punctuation and ideographs
 * separated. Source: google-research/bert, tokenization.py, `BasicTokenizer`.
 */
export function basicWords(text: string): string[] {
  return text
    .replace(DROPPED, '')
    .replace(SPACE, ' ')
    .replace(IDEOGRAPH, ' $& ')
    .toLowerCase()
    .normalize('NFD')
    .replace(ACCENT, '')
    .replace(PUNCTUATION, ' $& ')
    .split(/\s+/)
    .filter((word) => word !== '');
}

/** A vocabulary, and its tokenizer. */
export interface WordPieces {
  /** Token by id. */
  readonly tokens: readonly string[];
  readonly clsId: number;
  readonly sepId: number;
  /**
   * Token ids of a text: each word is split into longest matching pieces; `[UNK]` for a word
   * without a match.
   */
  idsOf(text: string): number[];
}

/**
 * Reads vocab.txt: one token per line; the line number, from 0, is its id.
 * @throws MlperfError `ERR_DATA_SET` if it cannot be read, or lacks `[UNK]`, `[CLS]` or `[SEP]`.
 */
export async function readWordPieces(path: string): Promise<WordPieces> {
  const text = await readingFile(path, () => readFile(path, 'utf8'));
  return wordPieces(text.replace(/\r?\n$/, '').split(/\r\n|\n|\r/), path);
}

/** @param path Of the vocabulary, for messages. */
export function wordPieces(tokens: readonly string[], path: string): WordPieces {
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const [unknownId, clsId, sepId] = ['[UNK]', '[CLS]', '[SEP]'].map((token) => {
    const id = ids.get(token);
    if (id !== undefined) return id;
    throw dataSetError(
      `${path} has no line "${token}": it is not a BERT vocabulary; ` +
        `its ${tokens.length} lines must be one token each`,
    );
  }) as [number, number, number];
  // Cache: most words of a data set repeat.
  const cut = new Map<string, readonly number[]>();
  const piecesOf = (text: string): readonly number[] => {
    let pieces = cut.get(text);
    if (pieces === undefined) {
      pieces = basicWords(text).flatMap((word) => cutWord(word, ids) ?? [unknownId]);
      cut.set(text, pieces);
    }
    return pieces;
  };
  return { tokens, clsId, sepId, idsOf: (text) => text.split(' ').flatMap(piecesOf) };
}

/** Ids of a word's pieces; undefined if a piece has no token, or if the word is too long. */
function cutWord(word: string, ids: ReadonlyMap<string, number>): number[] | undefined {
  if (word.length > WORD_MAX && [...word].length > WORD_MAX) return undefined;
  const pieces: number[] = [];
  for (let begin = 0; begin < word.length; ) {
    let end = word.length;
    let id: number | undefined;
    while (id === undefined && end > begin) {
      id = ids.get((begin === 0 ? '' : '##') + word.slice(begin, end));
      if (id === undefined) end -= 1;
    }
    if (id === undefined) return undefined;
    pieces.push(id);
    begin = end;
  }
  return pieces;
}
