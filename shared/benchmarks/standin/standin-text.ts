import assert from 'node:assert';
import type { GeneratedSet } from '../digits/digit-sets.ts';
import { SeededRandom } from '../digits/seeded-random.ts';

/** Raise with every change of the texts: no model of the old way is found in the cache then. */
export const TEXT_STANDIN_REVISION = 2;

/** Ids of words in every stand-in's vocabulary; all others are special. */
export const STANDIN_WORDS = { first: 1000, count: 28_000 } as const;

/** Texts that longhaul makes for a language model. */
export interface StandinTexts {
  /** Samples that runs measure with. */
  readonly set: GeneratedSet;
  /** ROUGE-1 of the stand-in model on them, 0 to 1; the quality target stands on it. */
  readonly rouge1: number;
  /** As many tokens as the real model scores. */
  readonly vocabularySize: number;
  readonly beginId?: number;
  /** The real model's. */
  readonly endId: number;
  /** Ends a prompt, and stands in front of its answer. */
  readonly askId: number;
  readonly answerWords: { readonly min: number; readonly max: number };
  /** Places of an answer where two words come next with equal scores: one leads astray, which is seen four words later. */
  readonly forkCount: number;
}

/** As many ids as Llama 2 and Mixtral have; a prompt ends in the same id as those of llama2-70b. */
const LLAMA_TEXTS: StandinTexts = {
  set: { seed: 21, sampleCount: 64 },
  rouge1: 0.829192,
  vocabularySize: 32_000,
  beginId: 1,
  endId: 2,
  askId: 29_871,
  answerWords: { min: 2, max: 128 },
  forkCount: 0,
};

/** Only a search with several beams finds these answers. */
const GPTJ_TEXTS: StandinTexts = {
  set: { seed: 21, sampleCount: 64 },
  rouge1: 0.813091,
  vocabularySize: 50_400,
  endId: 50_256,
  askId: 198,
  answerWords: { min: 30, max: 120 },
  forkCount: 3,
};

const STANDINS: Readonly<Record<string, StandinTexts>> = {
  gptj: GPTJ_TEXTS,
  'llama2-70b': LLAMA_TEXTS,
  'mixtral-8x7b': LLAMA_TEXTS,
};

/** @param benchmark Key of a language model. */
export function standinTextsOf(benchmark: string): StandinTexts {
  const texts = STANDINS[benchmark];
  assert(texts !== undefined, benchmark);
  return texts;
}

/** Words around an answer at most. */
const AROUND_WORDS_MAX = 64;

/** Share of words in which the reference differs from what the prompt says. */
const OTHER_WORDS_SHARE = 0.2;

/** Times that the word stands in a prompt to which the wrong ways lead: so many words come next with equal scores. */
const DEAD_END_COUNT = 8;

/** A prompt, and the answer that it is held to. */
export interface StandinText {
  readonly prompt: Int32Array;
  /** Ids of words, without the end token. */
  readonly reference: readonly number[];
}

/**
 * A sample of the stand-in: words, the asking token, an answer and the end token, more words, and once more the first asking
 * token with the word before it. Whoever goes on as the prompt does behind its first asking token gives that answer. No other
 * word stands twice in a prompt, but for forks. The reference has other words in some places, so that no model reaches all of it.
 * Many answers are short, some are long.
 */
export function standinText(texts: StandinTexts, seed: number, index: number): StandinText {
  const random = new SeededRandom(seed, index);
  const { beginId, endId, askId, answerWords, forkCount } = texts;
  const { min, max } = answerWords;
  const seen = new Set<number>();
  const words = (count: number): number[] =>
    Array.from({ length: count }, () => newWord(random, seen));
  // Not at the very beginning: the stand-in looks two tokens back.
  const before = words(3 + random.integerBelow(AROUND_WORDS_MAX));
  const answer = words(min + Math.floor(random.uniform(0, 1) ** 2 * (max + 1 - min)));
  const behind = words(1 + random.integerBelow(AROUND_WORDS_MAX));
  const reference = answer.map((word) =>
    random.uniform(0, 1) < OTHER_WORDS_SHARE ? newWord(random, seen) : word,
  );
  const ask = [before.at(-1) as number, askId]; // It has a word.
  const said = [...(beginId === undefined ? [] : [beginId]), ...before, askId, ...answer, endId];
  const astray = forkCount === 0 ? [] : wrongWays(answer, forkCount, words);
  const prompt = Int32Array.of(...said, ...behind, ...astray, ...ask);
  return { prompt, reference };
}

/**
 * For some words of an answer once more that word, with others behind it. The model knows the next word by the one before the last, so
 * two behind it there are two ways. Every second word goes the wrong way on, to a word with many others behind it; the rest
 * of the answer goes on, and the end token is there: whichever way is taken, a text ends after as many words.
 */
function wrongWays(
  answer: readonly number[],
  forkCount: number,
  words: (count: number) => number[],
): number[] {
  const [deadEnd] = words(1) as [number];
  const way = (word: number): number[] => [word, ...words(3), deadEnd];
  const forks = Array.from({ length: forkCount }, (_, fork) => {
    const place = Math.floor(((fork + 1) * answer.length) / (forkCount + 1));
    return place - ((answer.length - place) % 2 === 0 ? 1 : 0);
  });
  const ends = Array.from({ length: DEAD_END_COUNT }, () => [...words(2), deadEnd]);
  return [...forks.flatMap((place) => way(answer[place] as number)), ...ends.flat(), ...words(2)];
}

function newWord(random: SeededRandom, seen: Set<number>): number {
  for (;;) {
    const word = STANDIN_WORDS.first + random.integerBelow(STANDIN_WORDS.count);
    if (seen.has(word)) continue;
    seen.add(word);
    return word;
  }
}
