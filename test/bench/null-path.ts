import { syntheticDataSet } from '../../loadgen-node/samples/benchmarks/synthetic/synthetic-benchmark.ts';
import { SampleStore } from '../../loadgen-node/samples/qsl/sample-store.ts';
import {
  createQueryDispatchLibrary,
  type DispatchSettings,
  defaultDispatchSettings,
  type QueryDispatchLibrary,
} from '../../qdl/index.ts';

const ENCODING = { form: 'raw', compression: 'identity' };

/** A sample library of the benchmark null. */
export function nullStore(sampleBytes: number, sampleCount: number): SampleStore {
  const dataSet = syntheticDataSet({
    name: 'null',
    sampleBytes,
    sampleCount,
    isRight: ({ length }) => length === 4,
    metric: 'answered',
  });
  return new SampleStore(dataSet, {
    encoding: ENCODING,
    performanceSampleCount: sampleCount,
  });
}

/** The QDL as `longhaul run --benchmark null` makes it. */
export function nullQdl(
  address: string,
  store: SampleStore,
  settings: Partial<DispatchSettings> = {},
): Promise<QueryDispatchLibrary> {
  const fixed = { benchmark: 'null', encoding: ENCODING };
  return createQueryDispatchLibrary(
    { ...defaultDispatchSettings([address]), ...fixed, ...settings },
    store,
  );
}

/** @throws Error when the two ends did not count the same. */
export function requireEqualLedgers({ ledgerReport }: QueryDispatchLibrary): void {
  const { isCompared, differences } = ledgerReport;
  if (isCompared && differences.length === 0) return;
  throw new Error(`the ledgers are ${isCompared ? differences.join('; ') : 'not compared'}`);
}
