import {
  longStandinTextsOf,
  STANDIN_NUMBERS,
  STANDIN_WORDS,
  type StandinText,
  type StandinTexts,
  standinText,
  standinTextsOf,
} from '../../../../shared/benchmarks/standin/standin-text.ts';
import { PROGRAM_END } from '../../../../shared/rules/cards/mixtral-8x7b.ts';
import type { GeneratedSet } from '../../../../shared/rules/rows/benchmark-card.ts';
import { LONG_STAND_IN_WORD, standinSource } from '../generated-data.ts';
import type { TextRow } from './text-rows.ts';
import type { TextTokenizer } from './text-tokenizer.ts';

const CONSONANTS = 'bdfghjklmnprstvz';
const VOWELS = 'aeiou';
const SYLLABLE_COUNT = CONSONANTS.length * VOWELS.length;
const SYLLABLES_PER_WORD = 3;

/**
 * Texts that longhaul makes of words of its own, in place of a language model's data.
 * @param word `--data-dir` that asks for them.
 */
export function standinTexts(key: string, set: GeneratedSet, word: string) {
  const long = word === LONG_STAND_IN_WORD ? longStandinTextsOf(key) : undefined;
  const texts = long ?? standinTextsOf(key);
  const tokenizer = standinTokenizer(texts);
  const rows = Array.from({ length: set.sampleCount }, (_, index) =>
    rowOf(standinText(texts, set.seed, index), tokenizer),
  );
  const data = {
    set,
    value: texts.rouge1,
    name: `${key}-standin-${long === undefined ? '' : 'long-'}texts`,
    samples: `${set.sampleCount} texts of words that longhaul made up, not the benchmark's`,
  };
  const source = standinSource(key, data, word);
  return { rows, source, tokenizer };
}

function rowOf({ prompt, kind, reference, value }: StandinText, tokenizer: TextTokenizer): TextRow {
  const target = kind === 'text' ? tokenizer.decode(reference) : String(value);
  if (kind !== 'code') return { input: prompt, target, kind };
  return { input: prompt, target, kind, passes: (program) => sumOfNumbers(program) === value };
}

/** Result of a program of the made-up language. */
function sumOfNumbers(program: string): number {
  return (program.match(/\d+/g) ?? []).reduce((sum, digits) => sum + Number(digits), 0);
}

/**
 * Decodes an id as a word of three syllables, a number or a part of the text that ends a program.
 * All other ids are special tokens, which have no text.
 */
function standinTokenizer({ vocabularySize, kinds }: StandinTexts): TextTokenizer {
  const marks = new Map(kinds.includes('code') ? PROGRAM_END.map((id, i) => [id, MARKS[i]]) : []);
  const textOf = (id: number): string => {
    const mark = marks.get(id);
    if (mark !== undefined) return mark;
    if (isOf(STANDIN_WORDS, id)) return ` ${wordOf(id)}`;
    return isOf(STANDIN_NUMBERS, id) ? ` ${id - STANDIN_NUMBERS.first}` : '';
  };
  return {
    encode: () => {
      throw new Error('prompts of stand-in texts are token ids');
    },
    decode: (ids) => ids.map(textOf).join('').trimStart(),
    hasToken: (id) => id >= 0 && id < vocabularySize,
  };
}

/** Texts of {@link PROGRAM_END} by Mixtral's tokenizer. */
const MARKS = ['\n', '``', '`', '\n'];

function isOf(
  { first, count }: { readonly first: number; readonly count: number },
  id: number,
): boolean {
  return id >= first && id < first + count;
}

function wordOf(id: number): string {
  let rest = id;
  let word = '';
  for (let i = 0; i < SYLLABLES_PER_WORD; i += 1) {
    const syllable = rest % SYLLABLE_COUNT;
    const consonant = CONSONANTS.charAt(Math.floor(syllable / VOWELS.length));
    word += consonant + VOWELS.charAt(syllable % VOWELS.length);
    rest = Math.floor(rest / SYLLABLE_COUNT);
  }
  return word;
}
