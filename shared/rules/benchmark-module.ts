import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { benchmarkUnknown } from '../base/errors/mlperf-error.ts';
import { BENCHMARK_KEYS, benchmarkRules } from './benchmark-rules.ts';
import { cardOf } from './cards.ts';

/** A file of code of one benchmark, or of all benchmarks of a kind. */
type BenchmarkModule<T> = { readonly benchmark: T } | { makeBenchmark(key: string): T };

/**
 * Loads the code of a benchmark on one side: `<key>/benchmark` below that side's folder of
 * benchmarks, which exports `benchmark`. The place decides, so that a new benchmark needs only a
 * card and a folder per side. All language models without a folder of their own share
 * `language/benchmark`, which exports `makeBenchmark`.
 * @param registry `import.meta.url` of the calling file in that folder.
 * @param lacking Words of the message for the part that the benchmark does not have on this side.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN` that lists the benchmarks with code.
 */
export async function loadBenchmarkModule<T>(
  key: string,
  registry: string,
  lacking: string,
): Promise<T> {
  const { key: known } = benchmarkRules(key);
  const url = findModule(known, registry);
  if (url === undefined) {
    const available = BENCHMARK_KEYS.filter((one) => findModule(one, registry) !== undefined);
    throw benchmarkUnknown(`benchmark ${key} has no ${lacking}; there is: ${available.join(', ')}`);
  }
  const found = (await import(url.href)) as BenchmarkModule<T>;
  return 'benchmark' in found ? found.benchmark : found.makeBenchmark(known);
}

/** The extension is that of the calling file: `.js` if the project is compiled. */
function findModule(key: string, registry: string): URL | undefined {
  const extension = registry.slice(registry.lastIndexOf('.'));
  const folders = cardOf(key)?.language === undefined ? [key] : [key, 'language'];
  return folders
    .map((folder) => new URL(`./${folder}/benchmark${extension}`, registry))
    .find((url) => existsSync(fileURLToPath(url)));
}
