import { z } from 'zod';
import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import { BERT_LENGTH } from '../../../../shared/rules/cards/bert.ts';
import { readJsonForm } from '../../data-set/read-json.ts';
import type { WordPieces } from './word-piece.ts';

/** Most tokens of a question; longer ones are cut. */
const QUESTION_MAX = 64;

/** Tokens between the starts of consecutive windows. */
const STRIDE = 128;

/** `[CLS]`, and `[SEP]` after question and window. */
const SPECIAL_COUNT = 3;

/** Characters that separate the words of an answer. */
const WORD_SPACE = /[ \t\r\n\u202F]+/;

/** Weight of the window length if two windows give a token equal context. */
const LENGTH_WEIGHT = 0.01;

/** The fields of dev-v1.1.json that are read. */
const SQUAD = z.object({
  version: z.literal(
    '1.1',
    'must be "1.1": only version 1.1 of SQuAD has an answer to each question',
  ),
  data: z.array(
    z.object({
      paragraphs: z.array(
        z.object({
          context: z.string(),
          qas: z.array(
            z.object({
              id: z.string(),
              question: z.string(),
              answers: z.array(z.object({ text: z.string() })).min(1, 'must have an answer'),
            }),
          ),
        }),
      ),
    }),
  ),
});

/** A text that contains answers. */
interface Context {
  /** Its words as they are. */
  readonly words: readonly string[];
  /** Tokens of all its words. */
  readonly ids: Int32Array;
  /** Word of each token. */
  readonly wordOfToken: Int32Array;
}

/** A question, and the samples that it became. */
export interface SquadQuestion {
  readonly context: Context;
  /** Correct answers, at least one. */
  readonly answers: readonly string[];
  /** Tokens of the question, at most 64. */
  readonly ids: readonly number[];
  /** Its windows, in order; empty if the context has no token. */
  readonly features: readonly Feature[];
}

/** A sample: a question, and a window of its context. */
export interface Feature {
  readonly question: SquadQuestion;
  /** First token of the window in the context. */
  readonly begin: number;
  /** Tokens of the window. */
  readonly length: number;
}

/**
 * Reads dev-v1.1.json and makes its samples: a question with a long context becomes several
 * samples. Source: mlcommons/inference, language/bert/create_squad_data.py.
 * @throws MlperfError `ERR_DATA_SET` with the file and the wrong entry.
 */
export async function readSquad(
  path: string,
  pieces: WordPieces,
): Promise<{ questions: SquadQuestion[]; features: Feature[] }> {
  const { data } = await readJsonForm(path, SQUAD);
  const questions: SquadQuestion[] = [];
  const seen = new Set<string>();
  for (const { context: text, qas } of data.flatMap(({ paragraphs }) => paragraphs)) {
    const context = readContext(text, pieces);
    for (const { id, question, answers } of qas) {
      // The official scripts use one answer per id.
      if (seen.has(id)) throw dataSetError(`${path}: two questions have the id "${id}"`);
      seen.add(id);
      const ids = pieces.idsOf(question).slice(0, QUESTION_MAX);
      const features: Feature[] = [];
      const made = { context, answers: answers.map((answer) => answer.text), ids, features };
      for (const window of windowsOf(context.ids.length, ids.length)) {
        features.push({ question: made, ...window });
      }
      questions.push(made);
    }
  }
  const features = questions.flatMap((question) => question.features);
  if (features.length > 0) return { questions, features };
  throw dataSetError(`${path} has no question with a context of a word or more`);
}

function readContext(text: string, pieces: WordPieces): Context {
  const words = text.split(WORD_SPACE).filter((word) => word !== '');
  const tokens = words.map((word) => pieces.idsOf(word));
  const wordOfToken = tokens.flatMap((ids, word) => ids.map(() => word));
  return { words, ids: Int32Array.from(tokens.flat()), wordOfToken: Int32Array.from(wordOfToken) };
}

/**
 * Windows of a context with `contextCount` tokens; each fills the space that a sample has after the
 * question, or ends with the context.
 */
export function windowsOf(contextCount: number, questionCount: number) {
  const room = BERT_LENGTH - questionCount - SPECIAL_COUNT;
  const windows: { begin: number; length: number }[] = [];
  for (let begin = 0; begin < contextCount; ) {
    const length = Math.min(contextCount - begin, room);
    windows.push({ begin, length });
    if (begin + length === contextCount) break;
    begin += Math.min(length, STRIDE);
  }
  return windows;
}

/** Tokens of a sample without padding: `[CLS]` question `[SEP]` window `[SEP]`. */
export function tokensOf({ question, begin, length }: Feature, pieces: WordPieces): number[] {
  const { clsId, sepId } = pieces;
  const window = question.context.ids.subarray(begin, begin + length);
  return [clsId, ...question.ids, sepId, ...window, sepId];
}

/** Position of the window's first token in its sample. */
export function windowOffset({ question }: Feature): number {
  return question.ids.length + 2;
}

/**
 * True if, of a question's windows, this one gives the token the most context: first by the shorter
 * side, then by window length, then by order. An answer may begin with the token only in that
 * window.
 * @param token Index in the context; must be in the window.
 */
export function hasMaxContext(feature: Feature, token: number): boolean {
  let best: Feature | undefined;
  let bestScore = 0;
  for (const window of feature.question.features) {
    const left = token - window.begin;
    const right = window.length - 1 - left;
    if (left < 0 || right < 0) continue;
    const score = Math.min(left, right) + LENGTH_WEIGHT * window.length;
    if (best !== undefined && score <= bestScore) continue;
    best = window;
    bestScore = score;
  }
  return best === feature;
}
