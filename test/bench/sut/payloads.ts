import type { DataSet } from '../../../loadgen-node/benchmarks/loadgen-benchmark.ts';
import { loadgenBenchmark } from '../../../loadgen-node/benchmarks/registry.ts';

/** Payloads of the first samples of a data set, in memory. */
export interface Payloads {
  read(index: number): Promise<Uint8Array>;
}

/** The stand-in's images, as a run has them. */
export async function openStandinData(cacheFolder: string): Promise<DataSet> {
  const benchmark = await loadgenBenchmark('resnet50');
  return benchmark.openDataSet({ dataFolder: 'standin', cacheFolder, onProgress: () => {} });
}

/** The first `count` payloads of the stand-in's images in a form. */
export async function openPayloads(
  cacheFolder: string,
  form: string,
  count: number,
): Promise<Payloads> {
  const dataSet = await openStandinData(cacheFolder);
  const payloads: Uint8Array[] = [];
  for (let i = 0; i < count; i += 1) payloads.push(await dataSet.readPayload(i, form));
  return { read: async (index) => payloads[index] as Uint8Array };
}
