import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import {
  type DelaySettings,
  parseTokenCount,
  TOKENS_MAX,
  type TokenCounts,
} from '../../settings/delay-settings.ts';
import type { DelayedAnswer } from './delay-model.ts';
import { inTurn, readNumberList } from './service-times.ts';

/** Which of the sequences of one seed; service times have another. */
const STREAM = 2;

/**
 * Id of a sample's first token; the others count on from it. No id is a special one: TEST06 looks for the end of
 * a sequence (2 in the models of the rules).
 */
const FIRST_TOKEN_ID = 1_000;

/** What the answers of a model with tokens are made of. */
export interface TokenAnswerParts {
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
      const random = new SeededRandom(seed, STREAM);
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
