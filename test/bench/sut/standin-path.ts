import { loadgenBenchmark } from '../../../loadgen-node/samples/benchmarks/registry.ts';
import type { DataSet } from '../../../loadgen-node/samples/data-set/data-set.ts';
import { SampleStore } from '../../../loadgen-node/samples/qsl/sample-store.ts';
import {
  createQueryDispatchLibrary,
  defaultDispatchSettings,
  type QueryDispatchLibrary,
} from '../../../qdl/index.ts';

/** Samples of a benchmark's stand-in data: the first of them, in one encoding. */
export interface StandinSamples {
  readonly benchmark: string;
  readonly encoding: string;
  readonly sampleCount: number;
  readonly cacheFolder: string;
}

/** The stand-in's data set, as a run has it. */
export async function openStandinData(key: string, cacheFolder: string): Promise<DataSet> {
  const benchmark = await loadgenBenchmark(key);
  return benchmark.openDataSet({ dataFolder: 'standin', cacheFolder, onProgress: () => {} });
}

/** The samples, loaded. */
export async function standinStore(samples: StandinSamples): Promise<SampleStore> {
  const { benchmark, encoding, sampleCount, cacheFolder } = samples;
  const store = new SampleStore(await openStandinData(benchmark, cacheFolder), {
    encoding: { form: encoding, compression: 'identity' },
    performanceSampleCount: sampleCount,
  });
  await store.loadSamplesToRam(Uint32Array.from({ length: sampleCount }, (_, i) => i));
  return store;
}

/** The QDL as `longhaul run` makes it. */
export function standinQdl(
  address: string,
  benchmark: string,
  store: SampleStore,
): Promise<QueryDispatchLibrary> {
  const fixed = { benchmark, encoding: store.encoding };
  return createQueryDispatchLibrary({ ...defaultDispatchSettings([address]), ...fixed }, store);
}
