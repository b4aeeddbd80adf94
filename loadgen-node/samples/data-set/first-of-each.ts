import { dataSetError } from '../../../shared/base/errors/mlperf-error.ts';
import type { AccuracyEntries, AccuracyEntry, AccuracyReport } from './data-set.ts';

/**
 * Share of samples with a correct response. Every response is checked, so an empty one fails; the
 * first of several responses to a sample counts, as in MLPerf's accuracy scripts.
 * @param total Number of samples in the data set.
 * @param isRight Throws if a response is malformed.
 * @throws MlperfError `ERR_DATA_SET` for a response to an unknown sample.
 */
export async function scoreEach(
  entries: AccuracyEntries,
  total: number,
  isRight: (entry: AccuracyEntry) => boolean,
) {
  const isScored = new Uint8Array(total);
  let sampleCount = 0;
  let correctCount = 0;
  for await (const entry of entries) {
    const { sampleIndex } = entry;
    requireSample(sampleIndex, total);
    const right = isRight(entry);
    if (isScored[sampleIndex] === 1) continue;
    isScored[sampleIndex] = 1;
    sampleCount += 1;
    if (right) correctCount += 1;
  }
  const value = sampleCount === 0 ? 0 : correctCount / sampleCount;
  return { value, correctCount, sampleCount };
}

/**
 * The first entry of each sample; MLPerf's accuracy scripts ignore further ones.
 * @param total Number of samples in the data set.
 * @throws MlperfError `ERR_DATA_SET` for an unknown sample.
 */
export async function* firstOfEachSample(
  entries: AccuracyEntries,
  total: number,
): AsyncGenerator<AccuracyEntry> {
  const isSeen = new Uint8Array(total);
  for await (const entry of entries) {
    requireSample(entry.sampleIndex, total);
    if (isSeen[entry.sampleIndex] === 1) continue;
    isSeen[entry.sampleIndex] = 1;
    yield entry;
  }
}

function requireSample(index: number, total: number): void {
  if (Number.isInteger(index) && index >= 0 && index < total) return;
  throw dataSetError(
    `a response for sample ${index}; the data set has the samples 0 to ${total - 1}`,
  );
}

/**
 * Share of samples with a non-empty response, for data whose correct answers only the user knows.
 */
export async function scoreAnswered(
  entries: AccuracyEntries,
  total: number,
  metric: string,
): Promise<AccuracyReport> {
  return { metric, ...(await scoreEach(entries, total, ({ response }) => response.length > 0)) };
}
