import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import { BERT_LENGTH } from '../../../../shared/rules/cards/bert.ts';
import { pythonFloat } from '../../../loadgen/base/number-format.ts';
import type { AccuracyEntries, AccuracyReport } from '../../data-set/data-set.ts';
import { type Feature, hasMaxContext, type SquadQuestion, windowOffset } from './squad-features.ts';
import { basicWords, type WordPieces } from './word-piece.ts';

/** Number of start and end positions considered per sample: those with the highest logits. */
const BEST_COUNT = 20;

/** Most tokens of an answer. */
const ANSWER_MAX = 30;

/** Logit for positions missing in a response. */
const NO_LOGIT = -10_000;

/** One start and one end logit, float32. */
const ROW_BYTES = 8;

/** The best answer in a sample. */
interface Span {
  /** Sum of both logits, in double precision. */
  readonly score: number;
  /** First and last token, as indices in the context. */
  readonly first: number;
  readonly last: number;
}

/**
 * Exact match and F1 of the answers in a log, as in MLCommons' accuracy-squad.py: the last of
 * several responses counts, and all questions of the data set are scored, even without a response.
 * Memory: a few numbers per sample. Source: mlcommons/inference, language/bert: accuracy-squad.py,
 * evaluate_v1.1.py.
 * @throws MlperfError `ERR_DATA_SET` if a response is not rows of two logits, or is for an
 *   unknown sample.
 */
export async function scoreSquad(
  entries: AccuracyEntries,
  { questions, features }: { questions: readonly SquadQuestion[]; features: readonly Feature[] },
  pieces: WordPieces,
): Promise<AccuracyReport> {
  const spans = await readSpans(entries, features);
  let exactCount = 0;
  let f1Sum = 0;
  for (const question of questions) {
    const answer = normalise(answerOf(question, spans, pieces));
    const right = question.answers.map(normalise);
    if (right.includes(answer)) exactCount += 1;
    f1Sum += Math.max(...right.map((text) => f1Of(answer, text)));
  }
  const f1 = (100 * f1Sum) / questions.length;
  const exact = pythonFloat((100 * exactCount) / questions.length);
  return {
    metric: 'F1',
    value: f1 / 100,
    sampleCount: spans.size,
    counted: 'last',
    scriptLine: `{"exact_match": ${exact}, "f1": ${pythonFloat(f1)}}`,
  };
}

/** The best span of each sample in a log; undefined if its response has none. */
export async function readSpans(
  entries: AccuracyEntries,
  features: readonly Feature[],
): Promise<Map<Feature, Span | undefined>> {
  const spans = new Map<Feature, Span | undefined>();
  for await (const { sampleIndex, response } of entries) {
    const feature = features[sampleIndex];
    if (feature === undefined) {
      throw dataSetError(
        `a response for sample ${sampleIndex}; the data set has the samples 0 to ${features.length - 1}`,
      );
    }
    spans.set(feature, bestSpan(feature, readLogits(response, sampleIndex)));
  }
  return spans;
}

/** Start and end logits of all positions of a sample. */
interface Logits {
  readonly start: Float64Array;
  readonly end: Float64Array;
}

/** A response may have fewer rows than a sample has positions. */
function readLogits(response: Uint8Array, sampleIndex: number): Logits {
  const { byteOffset, length } = response;
  const count = length / ROW_BYTES;
  if (!Number.isInteger(count) || count > BERT_LENGTH) {
    throw dataSetError(
      `sample ${sampleIndex}: a response is at most ${BERT_LENGTH} rows of a start and an end logit, float32, ` +
        `${BERT_LENGTH * ROW_BYTES} bytes; this one has ${length}`,
    );
  }
  const view = new DataView(response.buffer, byteOffset, length);
  const start = new Float64Array(BERT_LENGTH).fill(NO_LOGIT);
  const end = new Float64Array(BERT_LENGTH).fill(NO_LOGIT);
  for (let row = 0; row < count; row += 1) {
    start[row] = view.getFloat32(row * ROW_BYTES, true);
    end[row] = view.getFloat32(row * ROW_BYTES + 4, true);
    if (!Number.isNaN(start[row]) && !Number.isNaN(end[row])) continue;
    throw dataSetError(`sample ${sampleIndex}: a logit of row ${row} is NaN`);
  }
  return { start, end };
}

