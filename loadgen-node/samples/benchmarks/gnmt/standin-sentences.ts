import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ArtifactOptions,
  ensureArtifact,
} from '../../../../shared/base/cache/artifact-cache.ts';
import { SeededRandom } from '../../../../shared/benchmarks/digits/seeded-random.ts';
import {
  SOURCE_WORD_COUNT,
  TRANSLATION_REVISION,
  translationToken,
} from '../../../../shared/benchmarks/standin/standin-translation.ts';
import type { GeneratedSet } from '../../../../shared/rules/rows/benchmark-card.ts';
import { REFERENCE_FILE, SOURCE_FILE } from './parallel-text.ts';

/** Tokens of the shortest sentence, and how many more the longest one has. */
const WORDS_MIN = 4;
const WORDS_SPREAD = 36;

/** Of so many words one has another translation in the reference. */
const WRONG_ONE_OF = 12;

/**
 * Finds made-up sentences in the cache, checked against their checksums, or makes them, in the form
 * of the data set.
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
        const tokens = Array.from({ length }, () => random.integerBelow(SOURCE_WORD_COUNT));
        source += `${tokens.map(translationToken).join(' ')}\n`;
        const right = tokens.map((token, i) => {
          const other =
            (index + i) % WRONG_ONE_OF === 0 ? random.integerBelow(SOURCE_WORD_COUNT) : token;
          return translationToken(SOURCE_WORD_COUNT + other);
        });
        reference += `${right.join(' ')}\n`;
      }
      await writeFile(join(folder, SOURCE_FILE), source);
      await writeFile(join(folder, REFERENCE_FILE), reference);
    },
    onProgress,
  });
}
