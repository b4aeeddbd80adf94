import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ArtifactOptions,
  ensureArtifact,
} from '../../../../shared/base/cache/artifact-cache.ts';
import { SeededRandom } from '../../../../shared/benchmarks/digits/seeded-random.ts';
import { madeUpWord } from '../../../../shared/benchmarks/standin/made-up-words.ts';
import {
  SOURCE_WORD_COUNT,
  TRANSLATION_REVISION,
  type Translation,
  translationsOf,
} from '../../../../shared/benchmarks/standin/standin-translation.ts';
import type { GeneratedSet } from '../../../../shared/rules/rows/benchmark-card.ts';
import { REFERENCE_FILE, SOURCE_FILE } from './parallel-text.ts';

/** Words of the shortest sentence, and how many more the longest one has. */
const WORDS_MIN = 4;
const WORDS_SPREAD = 36;

/** Share of neighbours that are the other way round in a reference. */
const SWAPPED_SHARE = 0.05;

/**
 * Finds made-up sentences in the cache, checked against their checksums, or makes them, in the form of the data set: a reference
 * has for each word one of its translations, as often as the model thinks, and some neighbours are swapped.
 * @returns Folder of the data set.
 * @throws MlperfError `ERR_CACHE`
 */
export function ensureStandinSentences(
  set: GeneratedSet,
  { cacheFolder, onProgress }: Pick<ArtifactOptions, 'cacheFolder' | 'onProgress'>,
): Promise<string> {
  return ensureArtifact({
    cacheFolder,
    name: 'newstest-standin-data-set',
    recipe: { revision: TRANSLATION_REVISION, seed: set.seed, sentenceCount: set.sampleCount },
    build: async (folder, onBuildProgress) => {
      onBuildProgress(0, `making ${set.sampleCount} sentences`);
      let [source, reference] = ['', ''];
      for (let index = 0; index < set.sampleCount; index += 1) {
        const random = new SeededRandom(set.seed, index);
        const length = WORDS_MIN + random.integerBelow(WORDS_SPREAD + 1);
        const words = Array.from({ length }, () => random.integerBelow(SOURCE_WORD_COUNT));
        source += `${words.map(madeUpWord).join(' ')}\n`;
        reference += `${translate(words, random).join(' ')}\n`;
      }
      await writeFile(join(folder, SOURCE_FILE), source);
      await writeFile(join(folder, REFERENCE_FILE), reference);
    },
    onProgress,
  });
}

function translate(words: readonly number[], random: SeededRandom): string[] {
  const translated = words.map((word) => {
    const choices = translationsOf(word);
    let rest = random.uniform(0, 1);
    let chosen = 0;
    for (const [i, { probability }] of choices.entries()) {
      // The last one that is reached: sums of probabilities may end below 1.
      if (rest >= 0) chosen = i;
      rest -= probability;
    }
    return (choices[chosen] as Translation).tokens.join(' ');
  });
  for (let i = 1; i < translated.length; i += 1) {
    if (random.uniform(0, 1) >= SWAPPED_SHARE) continue;
    const [before, after] = translated.slice(i - 1, i + 1) as [string, string];
    translated.splice(i - 1, 2, after, before);
  }
  return translated;
}
