import { createQueryDispatchLibrary, defaultDispatchSettings } from '../../../qdl/index.ts';
import type { GeneratorCeiling } from '../../loadgen/health/generator-health.ts';
import { ceilingBasis, readCeiling, writeCeiling } from '../../observe/health/ceiling-file.ts';
import type { RunHost } from '../../run/host/host.ts';
import { SutProcess } from '../../run/host/sut-process.ts';
import { loadgenBenchmark } from '../../samples/benchmarks/registry.ts';
import { SampleStore } from '../../samples/qsl/sample-store.ts';
import { measureRate } from './measure-rate.ts';
import { NullSut } from './null-sut.ts';

const BENCHMARK = 'null';
const SAMPLE_BYTES = 16;
const SAMPLE_COUNT = 1024;

/** Queries of each measurement; the first run of each warms the code up. About a second each on 2 cores. */
const WARM_UP = 30_000;
const IN_PROCESS_QUERIES = 500_000;
const LOOPBACK_QUERIES = 120_000;

/** What decides whether a ceiling is measured, and whether it is kept. */
interface CeilingOptions {
  readonly isAgain: boolean;
  /** Other processes take the CPUs now: what is measured is kept with a mark, until the machine is quiet. */
  readonly isBusy: boolean;
}

/**
 * The ceiling of this machine's LoadGen: the kept one where it still holds, else measured.
 * @throws MlperfError where it cannot be measured, or not be kept
 */
export async function generatorCeiling(
  cacheFolder: string,
  { isAgain, isBusy }: CeilingOptions,
  host: Pick<RunHost, 'progress'>,
): Promise<GeneratorCeiling> {
  const kept = isAgain ? null : readCeiling(cacheFolder);
  if (kept !== null && (kept.isDisturbed !== true || isBusy)) return kept;
  host.progress?.('measuring the generator ceiling', 'once, some seconds');
  const store = await nullStore(cacheFolder);
  const ceiling = {
    measuredAt: new Date().toISOString(),
    measuredOn: ceilingBasis(),
    inProcessQps: await inProcess(store),
    loopbackQps: await overLoopback(store),
    ...(isBusy && { isDisturbed: true }),
  };
  writeCeiling(cacheFolder, ceiling);
  return ceiling;
}

async function nullStore(cacheFolder: string): Promise<SampleStore> {
  const benchmark = await loadgenBenchmark(BENCHMARK);
  const dataSet = await benchmark.openDataSet({
    dataFolder: undefined,
    cacheFolder,
    synthetic: { sampleBytes: SAMPLE_BYTES, sampleCount: SAMPLE_COUNT, responseBytes: undefined },
    onProgress: () => {},
  });
  return new SampleStore(dataSet, {
    encoding: { form: 'raw', compression: 'identity' },
    performanceSampleCount: SAMPLE_COUNT,
    compressionScope: 'sample',
    isShared: false,
    digests: undefined,
  });
}

async function inProcess(store: SampleStore): Promise<number> {
  const ready = (): Promise<void> => Promise.resolve();
  await measureRate({ sut: new NullSut(), ready }, store, WARM_UP);
  return await measureRate({ sut: new NullSut(), ready }, store, IN_PROCESS_QUERIES);
}

/** With a node in a process of its own, as it is over a network. */
async function overLoopback(store: SampleStore): Promise<number> {
  const sut = await SutProcess.start([
    ...['--benchmark', BENCHMARK, '--node', 'doctor-null-sut', '--listen', '127.0.0.1:0'],
    ...['--progress', 'hidden', '--log-level', 'error'],
  ]);
  try {
    const rate = async (queryCount: number): Promise<number> => {
      const settings = { ...defaultDispatchSettings([sut.address]), benchmark: BENCHMARK };
      const qdl = createQueryDispatchLibrary(settings, store);
      return await measureRate({ sut: qdl, ready: () => qdl.connect() }, store, queryCount);
    };
    await rate(WARM_UP);
    return await rate(LOOPBACK_QUERIES);
  } finally {
    await sut.stop();
  }
}
