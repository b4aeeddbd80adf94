import { at } from '../../base/at.ts';

const CONSONANTS = 'bcdfghjklmnprstvwxyz';
const VOWELS = 'aeiou';

/** Syllables that there are. */
export const SYLLABLE_COUNT: number = CONSONANTS.length * VOWELS.length;

/** Words of two syllables; those after them have three. */
export const SHORT_WORD_COUNT: number = SYLLABLE_COUNT ** 2;

/** Syllable `n` of {@link SYLLABLE_COUNT}: a consonant and a vowel. */
export function madeUpSyllable(n: number): string {
  const consonant = at(CONSONANTS, Math.floor(n / VOWELS.length));
  return consonant + at(VOWELS, n % VOWELS.length);
}

/** Word `n`, which means nothing: no two are equal. */
export function madeUpWord(n: number): string {
  const first = n < SHORT_WORD_COUNT ? '' : madeUpSyllable(Math.floor(n / SHORT_WORD_COUNT) - 1);
  const rest = n % SHORT_WORD_COUNT;
  return (
    first +
    madeUpSyllable(Math.floor(rest / SYLLABLE_COUNT)) +
    madeUpSyllable(rest % SYLLABLE_COUNT)
  );
}
