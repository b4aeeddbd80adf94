import { scoreAnswered } from '../samples/benchmarks/score-each.ts';
import type { DataSet } from '../samples/data-set/data-set.ts';

const METRIC = 'answered';

/** Samples of the calling program. Which answers are right only it knows: its accuracy is the share that was answered. */
export function programDataSet(
  name: string,
  totalSampleCount: number,
  payloadOf: (sampleIndex: number) => Uint8Array,
): DataSet {
  return {
    name,
    totalSampleCount,
    // There are no files.
    folder: '',
    quality: {
      metric: METRIC,
      target: 1,
      source: 'nobody but the calling program knows the right answers',
    },
    marks: [
      'the samples are those of the calling program, no data set of a benchmark: its accuracy is the share that was answered',
    ],
    readPayload: async (sampleIndex) => payloadOf(sampleIndex),
    scoreAccuracy: (entries) => scoreAnswered(entries, totalSampleCount, METRIC),
  };
}
