/** Words whose stem follows no rule. */
const IRREGULAR: ReadonlyMap<string, string> = new Map([
  ...['sky', 'news', 'howe', 'proceed', 'exceed', 'succeed', 'inning', 'outing', 'canning'].map(
    (word): [string, string] => [word, word],
  ),
  ['skies', 'sky'],
  ['dying', 'die'],
  ['lying', 'lie'],
  ['tying', 'tie'],
  ['innings', 'inning'],
  ['outings', 'outing'],
  ['cannings', 'canning'],
]);

/** A suffix and its replacement. */
type Replacement = readonly [suffix: string, by: string];

const STEP_2: readonly Replacement[] = [
  ...pairs('ational ate, tional tion, enci ence, anci ance, izer ize, bli ble, alli al, entli ent'),
  ...pairs(
    'eli e, ousli ous, ization ize, ation ate, ator ate, alism al, iveness ive, fulness ful',
  ),
  ...pairs('ousness ous, aliti al, iviti ive, biliti ble, fulli ful'),
];
const STEP_3 = pairs('icate ic, ative, alize al, iciti ic, ical ic, ful, ness');
const STEP_4 = pairs(
  'al, ance, ence, er, ic, able, ible, ant, ement, ment, ent, ion, ou, ism, ate, iti, ous, ive, ize',
);

function pairs(list: string): Replacement[] {
  return list.split(', ').map((pair) => {
    const [suffix = '', by = ''] = pair.split(' ');
    return [suffix, by];
  });
}

/**
 * Stem of an English word like NLTK's `PorterStemmer` in its default mode: Porter's algorithm with
 * his later changes and NLTK's (irregular words, -ied and -ies of short words, -y only after a
 * consonant, -alli, -fulli, -logi).
 * @param word In lower case; letters and digits.
 */
export function porterStem(word: string): string {
  const irregular = IRREGULAR.get(word);
  if (irregular !== undefined) return irregular;
  if (word.length <= 2) return word;
  const singular = withoutPlural(word);
  const present = withoutPast(singular);
  return withoutEnd(step4(replaced(step2(withI(present)), STEP_3)));
}

/** `v` (vowel) or `c` (consonant) for each letter: `y` after a consonant is a vowel. */
function formOf(text: string): string {
  let form = '';
  for (const letter of text) {
    const isVowel = letter === 'y' ? form.endsWith('c') : 'aeiou'.includes(letter);
    form += isVowel ? 'v' : 'c';
  }
  return form;
}

/** Porter's measure: number of vowel-consonant sequences. */
function measure(stem: string): number {
  return formOf(stem).match(/vc/g)?.length ?? 0;
}

/**
 * True for a stem ending in -cvc without final -w, -x or -y; and for a word of one vowel and one
 * consonant.
 */
function endsShort(stem: string): boolean {
  const form = formOf(stem);
  return form === 'vc' || (form.endsWith('cvc') && !/[wxy]$/.test(stem));
}

function withoutPlural(word: string): string {
  if (word.endsWith('ies')) return word.slice(0, word.length === 4 ? -1 : -2);
  if (word.endsWith('sses')) return word.slice(0, -2);
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

function withoutPast(word: string): string {
  if (word.endsWith('ied')) return word.slice(0, word.length === 4 ? -1 : -2);
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const suffix = ['ed', 'ing'].find((end) => word.endsWith(end));
  if (suffix === undefined) return word;
  const stem = word.slice(0, -suffix.length);
  if (!formOf(stem).includes('v')) return word;
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (stem.length > 1 && stem.at(-1) === stem.at(-2) && formOf(stem).endsWith('c')) {
    return /[lsz]$/.test(stem) ? stem : stem.slice(0, -1);
  }
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem;
}

function withI(word: string): string {
  const stem = word.slice(0, -1);
  const isTurned = word.endsWith('y') && stem.length > 1 && formOf(stem).endsWith('c');
  return isTurned ? `${stem}i` : word;
}

function step2(word: string): string {
  const isAlli = word.endsWith('alli') && measure(word.slice(0, -4)) > 0;
  // NLTK includes the l of -logi in the measure: "analogi" is long enough.
  if (word.endsWith('logi')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  return isAlli ? step2(word.slice(0, -2)) : replaced(word, STEP_2);
}

/** Applies the first matching suffix only, whether or not its stem is long enough. */
function replaced(word: string, replacements: readonly Replacement[]): string {
  const found = replacements.find(([suffix]) => word.endsWith(suffix));
  if (found === undefined) return word;
  const [suffix, by] = found;
  const stem = word.slice(0, -suffix.length);
  return measure(stem) > 0 ? stem + by : word;
}

function step4(word: string): string {
  const suffix = STEP_4.find(([end]) => word.endsWith(end))?.[0];
  if (suffix === undefined) return word;
  const stem = word.slice(0, -suffix.length);
  const isCut = measure(stem) > 1 && (suffix !== 'ion' || /[st]$/.test(stem));
  return isCut ? stem : word;
}

function withoutEnd(word: string): string {
  const stem = word.slice(0, -1);
  const count = measure(stem);
  const isCut = word.endsWith('e') && (count > 1 || (count === 1 && !endsShort(stem)));
  const rest = isCut ? stem : word;
  return rest.endsWith('ll') && measure(rest.slice(0, -1)) > 1 ? rest.slice(0, -1) : rest;
}
