import { defaultCacheFolder } from '../../../../shared/base/files/cache-folder.ts';
import { percentOf } from '../../../../shared/base/process/terminal.ts';
import { benchmarkRules } from '../../../../shared/rules/benchmark-rules.ts';
import type { RunHost } from '../../../run/host/host.ts';
import { exampleMarks } from '../../../run/judge/model-notes.ts';
import type { RunValues } from '../../../run/plan/run-settings.ts';
import { generatedSetOf } from '../../../samples/benchmarks/generated-data.ts';
import type { SyntheticSamples } from '../../../samples/benchmarks/loadgen-benchmark.ts';
import { loadgenBenchmark } from '../../../samples/benchmarks/registry.ts';
import type { DataSet } from '../../../samples/data-set/data-set.ts';
import { readsRunOf } from '../../score/score-log.ts';
import type { ResponseScorer } from './accuracy-fallback.ts';

/**
 * Scores responses with the data set of a benchmark, which is opened when the first score is wanted.
 * @param folder Of the test's run: its audit tells how responses of a model of the Open Inference Protocol are read.
 */
export function responseScorer(
  benchmark: string,
  values: Partial<RunValues>,
  host: RunHost,
  folder: string,
): ResponseScorer {
  const rules = benchmarkRules(benchmark);
  let opened: DataSet | undefined;
  return {
    score: async (entries) => {
      opened ??= readsRunOf(folder, rules, await openDataSet(benchmark, values, host));
      return opened.scoreAccuracy(entries);
    },
    marks: () => [...exampleMarks(rules), ...(opened?.marks ?? [])],
  };
}

async function openDataSet(
  key: string,
  values: Partial<RunValues>,
  host: RunHost,
): Promise<DataSet> {
  const benchmark = await loadgenBenchmark(key);
  const { sampleBytes, sampleCount, responseBytes, dataDir, dataSeed, dataCount } = values;
  const synthetic: SyntheticSamples = { sampleBytes, sampleCount, responseBytes };
  try {
    return await benchmark.openDataSet({
      dataFolder: dataDir,
      cacheFolder: values.cacheDir ?? defaultCacheFolder(),
      generated: generatedSetOf({ benchmark: key, dataDir, dataSeed, dataCount }),
      synthetic,
      onProgress: (fraction, what) => host.progress?.(what, percentOf(fraction)),
    });
  } finally {
    host.progress?.(null);
  }
}
