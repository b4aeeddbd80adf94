import type { GeneratedSet } from '../../../../shared/benchmarks/digits/digit-sets.ts';
import {
  STANDIN_WORDS,
  standinText,
  standinTextsOf,
} from '../../../../shared/benchmarks/standin/standin-text.ts';
import { standinSource } from '../generated-data.ts';
import type { TextRow } from './text-rows.ts';
import type { TextTokenizer } from './text-tokenizer.ts';

const CONSONANTS = 'bdfghjklmnprstvz';
const VOWELS = 'aeiou';
const SYLLABLE_COUNT = CONSONANTS.length * VOWELS.length;
const SYLLABLES_PER_WORD = 3;

/** Texts that longhaul makes of words of its own, in place of a language model's data. @param asked Undefined: the standard one. */
export function standinTexts(key: string, asked: GeneratedSet | undefined) {
  const texts = standinTextsOf(key);
  const { rouge1, vocabularySize } = texts;
  const set = asked ?? texts.set;
  const tokenizer = standinTokenizer(vocabularySize);
  const rows = Array.from({ length: set.sampleCount }, (_, index): TextRow => {
    const { prompt, reference } = standinText(texts, set.seed, index);
    return { input: prompt, target: tokenizer.decode(reference), kind: 'text' };
  });
  const source = standinSource(key, {
    name: `${key}-standin-texts`,
    set,
    value: rouge1,
    samples: `${set.sampleCount} texts of words that longhaul made up, not the benchmark's`,
  });
  return { rows, source, tokenizer };
}

/** Each id is a word of three syllables; ids that are no word are special. */
function standinTokenizer(vocabularySize: number): TextTokenizer {
  return {
    encode: () => {
      throw new Error('prompts of stand-in texts are token ids');
    },
    decode: (ids) => ids.filter(isWord).map(wordOf).join(' '),
    hasToken: (id) => id >= 0 && id < vocabularySize,
  };
}

function isWord(id: number): boolean {
  const { first, count } = STANDIN_WORDS;
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
