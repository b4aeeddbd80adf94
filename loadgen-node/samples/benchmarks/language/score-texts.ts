import assert from 'node:assert';
import { at } from '../../../../shared/base/at.ts';
import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import type { AccuracyEntries } from '../../data-set/data-set.ts';
import { firstOfEachSample } from '../../data-set/first-of-each.ts';
import { readTokens, type TokenType } from '../../data-set/token-numbers.ts';
import { changedEntries } from '../../data-set/wire-data-set.ts';
import type { Scorer } from './scorers.ts';
import type { TextRow } from './text-rows.ts';
import type { TextTokenizer } from './text-tokenizer.ts';

/** Longest response in tokens; the benchmarks allow at most 1,024. */
const TOKENS_MAX = 16_384;

/** Counts of answers. */
interface AnswerCounts {
  /** Tokens of all answers, including end tokens. */
  readonly tokenCount: number;
  /** Number of samples with an answer. */
  readonly sampleCount: number;
  /** Answers in the log, including repeated ones. */
  readonly entryCount: number;
}

/**
 * Passes each answer's tokens to the scorer for its row. The first of several answers to a sample
 * counts.
 * @throws MlperfError `ERR_DATA_SET` if an answer is not tokens of the tokenizer, or is for an
 *   unknown sample.
 */
export async function scoreTexts(
  entries: AccuracyEntries,
  rows: readonly TextRow[],
  scorers: readonly Scorer[],
  { tokenizer, tokenType }: { readonly tokenizer: TextTokenizer; readonly tokenType: TokenType },
): Promise<AnswerCounts> {
  const counts = { tokenCount: 0, sampleCount: 0, entryCount: 0 };
  const counted = changedEntries(entries, (entry) => {
    counts.entryCount += 1;
    return entry;
  });
  for await (const { sampleIndex, response } of firstOfEachSample(counted, rows.length)) {
    const row = at(rows, sampleIndex);
    const scorer = scorers.find(({ kind }) => kind === row.kind);
    assert(scorer !== undefined, row.kind);
    const tokens = tokensOf(response, sampleIndex, tokenizer, tokenType);
    counts.tokenCount += tokens.length;
    counts.sampleCount += 1;
    scorer.add(tokenizer.decode(tokens), row);
  }
  return counts;
}

function tokensOf(
  response: Uint8Array,
  sampleIndex: number,
  tokenizer: TextTokenizer,
  type: TokenType,
): number[] {
  const tokens = readTokens(response, type);
  const wrong = (what: string): Error =>
    dataSetError(
      `sample ${sampleIndex}: ${what}; read as ${type}; --token-type selects another type`,
    );
  if (tokens === undefined) throw wrong(`${response.length} bytes are no whole number of tokens`);
  if (tokens.length > TOKENS_MAX) {
    throw wrong(`a response has ${tokens.length} tokens, ${TOKENS_MAX} at most are scored`);
  }
  const odd = tokens.find((id) => !tokenizer.hasToken(id));
  if (odd !== undefined) throw wrong(`the tokenizer has no token ${odd}`);
  if (type === 'int32' && looksLikeInt64(tokens)) throw wrong('every second token is 0');
  return tokens;
}

/** Tokens needed to recognise int64 read as pairs of int32: the upper halves are zeros. */
const HALVES_MIN = 16;

function looksLikeInt64(tokens: readonly number[]): boolean {
  if (tokens.length < HALVES_MIN || tokens.length % 2 === 1) return false;
  return tokens.every((id, i) => (id === 0) === (i % 2 === 1));
}
