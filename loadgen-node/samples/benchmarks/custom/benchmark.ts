import { configInvalid } from '../../../../shared/base/errors/mlperf-error.ts';
import { benchmarkRules } from '../../../../shared/rules/benchmark-rules.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { openFileDataSet } from './file-data-set.ts';

const rules = benchmarkRules('custom');

/** The user's own benchmark on the LoadGen node: files as payloads, and responses that are counted, not judged. */
export const benchmark: LoadgenBenchmark = {
  rules,
  openDataSet: async ({ dataFolder }) => {
    if (dataFolder === undefined) {
      throw configInvalid(
        'benchmark custom needs --data-dir FOLDER: each file in it is the payload of one sample',
      );
    }
    return openFileDataSet(dataFolder, rules.quality.metric);
  },
};
