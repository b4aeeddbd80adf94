import assert from 'node:assert';
import { at } from '../../base/at.ts';
import { PROGRAM_END, PROGRAM_PROMPT_HEAD } from '../../rules/cards/mixtral-8x7b.ts';
import { cardOf } from '../../rules/cards.ts';
import type { MadeUpTexts, StandinKind } from '../../rules/rows/benchmark-card.ts';
import { SeededRandom } from '../digits/seeded-random.ts';

/**
 * Ids of words in every stand-in's vocabulary, of numbers from 0 on, and of what ends a program;
 * all others are special.
 */
export const STANDIN_WORDS = { first: 1000, count: 28_000 } as const;
export const STANDIN_NUMBERS = { first: 30_000, count: 1000 } as const;

/**
 * Texts that longhaul makes for a language model, with the token that ends a text of the real one.
 */
export interface StandinTexts extends MadeUpTexts {
  readonly endId: number;
}

/** @param benchmark Key of a language model. */
export function standinTextsOf(benchmark: string): StandinTexts {
  const language = cardOf(benchmark)?.language;
  assert(language !== undefined, benchmark);
  return { ...language.texts, endId: language.limits.endToken };
}

/** Texts with long answers; undefined where the rules want no number of tokens. */
export function longStandinTextsOf(benchmark: string): StandinTexts | undefined {
  const language = cardOf(benchmark)?.language;
  return language?.longTexts && { ...language.longTexts, endId: language.limits.endToken };
}

/** Words around an answer at most. */
const AROUND_WORDS_MAX = 64;

/** Share of words in which the reference differs from what the prompt says. */
const OTHER_WORDS_SHARE = 0.2;

/** Of so many numbers, and of so many programs, the prompt tells one that is wrong. */
const WRONG_ONE_OF = 8;

/** Numbers in a program. */
const NUMBER_COUNT = 3;

/**
 * Multiples of the golden ratio fill 0 to 1 evenly, so that answers have their mean length in every
 * set.
 */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/**
 * Times that the word stands in a prompt to which the wrong ways lead: so many words come next with
 * equal scores.
 */
const DEAD_END_COUNT = 8;

/** A prompt, and the answer that it is held to. */
export interface StandinText {
  readonly prompt: Int32Array;
  readonly kind: StandinKind;
  /** Ids of words, without the end token. */
  readonly reference: readonly number[];
  /** The number that is asked for, or that the program yields: the sum of its numbers. */
  readonly value: number;
}

/**
 * A sample of the stand-in: words, the asking token, an answer and the end token, more words, and
 * once more the first asking token with the word before it. Whoever goes on as the prompt does
 * behind its first asking token gives that answer. No other word stands twice in a prompt, but for
 * forks. The reference has other words in some places, so that no model reaches all of it. Many
 * answers are short, some are long.
 */
export function standinText(texts: StandinTexts, seed: number, index: number): StandinText {
  const random = new SeededRandom(seed, index);
  const { beginId, endId, askId, kinds, answerWords, forkCount } = texts;
  const { min, max } = answerWords;
  const kind = at(kinds, index % kinds.length);
  const seen = new Set<number>(kind === 'code' ? [...PROGRAM_PROMPT_HEAD, ...PROGRAM_END] : []);
  const words = (count: number): number[] =>
    Array.from({ length: count }, () => newId(STANDIN_WORDS, random, seen));
  // Not at the very beginning: the stand-in looks two tokens back.
  const before = words(3 + random.integerBelow(AROUND_WORDS_MAX));
  const share = ((seed + index) * GOLDEN) % 1;
  const answer = words(min + Math.floor(share ** 2 * (max + 1 - min)));
  const value = kind === 'text' ? 0 : withNumbers(answer, kind, random, seen);
  const behind = words(1 + random.integerBelow(AROUND_WORDS_MAX));
  const reference = answer.map((word) =>
    random.uniform(0, 1) < OTHER_WORDS_SHARE ? newId(STANDIN_WORDS, random, seen) : word,
  );
  const isWrong = Math.floor(index / kinds.length) % WRONG_ONE_OF === WRONG_ONE_OF - 1;
  const ask = [before.at(-1) as number, askId]; // It has a word.
  const begin = beginId === undefined ? [] : [beginId];
  const head = kind === 'code' ? PROGRAM_PROMPT_HEAD : begin;
  const said = [...head, ...before, askId, ...answer];
  if (kind === 'code') said.push(...programEnd(words));
  const astray = forkCount === 0 ? [] : wrongWays(answer, forkCount, words);
  const prompt = Int32Array.of(...said, endId, ...behind, ...astray, ...ask);
  return { prompt, kind, reference, value: isWrong ? value + 1 : value };
}

/** Puts a number at the end of an answer, or several into a program. @returns What is right. */
function withNumbers(
  answer: number[],
  kind: 'number' | 'code',
  random: SeededRandom,
  seen: Set<number>,
): number {
  let sum = 0;
  const count = kind === 'number' ? 1 : NUMBER_COUNT;
  for (let i = 1; i <= count; i += 1) {
    const id = newId(STANDIN_NUMBERS, random, seen);
    answer[Math.ceil((i * answer.length) / count) - 1] = id;
    sum += id - STANDIN_NUMBERS.first;
  }
  return sum;
}

/**
 * Tokens that end a program, and go on behind it: the line break in it stands there twice, so its
 * third token has to come two behind both.
 */
function programEnd(words: (count: number) => number[]): number[] {
  return [...PROGRAM_END, ...words(1), at(PROGRAM_END, 2)];
}

/**
 * For some words of an answer once more that word, with others behind it. The model knows the next
 * word by the one before the last, so two behind it there are two ways. Every second word goes the
 * wrong way on, to a word with many others behind it; the rest of the answer goes on, and the end
 * token is there: whichever way is taken, a text ends after as many words.
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
  return [...forks.flatMap((place) => way(at(answer, place))), ...ends.flat(), ...words(2)];
}

function newId(
  { first, count }: { readonly first: number; readonly count: number },
  random: SeededRandom,
  seen: Set<number>,
): number {
  for (;;) {
    const id = first + random.integerBelow(count);
    if (seen.has(id)) continue;
    seen.add(id);
    return id;
  }
}
