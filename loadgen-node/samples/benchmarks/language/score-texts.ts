import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import type { AccuracyEntries, AccuracyEntry } from '../../data-set/data-set.ts';
import { firstOfEachSample } from '../../data-set/first-of-each.ts';
import { readTokens, type TokenType } from '../../data-set/token-numbers.ts';
import { numpyMean } from '../../metrics/numpy-mean.ts';
import { bySentence, RougeScorer, type RougeScores } from '../../metrics/rouge.ts';
import { isRightNumber } from './gsm8k-number.ts';
import type { TextRow } from './text-rows.ts';
import type { TextTokenizer } from './text-tokenizer.ts';

/** Longest response: the longest that any of the benchmarks allows is 1,024 tokens. */
const TOKENS_MAX = 16_384;

const ROUGE_KEYS = ['rouge1', 'rouge2', 'rougeL', 'rougeLsum'] as const;

/** Figures that the lines of the official scripts are made of. */
export interface TextFigures {
  /** Means of the samples that are scored so, in percent, rounded as the scripts round; undefined where there is none. */
  readonly rouge: RougeScores | undefined;
  /** Characters of the answers that ROUGE scored, a line break between two sentences. */
  readonly characterCount: number;
  /** Answers that are a number, and the right ones among them. */
  readonly numberCount: number;
  readonly rightNumberCount: number;
  /** Percent of the programs that do what they should; undefined: none could be told. */
  readonly passedPercent: number | undefined;
  /** Tokens of all answers, with the one that ends a text. */
  readonly tokenCount: number;
  /** Samples that have an answer. */
  readonly sampleCount: number;
  /** Answers in the log, repeated ones too. */
  readonly entryCount: number;
}

/**
 * Scores answers in tokens. Of several answers to a sample the first one counts. Memory: four numbers for each sample.
 * @throws MlperfError `ERR_DATA_SET` where an answer is not tokens of the tokenizer, or is for no sample.
 */
export async function scoreTexts(
  entries: AccuracyEntries,
  rows: readonly TextRow[],
  { tokenizer, tokenType }: { readonly tokenizer: TextTokenizer; readonly tokenType: TokenType },
): Promise<TextFigures> {
  const scorer = new RougeScorer();
  const scores = ROUGE_KEYS.map(() => new Float64Array(rows.length));
  const counts = {
    character: 0,
    number: 0,
    rightNumber: 0,
    code: 0,
    passedCode: 0,
    token: 0,
    sample: 0,
    entry: 0,
  };
  let scoredCount = 0;
  async function* counted(): AsyncGenerator<AccuracyEntry> {
    for await (const entry of entries) {
      counts.entry += 1;
      yield entry;
    }
  }
  for await (const { sampleIndex, response } of firstOfEachSample(counted(), rows.length)) {
    const row = rows[sampleIndex] as TextRow;
    const tokens = tokensOf(response, sampleIndex, tokenizer, tokenType);
    counts.token += tokens.length;
    counts.sample += 1;
    const answer = tokenizer.decode(tokens);
    if (row.kind !== 'text') {
      countRight(row, answer, counts);
      continue;
    }
    const text = bySentence(answer);
    const found = scorer.score(text, bySentence(row.target));
    for (const [i, key] of ROUGE_KEYS.entries()) {
      (scores[i] as Float64Array)[scoredCount] = found[key];
    }
    scoredCount += 1;
    counts.character += codePoints(text);
  }
  const means = scores.map((values) =>
    numpyRound(numpyMean(values.subarray(0, scoredCount)) * 100),
  );
  const [rouge1, rouge2, rougeL, rougeLsum] = means as [number, number, number, number];
  return {
    rouge: scoredCount === 0 ? undefined : { rouge1, rouge2, rougeL, rougeLsum },
    characterCount: counts.character,
    numberCount: counts.number,
    rightNumberCount: counts.rightNumber,
    passedPercent: counts.code === 0 ? undefined : (100 * counts.passedCode) / counts.code,
    tokenCount: counts.token,
    sampleCount: counts.sample,
    entryCount: counts.entry,
  };
}

/** Counts an answer that is right or wrong. */
function countRight(
  { kind, target, passes }: TextRow,
  answer: string,
  counts: { number: number; rightNumber: number; code: number; passedCode: number },
): void {
  if (kind === 'number') {
    counts.number += 1;
    if (isRightNumber(answer, target)) counts.rightNumber += 1;
  }
  if (passes === undefined) return;
  counts.code += 1;
  if (passes(programIn(answer))) counts.passedCode += 1;
}

/** The program in an answer, cut as the script cuts it. Source: mlcommons/inference v4.1, language/mixtral-8x7b/evaluate_mbxp.py. */
function programIn(answer: string): string {
  return answer.split('```', 1)[0] as string;
}

function tokensOf(
  response: Uint8Array,
  sampleIndex: number,
  tokenizer: TextTokenizer,
  type: TokenType,
): number[] {
  const tokens = readTokens(response, type);
  const wrong = (what: string): Error =>
    dataSetError(`sample ${sampleIndex}: ${what}; read as ${type}, --token-type says otherwise`);
  if (tokens === undefined) throw wrong(`${response.length} bytes are no whole number of tokens`);
  if (tokens.length > TOKENS_MAX) {
    throw wrong(`a response has ${tokens.length} tokens, ${TOKENS_MAX} at most are scored`);
  }
  const odd = tokens.find((id) => !tokenizer.hasToken(id));
  if (odd !== undefined) throw wrong(`the tokenizer has no token ${odd}`);
  if (type === 'int32' && looksLikeInt64(tokens)) throw wrong('every second token is 0');
  return tokens;
}

/** Tokens of which one would see that they are halves of int64: the upper ones are zeros. */
const HALVES_MIN = 16;

function looksLikeInt64(tokens: readonly number[]): boolean {
  if (tokens.length < HALVES_MIN || tokens.length % 2 === 1) return false;
  return tokens.every((id, i) => (id === 0) === (i % 2 === 1));
}

/** Length of a text as Python counts it. */
function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Four decimals as `numpy.round` has them: a tie goes to the even digit of the product, which may be off by its last bit. */
function numpyRound(value: number): number {
  const scaled = value * 1e4;
  const floor = Math.floor(scaled);
  const rest = scaled - floor;
  const isUp = rest > 0.5 || (rest === 0.5 && floor % 2 === 1);
  return (isUp ? floor + 1 : floor) / 1e4;
}
