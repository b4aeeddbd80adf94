import { dataSetError } from '../../../shared/base/errors/mlperf-error.ts';
import { formatFixed } from '../../loadgen/base/number-format.ts';
import type { AccuracyEntry, AccuracyReport } from '../data-set/data-set.ts';

/**
 * Share of the samples whose response is right. Every response is looked at, so that none passes that is no answer;
 * of several for one sample the first one counts, as in MLPerf's own accuracy scripts.
 * @param total Samples of the data set.
 * @param isRight Throws where a response is no answer at all.
 * @throws MlperfError `ERR_DATA_SET` when a response is for a sample that there is not.
 */
export function scoreEach(
  entries: Iterable<AccuracyEntry>,
  total: number,
  isRight: (entry: AccuracyEntry) => boolean,
): Omit<AccuracyReport, 'metric'> {
  const isScored = new Uint8Array(total);
  let sampleCount = 0;
  let correctCount = 0;
  for (const entry of entries) {
    const { sampleIndex } = entry;
    if (!Number.isInteger(sampleIndex) || sampleIndex < 0 || sampleIndex >= total) {
      throw dataSetError(
        `a response for sample ${sampleIndex}; the data set has the samples 0 to ${total - 1}`,
      );
    }
    const right = isRight(entry);
    if (isScored[sampleIndex] === 1) continue;
    isScored[sampleIndex] = 1;
    sampleCount += 1;
    if (right) correctCount += 1;
  }
  const value = sampleCount === 0 ? 0 : correctCount / sampleCount;
  return { value, correctCount, sampleCount };
}

/** The line that accuracy-imagenet.py prints: checkers of submissions read it. */
export function formatScriptLine(correctCount: number, sampleCount: number): string {
  const percent = sampleCount === 0 ? 0 : (100 * correctCount) / sampleCount;
  return `accuracy=${formatFixed(percent, 3)}%, good=${correctCount}, total=${sampleCount}`;
}
