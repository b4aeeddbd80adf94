import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { benchmarkUnknown } from '../base/errors/mlperf-error.ts';
import { BENCHMARK_KEYS, benchmarkRules } from './benchmark-rules.ts';

/**
 * Loads the code of a benchmark on one side: `<key>/benchmark` below that side's folder of benchmarks, which
 * exports `benchmark`. Found by its place, so that another benchmark is a folder per side and a row of rules.
 * @param registry `import.meta.url` of the file in that folder that asks.
 * @param lacking What this side lacks of a benchmark without code here, for the message.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN` that lists what there is.
 */
export async function loadBenchmarkModule<T>(
  key: string,
  registry: string,
  lacking: string,
): Promise<T> {
  const { key: known } = benchmarkRules(key);
  const url = moduleUrl(known, registry);
  if (!existsSync(fileURLToPath(url))) {
    const available = BENCHMARK_KEYS.filter((candidate) =>
      existsSync(fileURLToPath(moduleUrl(candidate, registry))),
    );
    throw benchmarkUnknown(`benchmark ${key} has no ${lacking}; there is: ${available.join(', ')}`);
  }
  const { benchmark } = (await import(url.href)) as { benchmark: T };
  return benchmark;
}

/** The extension of the asking file: `.js` where the project is compiled. */
function moduleUrl(key: string, registry: string): URL {
  const extension = registry.slice(registry.lastIndexOf('.'));
  return new URL(`./${key}/benchmark${extension}`, registry);
}
