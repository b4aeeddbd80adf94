import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { at } from '../../../../shared/base/at.ts';
import {
  type ArtifactOptions,
  ensureArtifact,
} from '../../../../shared/base/cache/artifact-cache.ts';
import { SeededRandom } from '../../../../shared/benchmarks/digits/seeded-random.ts';
import {
  madeUpSyllable,
  madeUpWord,
  SHORT_WORD_COUNT,
  SYLLABLE_COUNT,
} from '../../../../shared/benchmarks/standin/made-up-words.ts';
import {
  SQUAD_STANDIN_REVISION,
  SQUAD_STANDIN_VOCABULARY as VOCABULARY,
} from '../../../../shared/benchmarks/standin/standin-squad.ts';
import type { GeneratedSet } from '../../../../shared/rules/rows/benchmark-card.ts';
import { windowsOf } from './squad-features.ts';
import { type WordPieces, wordPieces } from './word-piece.ts';

/** Names of the data set's files, the official ones. */
export const SQUAD_FILE = 'dev-v1.1.json';
export const VOCABULARY_FILE = 'vocab.txt';

/** First id of tokens that are single characters, and of pieces that continue a word. */
const FIRST_CHARACTER = 104;

/** A context of this many has more answers, and more tokens than one sample holds. */
const LONG_EVERY = 24;

/** Of so many questions one is answered wrongly. */
const WRONG_ONE_OF = 10;

/** Contexts between two reports of progress. */
const PROGRESS_STEP = 200;

/**
 * Finds generated questions in the cache, checked against their checksums, or makes them:
 * dev-v1.1.json in SQuAD's form and a vocab.txt of their own. Their words are made of random
 * syllables and mean nothing; an answer stands between a key word and its closing word, and its
 * question has that key word. Of so many questions one has the key word of another answer.
 * @returns Folder of the data set, which has `sampleCount` samples.
 * @throws MlperfError `ERR_CACHE`
 */
export function ensureStandinSquad(
  set: GeneratedSet,
  { cacheFolder, onProgress }: Pick<ArtifactOptions, 'cacheFolder' | 'onProgress'>,
): Promise<string> {
  return ensureArtifact({
    cacheFolder,
    name: 'squad-standin-data-set',
    recipe: { revision: SQUAD_STANDIN_REVISION, seed: set.seed, sampleCount: set.sampleCount },
    build: async (folder, onBuildProgress) => {
      const tokens = makeVocabulary();
      const squad = makeSquad(set, wordPieces(tokens, VOCABULARY_FILE), onBuildProgress);
      await writeFile(join(folder, VOCABULARY_FILE), `${tokens.join('\n')}\n`);
      await writeFile(join(folder, SQUAD_FILE), JSON.stringify(squad));
    },
    onProgress,
  });
}

function makeVocabulary(): string[] {
  const { size, unknownId, clsId, sepId, firstKey } = VOCABULARY;
  const tokens = Array.from({ length: firstKey }, (_, id) => `[unused${id}]`);
  tokens[0] = '[PAD]';
  tokens[unknownId] = '[UNK]';
  tokens[clsId] = '[CLS]';
  tokens[sepId] = '[SEP]';
  const characters = [...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~0123456789abcdefghijklmnopqrstuvwxyz'];
  const syllables = Array.from({ length: SYLLABLE_COUNT }, (_, n) => madeUpSyllable(n));
  const pieces = [...characters, ...syllables].map((piece) => `##${piece}`);
  [...characters, ...pieces].forEach((token, i) => {
    tokens[FIRST_CHARACTER + i] = token;
  });
  for (let n = 0; firstKey + n < size; n += 1) tokens.push(madeUpWord(n));
  return tokens;
}

/**
 * A word as texts have them: of one token mostly, else of two, a number, or with accent, capital or
 * punctuation.
 */
function drawWord(random: SeededRandom): string {
  const { size, firstKey, keyCount } = VOCABULARY;
  // Neither key words nor closing ones.
  const first = 2 * keyCount;
  const plain = madeUpWord(first + random.integerBelow(size - firstKey - first));
  const kind = random.integerBelow(20);
  if (kind < 3) {
    const begin = madeUpWord(first + random.integerBelow(SHORT_WORD_COUNT - first));
    return begin + madeUpSyllable(random.integerBelow(SYLLABLE_COUNT));
  }
  if (kind === 3) return String(1000 + random.integerBelow(1025));
  if (kind === 4) return plain.replace(/[aeiou]/, (vowel) => `${vowel}\u0301`.normalize('NFC'));
  if (kind < 7) return capital(plain);
  if (kind === 7) return `${plain},`;
  return kind === 8 ? `${plain}.` : plain;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * One context with its questions; the sequence of `index` in the seed's family decides all of it.
 */
function makeParagraph(seed: number, index: number) {
  const random = new SeededRandom(seed, index);
  const isLong = index % LONG_EVERY === LONG_EVERY - 1;
  const answerCount = isLong ? 24 : 4 + random.integerBelow(6);
  const keys = new Set<number>();
  while (keys.size < answerCount) keys.add(random.integerBelow(VOCABULARY.keyCount));
  const words: string[] = [];
  const appendWords = (count: number): void => {
    for (let i = 0; i < count; i += 1) words.push(drawWord(random));
  };
  const marked = [...keys].map((key) => {
    appendWords(4 + random.integerBelow(13));
    words.push(madeUpWord(key));
    const begin = words.join(' ').length + 1;
    appendWords(1 + random.integerBelow(8));
    const end = words.join(' ').length;
    words.push(madeUpWord(VOCABULARY.keyCount + key));
    return { key, begin, end };
  });
  appendWords(3 + random.integerBelow(10));
  const text = words.join(' ');
  const first = random.integerBelow(answerCount);
  const qas = Array.from({ length: 1 + random.integerBelow(4) }, (_, i) => {
    const place = (first + i) % answerCount;
    const { begin, end } = at(marked, place);
    const isWrong = (index + i) % WRONG_ONE_OF === 0;
    const { key } = isWrong ? at(marked, (place + 1) % answerCount) : at(marked, place);
    const answer = { answer_start: begin, text: text.slice(begin, end) };
    return { id: `standin-${index}-${i}`, question: drawQuestion(key, random), answers: [answer] };
  });
  return { context: text, qas };
}

function drawQuestion(key: number, random: SeededRandom): string {
  const words = Array.from({ length: 4 + random.integerBelow(8) }, () => drawWord(random));
  words[random.integerBelow(words.length)] = madeUpWord(key);
  return `${capital(words.join(' '))}?`;
}

/** Contexts, one after another, until there are as many samples as asked for. */
function makeSquad(
  { seed, sampleCount }: GeneratedSet,
  pieces: WordPieces,
  onProgress: ArtifactOptions['onProgress'],
) {
  const paragraphs: ReturnType<typeof makeParagraph>[] = [];
  for (let index = 0, left = sampleCount; left > 0; index += 1) {
    if (index % PROGRESS_STEP === 0) {
      onProgress(1 - left / sampleCount, `making ${sampleCount} samples of questions`);
    }
    const { context, qas } = makeParagraph(seed, index);
    const contextCount = pieces.idsOf(context).length;
    const kept = qas.filter(({ question }) => {
      const { length } = windowsOf(contextCount, pieces.idsOf(question).length);
      const isKept = length <= left;
      if (isKept) left -= length;
      return isKept;
    });
    if (kept.length > 0) paragraphs.push({ context, qas: kept });
  }
  const note = 'made by longhaul: not SQuAD';
  return { version: '1.1', note, data: [{ title: note, paragraphs }] };
}
