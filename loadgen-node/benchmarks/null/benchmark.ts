import { benchmarkRules } from '../../../shared/benchmarks/benchmark-rules.ts';
import {
  NULL_RESPONSE_BYTES_DEFAULT,
  NULL_SAMPLE_BYTES_DEFAULT,
  NULL_SAMPLE_COUNT_DEFAULT,
} from '../../../shared/benchmarks/null-benchmark.ts';
import { MlperfError } from '../../../shared/errors/mlperf-error.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { NullDataSet } from './null-data-set.ts';

const rules = benchmarkRules('null');

/**
 * The benchmark without a model on the LoadGen node: random payloads of any size, generated in memory,
 * and responses of which nothing but the length is looked at. It measures the wire and LoadGen itself.
 */
export const benchmark: LoadgenBenchmark = {
  rules,
  openDataSet: async ({ dataFolder, synthetic }) => {
    if (dataFolder !== undefined) {
      throw new MlperfError(
        'ERR_CONFIG_INVALID',
        `--data-dir ${dataFolder}: benchmark null has no data set, its samples are made up`,
      );
    }
    return new NullDataSet({
      sampleBytes: synthetic?.sampleBytes ?? NULL_SAMPLE_BYTES_DEFAULT,
      sampleCount: synthetic?.sampleCount ?? NULL_SAMPLE_COUNT_DEFAULT,
      responseBytes: synthetic?.responseBytes ?? NULL_RESPONSE_BYTES_DEFAULT,
      metric: rules.quality.metric,
    });
  },
};
