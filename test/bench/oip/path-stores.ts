import { loadgenBenchmark } from '../../../loadgen-node/samples/benchmarks/registry.ts';
import { SampleStore } from '../../../loadgen-node/samples/qsl/sample-store.ts';
import { defaultCacheFolder } from '../../../shared/base/files/read-file.ts';
import { nullStore } from '../null-path.ts';
import type { ClientJob } from '../wire/measured.ts';

/** Benchmarks whose path is measured: without a model, and with one. */
export type PathBenchmark = 'null' | 'digits';

/** Samples of a benchmark, loaded, as they travel by both protocols: raw. */
export async function pathStore(
  benchmark: PathBenchmark,
  { sizeBytes, sampleCount }: Pick<ClientJob, 'sizeBytes' | 'sampleCount'>,
): Promise<SampleStore> {
  const store =
    benchmark === 'null' ? nullStore(sizeBytes, sampleCount) : await digitsStore(sampleCount);
  await store.loadSamplesToRam(Uint32Array.from({ length: sampleCount }, (_, i) => i));
  return store;
}

/** The embedded example's images; drawn first where they are not there yet. */
async function digitsStore(sampleCount: number): Promise<SampleStore> {
  const benchmark = await loadgenBenchmark('digits');
  const dataSet = await benchmark.openDataSet({
    dataFolder: undefined,
    cacheFolder: defaultCacheFolder(),
    onProgress: () => {},
  });
  const encoding = { form: 'raw', compression: 'identity' };
  return new SampleStore(dataSet, { encoding, performanceSampleCount: sampleCount });
}
