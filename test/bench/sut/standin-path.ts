import { loadgenBenchmark } from '../../../loadgen-node/samples/benchmarks/registry.ts';
import type { DataSet } from '../../../loadgen-node/samples/data-set/data-set.ts';
import { SampleStore } from '../../../loadgen-node/samples/qsl/sample-store.ts';
import {
  createQueryDispatchLibrary,
  defaultDispatchSettings,
  type QueryDispatchLibrary,
} from '../../../qdl/index.ts';

/** The stand-in's images, as a run has them. */
export async function openStandinData(cacheFolder: string): Promise<DataSet> {
  const benchmark = await loadgenBenchmark('resnet50');
  return benchmark.openDataSet({ dataFolder: 'standin', cacheFolder, onProgress: () => {} });
}

/** The first `count` images in a form, loaded. */
export async function standinStore(
  cacheFolder: string,
  form: string,
  count: number,
): Promise<SampleStore> {
  const store = new SampleStore(await openStandinData(cacheFolder), {
    encoding: { form, compression: 'identity' },
    performanceSampleCount: count,
  });
  await store.loadSamplesToRam(Uint32Array.from({ length: count }, (_, i) => i));
  return store;
}

/** The QDL as `longhaul run --benchmark resnet50` makes it. */
export function standinQdl(address: string, store: SampleStore): QueryDispatchLibrary {
  const fixed = { benchmark: 'resnet50', encoding: store.encoding };
  return createQueryDispatchLibrary({ ...defaultDispatchSettings([address]), ...fixed }, store);
}
