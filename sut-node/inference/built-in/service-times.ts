import { describeSystemError, modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readBoundedText } from '../../../shared/base/files/read-file.ts';
import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import {
  type DelaySettings,
  type DelayTimes,
  parseServiceTime,
  parseTokenCount,
  TOKENS_MAX,
  type TokenCounts,
} from '../../settings/delay-settings.ts';
import type { DelayedAnswer } from './delay-model.ts';

/** Which of the sequences of one seed; token counts have another. */
const TIMES_STREAM = 1;

/**
 * Service times one after the other, in whole ns, 0 or more. The same in every node with the same settings.
 * @throws MlperfError `ERR_MODEL` for a list that cannot be read
 */
export async function serviceTimes(times: DelayTimes, seed: number): Promise<() => number> {
  switch (times.kind) {
    case 'fixed':
      return () => times.ns;
    case 'exponential': {
      const random = new SeededRandom(seed, TIMES_STREAM);
      // By inversion; 1 - u is never 0. 32 bits of u end the tail at 22 times the mean.
      return () => Math.round(-times.meanNs * Math.log(1 - random.uniform(0, 1)));
    }
    case 'list':
      return inTurn(await readNumberList(times.file, parseServiceTime, 'a time such as 10ms'));
  }
}

/** The numbers in their order, and again from the start. */
function inTurn(numbers: Float64Array): () => number {
  let next = 0;
  return () => {
    const number = numbers[next] as number; // In range: below the length, which is 1 or more.
    next = (next + 1) % numbers.length;
    return number;
  };
}

/**
 * Reads a file with one number per line; empty lines are passed over.
 * @param parse Undefined for a line that is no such number.
 * @param like What a line should be, for the message: "a time such as 10ms".
 * @returns 1 or more numbers, in the file's order.
 * @throws MlperfError `ERR_MODEL` when the file cannot be read, has nothing in it, or a wrong line.
 */
async function readNumberList(
  file: string,
  parse: (line: string) => number | undefined,
  like: string,
): Promise<Float64Array> {
  let content: string;
  try {
    content = readBoundedText(file, FILE_BYTES_MAX.list);
  } catch (error) {
    const what = `list ${file} cannot be read: ${describeSystemError(error)}`;
    throw modelError(what, error);
  }
  const numbers: number[] = [];
  for (const [i, text] of content.split('\n').entries()) {
    const line = text.trim();
    if (line === '') continue;
    const number = parse(line);
    if (number === undefined) {
      const seen = JSON.stringify(line.slice(0, 40));
      throw modelError(`list ${file}, line ${i + 1}: ${seen} should be ${like}`);
    }
    numbers.push(number);
  }
  if (numbers.length === 0) {
    throw modelError(`list ${file} is empty; it needs a line with ${like}`);
  }
  return Float64Array.from(numbers);
}

/** Which of the sequences of one seed; service times have another. */
const COUNTS_STREAM = 2;

/**
 * Id of a sample's first token; the others count on from it. No id is a special one: TEST06 looks for the end of
 * a sequence (2 in the models of the rules).
 */
const FIRST_TOKEN_ID = 1_000;

/** What the answers of a model with tokens are made of. */
interface TokenAnswerParts {
  readonly counts: TokenCounts;
  readonly seed: number;
  /** From the begin of the service to the first token, and from each token to the next. */
  readonly firstTokenNs: number;
  readonly tokenNs: number;
  readonly type: NonNullable<DelaySettings['tokenType']>;
}

/**
 * Answers with tokens: the first after its time, n of them after `firstTokenNs` + (n - 1) * `tokenNs`. The payload
 * is the ids of all of them, that of the first token its beginning (rule: TEST06 compares the two).
 * @throws MlperfError `ERR_MODEL` for a list that cannot be read
 */
export async function tokenAnswers(parts: TokenAnswerParts): Promise<() => DelayedAnswer> {
  const { firstTokenNs, tokenNs, type } = parts;
  const { next, max } = await tokenCounts(parts);
  const { ids, idBytes } = tokenIds(type, max);
  const first = ids.subarray(0, idBytes);
  return () => {
    const count = next();
    return {
      atNs: firstTokenNs + (count - 1) * tokenNs,
      payload: ids.subarray(0, count * idBytes),
      tokens: { count, firstAtNs: firstTokenNs, first },
    };
  };
}

/** Numbers of tokens one after the other, and the largest of them. */
async function tokenCounts({
  counts,
  seed,
}: TokenAnswerParts): Promise<{ next: () => number; max: number }> {
  switch (counts.kind) {
    case 'fixed':
      return { next: () => counts.count, max: counts.count };
    case 'uniform': {
      const { min, max } = counts;
      const random = new SeededRandom(seed, COUNTS_STREAM);
      return { next: () => min + random.integerBelow(max - min + 1), max };
    }
    case 'list': {
      const like = `a number of tokens from 1 to ${TOKENS_MAX}`;
      const list = await readNumberList(counts.file, parseTokenCount, like);
      return { next: inTurn(list), max: list.reduce((a, b) => Math.max(a, b)) };
    }
  }
}

/** Ids as bytes, little-endian whatever the machine is. */
function tokenIds(
  type: TokenAnswerParts['type'],
  count: number,
): { ids: Uint8Array; idBytes: number } {
  const idBytes = type === 'int64' ? 8 : 4;
  const ids = new Uint8Array(count * idBytes);
  const view = new DataView(ids.buffer);
  // The upper half of an int64 stays 0.
  for (let i = 0; i < count; i += 1) view.setInt32(i * idBytes, FIRST_TOKEN_ID + i, true);
  return { ids, idBytes };
}