/** Positions of the highest logits, highest first; for equal logits, the lower position first. */
function bestPositions(logits: Float64Array): number[] {
  const positions = Array.from(logits, (_, position) => position);
  positions.sort((a, b) => (logits[b] as number) - (logits[a] as number) || a - b);
  return positions.slice(0, BEST_COUNT);
}

/**
 * The span with the highest score (first of equal ones); undefined if no pair of best positions is
 * a span in the window.
 */
function bestSpan(feature: Feature, { start, end }: Logits): Span | undefined {
  const { begin, length } = feature;
  const offset = windowOffset(feature);
  const isInWindow = (position: number): boolean =>
    position >= offset && position < offset + length;
  const toToken = (position: number): number => position - offset + begin;
  const ends = bestPositions(end).filter(isInWindow);
  let best: Span | undefined;
  for (const first of bestPositions(start).filter(isInWindow)) {
    if (!hasMaxContext(feature, toToken(first))) continue;
    for (const last of ends) {
      if (last < first || last - first >= ANSWER_MAX) continue;
      const score = (start[first] as number) + (end[last] as number);
      if (best !== undefined && score <= best.score) continue;
      best = { score, first: toToken(first), last: toToken(last) };
    }
  }
  return best;
}

/** The answer of the window with the highest score; "empty" if no window has one. */
export function answerOf(
  { features, context }: SquadQuestion,
  spans: ReadonlyMap<Feature, Span | undefined>,
  { tokens }: WordPieces,
): string {
  let best: Span | undefined;
  for (const feature of features) {
    const span = spans.get(feature);
    if (span !== undefined && (best === undefined || span.score > best.score)) best = span;
  }
  if (best === undefined) return 'empty';
  const { first, last } = best;
  const { words, ids, wordOfToken } = context;
  const found = Array.from(ids.subarray(first, last + 1), (id) => tokens[id]).join(' ');
  const original = words.slice(wordOfToken[first], (wordOfToken[last] as number) + 1).join(' ');
  return originalText(found.replaceAll(' ##', '').replaceAll('##', ''), original);
}

/**
 * The part of the original text that matches the found tokens character by character, ignoring
 * blanks; the whole original if they cannot be aligned.
 */
export function originalText(found: string, original: string): string {
  const tokenText = basicWords(original).join(' ');
  const at = tokenText.indexOf(found);
  const visible = [...original].flatMap((character, i) => (character === ' ' ? [] : [i]));
  if (at === -1 || visible.length !== countVisible(tokenText)) return original;
  const first = countVisible(tokenText.slice(0, at));
  const last = first + countVisible(found) - 1;
  return [...original].slice(visible[first], (visible[last] as number) + 1).join('');
}

/** Number of characters that are not blanks. */
function countVisible(text: string): number {
  return [...text].filter((character) => character !== ' ').length;
}

/** ASCII punctuation; here it only separates words. */
const PUNCTUATION = /[!-/:-@[-`{-~]/g;

/**
 * English articles as whole words, by the definition of Python's `\b`: no letter, digit or
 * underscore of any script beside them.
 */
const ARTICLE = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu;

/** Separators of Python's `str.split`, except U+001C to U+001F, which do not occur. */
const SPACE = /\p{White_Space}+/u;

/** Normalised answer for comparison: lower case, no punctuation or articles, single blanks. */
function normalise(answer: string): string {
  const text = answer.toLowerCase().replace(PUNCTUATION, '').replace(ARTICLE, ' ');
  return text.split(SPACE).filter(Boolean).join(' ');
}

/**
 * F1 of two normalised answers: harmonic mean of the shares of common words, counted with
 * multiplicity.
 */
function f1Of(answer: string, right: string): number {
  const words = answer === '' ? [] : answer.split(' ');
  const left = right === '' ? [] : right.split(' ');
  const rightCount = left.length;
  let common = 0;
  for (const word of words) {
    const place = left.indexOf(word);
    if (place === -1) continue;
    left.splice(place, 1);
    common += 1;
  }
  if (common === 0) return 0;
  const precision = common / words.length;
  const recall = common / rightCount;
  return (2 * precision * recall) / (precision + recall);
}
