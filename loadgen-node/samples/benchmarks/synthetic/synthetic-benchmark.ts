import { configInvalid } from '../../../../shared/base/errors/mlperf-error.ts';
import { benchmarkRules } from '../../../../shared/rules/benchmark-rules.ts';
import {
  SYNTHETIC_SAMPLE_BYTES_DEFAULT,
  SYNTHETIC_SAMPLE_COUNT_DEFAULT,
} from '../../../../shared/rules/rows/synthetic-samples.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { type ResponseCheck, SyntheticDataSet } from './synthetic-data-set.ts';

/**
 * A benchmark without a model on the LoadGen node: random payloads of any size, generated in memory.
 * @param key Its row of rules.
 * @param checkFor What makes a response right, where the run says how many bytes it must have.
 */
export function syntheticBenchmark(
  key: string,
  checkFor: (responseBytes: number | undefined) => ResponseCheck,
): LoadgenBenchmark {
  const rules = benchmarkRules(key);
  return {
    rules,
    openDataSet: async ({ dataFolder, synthetic }) => {
      if (dataFolder !== undefined) {
        throw configInvalid(
          `--data-dir ${dataFolder}: benchmark ${key} has no data set, its samples are made up`,
        );
      }
      return new SyntheticDataSet({
        name: key,
        sampleBytes: synthetic?.sampleBytes ?? SYNTHETIC_SAMPLE_BYTES_DEFAULT,
        sampleCount: synthetic?.sampleCount ?? SYNTHETIC_SAMPLE_COUNT_DEFAULT,
        isRight: checkFor(synthetic?.responseBytes),
        metric: rules.quality.metric,
      });
    },
  };
}
