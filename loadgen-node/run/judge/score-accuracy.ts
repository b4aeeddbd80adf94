import { LoopTurns } from '../../../shared/base/async.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { JudgedTest, Judgement } from '../../loadgen/engine/test-context.ts';
import { scoreAccuracyLog } from '../../samples/benchmarks/score-each.ts';
import type { AccuracyReport, DataSet } from '../../samples/data-set/data-set.ts';

/**
 * Accuracy of an accuracy run, or the reason why it could not be scored; both absent if a sample
 * was not answered.
 */
export interface ScoredAccuracy {
  readonly report?: AccuracyReport;
  /** Why a run with all samples answered has no accuracy. */
  readonly problem?: Judgement['problems'][number];
}

/**
 * Scores the content of the accuracy log, so that the figure can be checked from the log alone. A
 * log that lacks samples of the data set is never scored: an accuracy run issues every sample.
 * @param signal Its abort ends the scoring, so that the processor is free for what must still be
 *   written.
 * @throws Errors that are neither a fault of the log nor of a response, and the signal's reason.
 */
export async function scoreAccuracy(
  dataSet: DataSet,
  { accuracy, accuracyLogPath }: Pick<JudgedTest, 'accuracy' | 'accuracyLogPath'>,
  signal?: AbortSignal,
): Promise<ScoredAccuracy> {
  const isWhole = accuracy?.endCause === 'all-issued' && accuracy.counts.lostSamples === 0;
  if (!isWhole || accuracy.setsRun < accuracy.setCount) return {};
  let report: AccuracyReport;
  try {
    ({ report } = await scoreAccuracyLog(dataSet, accuracyLogPath, new LoopTurns(signal)));
  } catch (error) {
    return { problem: problemOf(error) };
  }
  const { sampleCount } = report;
  const needed = dataSet.totalSampleCount;
  if (sampleCount >= needed) return { report };
  const text = `The accuracy log lacks samples: it has responses to ${sampleCount} of the data set's ${needed}.`;
  const seen = `${sampleCount} samples`;
  return { problem: { rule: 'accuracy-samples', text, needed: `${needed} samples`, seen } };
}

function problemOf(error: unknown): Judgement['problems'][number] {
  if (error instanceof MlperfError && error.code === 'ERR_OUTPUT') {
    return {
      rule: 'accuracy-log',
      text: `There is no accuracy: ${error.message}.`,
      needed: 'an accuracy log that can be read to its end',
      seen: 'a damaged or unreadable one',
    };
  }
  // The log is stored, and can be scored later.
  if (error instanceof MlperfError && error.code === 'ERR_NOT_INSTALLED') {
    return {
      rule: 'accuracy-log',
      text: `There is no accuracy: ${error.message}; then score the log with "longhaul accuracy".`,
      needed: 'what the metric is reckoned with',
      seen: 'it is missing',
    };
  }
  if (error instanceof MlperfError && error.code === 'ERR_DATA_SET') {
    return {
      rule: 'response-form',
      text: `A response is no answer to this benchmark: ${error.message}.`,
      needed: 'responses of the form that the benchmark knows',
      seen: 'another form',
    };
  }
  throw error;
}
