import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { porterStem } from '../../../../../loadgen-node/samples/metrics/porter-stemmer.ts';

// Goal: stems are NLTK's. Method: words with the stems that NLTK 3.8 gave, and words of its rules.

it('gives the stem that NLTK gives to every word of the list', () => {
  const file = 'test/golden/benchmarks/text/porter-nltk-stems.json';
  const stems = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  // Shorter words are never stemmed.
  const stemOf = (word: string): string => (word.length > 3 ? porterStem(word) : word);
  const own = Object.fromEntries(Object.keys(stems).map((word) => [word, stemOf(word)]));
  expect(own).toEqual(stems);
  expect(Object.keys(stems).length).toBeGreaterThan(1000);
});

it.each([
  ['skies', 'sky'],
  ['dying', 'die'],
  ['succeed', 'succeed'],
  ['ties', 'tie'],
  ['flies', 'fli'],
  ['tied', 'tie'],
  ['enjoy', 'enjoy'],
  ['happy', 'happi'],
  ['yyyy', 'yyyi'],
  ['controll', 'control'],
  ['oed', 'o'],
  ['2019', '2019'],
])('turns %s into %s', (word, stem) => {
  expect(porterStem(word)).toBe(stem);
});
