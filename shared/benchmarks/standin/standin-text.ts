import type { GeneratedSet } from '../digits/digit-sets.ts';
import { SeededRandom } from '../digits/seeded-random.ts';

/** Raise with every change of the texts: no model of the old way is found in the cache then. */
export const TEXT_STANDIN_REVISION = 1;

/** Samples that runs of language models measure with; the quality target was measured on them. */
export const TEXT_STANDIN_SET: GeneratedSet = { seed: 21, imageCount: 64 };

/** ROUGE-1 of the stand-in model on them, 0 to 1. */
export const TEXT_STANDIN_ROUGE1 = 0.829192;

/**
 * Token ids of the texts that longhaul makes: as many as Llama 2 and Mixtral have, the same id begins and ends a text, and a
 * prompt ends in the same id as those of llama2-70b.
 */
export const TEXT_STANDIN_VOCABULARY = {
  size: 32_000,
  beginId: 1,
  endId: 2,
  askId: 29_871,
  firstWord: 1000,
  wordCount: 28_000,
} as const;

/** Words of the answer at most, and around it. */
const ANSWER_WORDS_MAX = 128;
const AROUND_WORDS_MAX = 64;

/** Share of words in which the reference differs from what the prompt says. */
const OTHER_WORDS_SHARE = 0.2;

/** A prompt, and the answer that it is held to. */
export interface StandinText {
  readonly prompt: Int32Array;
  /** Ids of words, without the end token. */
  readonly reference: readonly number[];
}

/**
 * A sample of the stand-in: words, the asking token, an answer and the end token, more words, and once more the first asking
 * token with the word before it. Whoever goes on as the prompt does behind its first asking token gives that answer. No other
 * word stands twice in a prompt. The reference has other words in some places, so that no model reaches all of it. Many answers
 * are short, some are long.
 */
export function standinText(seed: number, index: number): StandinText {
  const random = new SeededRandom(seed, index);
  const { beginId, endId, askId } = TEXT_STANDIN_VOCABULARY;
  const seen = new Set<number>();
  const words = (count: number): number[] =>
    Array.from({ length: count }, () => newWord(random, seen));
  // Not at the very beginning: the stand-in looks two tokens back.
  const before = words(3 + random.integerBelow(AROUND_WORDS_MAX));
  const answer = words(2 + Math.floor(random.uniform(0, 1) ** 2 * (ANSWER_WORDS_MAX - 1)));
  const behind = words(1 + random.integerBelow(AROUND_WORDS_MAX));
  const reference = answer.map((word) =>
    random.uniform(0, 1) < OTHER_WORDS_SHARE ? newWord(random, seen) : word,
  );
  const ask = [before.at(-1) as number, askId]; // It has a word.
  const said = [beginId, ...before, askId, ...answer, endId];
  const prompt = Int32Array.of(...said, ...behind, ...ask);
  return { prompt, reference };
}

function newWord(random: SeededRandom, seen: Set<number>): number {
  const { firstWord, wordCount } = TEXT_STANDIN_VOCABULARY;
  for (;;) {
    const word = firstWord + random.integerBelow(wordCount);
    if (seen.has(word)) continue;
    seen.add(word);
    return word;
  }
}
