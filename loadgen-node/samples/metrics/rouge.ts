import { porterStem } from './porter-stemmer.ts';
import { sentencesOfText } from './punkt-sentences.ts';

/** F-measures from 0 to 1. */
export interface RougeScores {
  readonly rouge1: number;
  readonly rouge2: number;
  readonly rougeL: number;
  readonly rougeLsum: number;
}

/** Longest words that are not stemmed, in letters. */
const UNSTEMMED_LETTERS_MAX = 3;

/** Most words cached: texts come from outside, so memory must be bounded. */
const WORDS_MAX = 1_000_000;

/**
 * ROUGE-1, -2, -L and -Lsum with the official scripts' settings: rouge_score with the Porter
 * stemmer, no bootstrap. Source: google-research, rouge/rouge_scorer.py and tokenize.py.
 */
export class RougeScorer {
  /** Number of each word's stem; 0 if nothing is left of the word. */
  readonly #numbers = new Map<string, number>();
  readonly #numbersOfStems = new Map<string, number>();
  /** Lengths of common subsequences, row by row. */
  #table = new Uint16Array(0);

  /**
   * Scores a text.
   * @param prediction One sentence per line: see {@link bySentence}.
   * @param target Reference, one sentence per line.
   */
  score(prediction: string, target: string): RougeScores {
    if (this.#numbers.size > WORDS_MAX) {
      this.#numbers.clear();
      this.#numbersOfStems.clear();
    }
    const predicted = this.#sentences(prediction);
    const wanted = this.#sentences(target);
    const [ours, theirs] = [predicted.flat(), wanted.flat()];
    const common = this.#commonTable(theirs, ours)(theirs.length, ours.length);
    return {
      rouge1: overlap(ours, theirs),
      rouge2: overlap(bigrams(ours), bigrams(theirs)),
      rougeL: fMeasure(common, ours.length, theirs.length),
      rougeLsum: fMeasure(
        this.#summaryHits(predicted, wanted, countOf(ours), countOf(theirs)),
        ours.length,
        theirs.length,
      ),
    };
  }

  /** Stem numbers of each line's words. */
  #sentences(text: string): number[][] {
    return text.split('\n').map((line) => {
      const words = line.toLowerCase().match(/[a-z0-9]+/g) ?? [];
      return words.map((word) => this.#numberOf(word)).filter((number) => number !== 0);
    });
  }

  #numberOf(word: string): number {
    const known = this.#numbers.get(word);
    if (known !== undefined) return known;
    const stem = word.length > UNSTEMMED_LETTERS_MAX ? porterStem(word) : word;
    const next = this.#numbersOfStems.size + 1;
    const number = stem === '' ? 0 : (this.#numbersOfStems.get(stem) ?? next);
    if (number === next) this.#numbersOfStems.set(stem, number);
    this.#numbers.set(word, number);
    return number;
  }

  /**
   * Returns a function for the length of the longest common subsequence of the first `i` of `a` and
   * the first `j` of `b`. The table is shared: use the result before the next call.
   */
  #commonTable(a: readonly number[], b: readonly number[]): (i: number, j: number) => number {
    const width = b.length + 1;
    const size = (a.length + 1) * width;
    if (this.#table.length < size) this.#table = new Uint16Array(size);
    const table = this.#table;
    table.fill(0, 0, width);
    let at = width;
    for (const word of a) {
      let left = 0;
      table[at] = 0;
      for (let j = 0; j < b.length; j += 1) {
        const above = table[at + j + 1 - width] as number;
        if (word === b[j]) left = (table[at + j - width] as number) + 1;
        else if (above > left) left = above;
        table[at + j + 1] = left;
      }
      at += width;
    }
    return (i, j) => table[i * width + j] as number;
  }

  /**
   * Number of words that the reference's sentences share with any sentence of the prediction, with
   * multiplicity.
   */
  #summaryHits(
    predicted: readonly (readonly number[])[],
    wanted: readonly (readonly number[])[],
    left: Map<number, number>,
    leftOfWanted: Map<number, number>,
  ): number {
    let hits = 0;
    for (const sentence of wanted) {
      const isCommon = new Uint8Array(sentence.length);
      for (const other of predicted) this.#markCommon(sentence, other, isCommon);
      for (const [i, word] of sentence.entries()) {
        const ours = left.get(word) ?? 0;
        const theirs = leftOfWanted.get(word) ?? 0;
        if (isCommon[i] === 0 || ours === 0 || theirs === 0) continue;
        hits += 1;
        left.set(word, ours - 1);
        leftOfWanted.set(word, theirs - 1);
      }
    }
    return hits;
  }

  /**
   * Marks the words of a sentence in a longest common subsequence; of several, the one that the
   * script finds.
   */
  #markCommon(sentence: readonly number[], other: readonly number[], isCommon: Uint8Array): void {
    const lengthAt = this.#commonTable(sentence, other);
    let i = sentence.length;
    let j = other.length;
    while (i > 0 && j > 0) {
      if (sentence[i - 1] === other[j - 1]) {
        i -= 1;
        j -= 1;
        isCommon[i] = 1;
      } else if (lengthAt(i, j - 1) > lengthAt(i - 1, j)) j -= 1;
      else i -= 1;
    }
  }
}

/** A text with one sentence per line, as the official scripts pass it to ROUGE. */
export function bySentence(text: string): string {
  return sentencesOfText(text.trim()).join('\n');
}

/** Bigrams as single numbers; exact, since word numbers are below 2^26. */
function bigrams(words: readonly number[]): number[] {
  return words.slice(1).map((word, i) => (words[i] as number) * 2 ** 26 + word);
}

function countOf(words: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** F-measure of the common elements of two lists, with multiplicity. */
function overlap(ours: readonly number[], theirs: readonly number[]): number {
  const counts = countOf(ours);
  let common = 0;
  for (const word of theirs) {
    const left = counts.get(word) ?? 0;
    if (left === 0) continue;
    common += 1;
    counts.set(word, left - 1);
  }
  return fMeasure(common, ours.length, theirs.length);
}

function fMeasure(common: number, ourCount: number, theirCount: number): number {
  if (common === 0) return 0;
  const precision = common / ourCount;
  const recall = common / theirCount;
  return (2 * precision * recall) / (precision + recall);
}
