import type { RecordedTokens } from './recording.ts';

/** The arrays of a recorder that counts tokens, by sample. */
interface TokenColumns {
  readonly tokenCounts: Uint32Array;
  /** First token - scheduled, NaN where it did not come; null where it is not timed. */
  readonly firstTokenNs: Float64Array | null;
  readonly latencyNs: Float64Array;
  readonly isCompleted: (sample: number) => boolean;
  /** One above the last sample that was issued. */
  readonly sampleEnd: number;
  readonly completedSamples: number;
}

/**
 * Times of the tokens of one completed sample in ns: to the first token, and per output token after it, truncated (negative
 * below 2 tokens). A first token that never came (NaN) counts as one that came at once.
 * @param firstTokenNs First token - scheduled.
 */
export function tokenTimes(
  latencyNs: number,
  firstTokenNs: number,
  tokenCount: number,
): { readonly firstNs: number; readonly perOutputNs: number } {
  const firstNs = Number.isNaN(firstTokenNs) ? 0 : firstTokenNs;
  return { firstNs, perOutputNs: Math.trunc((latencyNs - firstNs) / (tokenCount - 1)) };
}

/** Output tokens of the completed samples, and their times. */
export function collectTokens(columns: TokenColumns): RecordedTokens {
  const { tokenCounts, latencyNs, isCompleted, sampleEnd } = columns;
  const timed = columns.firstTokenNs === null ? 0 : columns.completedSamples;
  const firstTokenNs = new Float64Array(timed);
  const perOutputTokenNs = new Float64Array(timed);
  let tokenCount = 0;
  let count = 0;
  for (let sample = 0; sample < sampleEnd; sample += 1) {
    if (!isCompleted(sample)) continue;
    const tokensOfSample = tokenCounts[sample] as number;
    tokenCount += tokensOfSample;
    if (timed === 0) continue;
    const firstNs = columns.firstTokenNs?.[sample] ?? 0;
    const times = tokenTimes(latencyNs[sample] as number, firstNs, tokensOfSample);
    firstTokenNs[count] = times.firstNs;
    perOutputTokenNs[count] = times.perOutputNs;
    count += 1;
  }
  return { tokenCount, firstTokenNs, perOutputTokenNs };
}
