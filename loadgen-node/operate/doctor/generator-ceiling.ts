import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createQueryDispatchLibrary, defaultDispatchSettings } from '../../../qdl/index.ts';
import { NO_BYTES } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type {
  Query,
  QuerySampleLibrary,
  ResponseSink,
  SystemUnderTest,
} from '../../../shared/domain/system-under-test.ts';
import type { GeneratorCeiling } from '../../loadgen/results/generator-health.ts';
import { LOADGEN_V41 } from '../../loadgen/settings/loadgen-behaviour.ts';
import { defaultTestSettings } from '../../loadgen/settings/test-settings.ts';
import { ceilingBasis, readCeiling, writeCeiling } from '../../observe/health/ceiling-file.ts';
import type { RunHost } from '../../run/host/host.ts';
import { SutProcess } from '../../run/host/sut-process.ts';
import type { RunSut } from '../../run/run-sut.ts';
import { type ProbePlan, probe } from '../../run/session.ts';
import { loadgenBenchmark } from '../../samples/benchmarks/registry.ts';
import { SampleStore } from '../../samples/qsl/sample-store.ts';

const BENCHMARK = 'null';
const SAMPLE_BYTES = 16;
const SAMPLE_COUNT = 1024;

/**
 * Queries per measurement; the first run of each warms up the code. About a second each on 2 cores.
 */
const WARM_UP = 30_000;
const IN_PROCESS_QUERIES = 500_000;
const LOOPBACK_QUERIES = 120_000;

/**
 * LoadGen's ceiling on this machine: the stored one if still valid, else measured.
 * @param options `isBusy`: other processes use the CPUs now; the result is stored with a mark,
 *   until the machine is quiet.
 * @throws MlperfError if it cannot be measured or stored
 */
export async function generatorCeiling(
  cacheFolder: string,
  { isAgain, isBusy }: Readonly<Record<'isAgain' | 'isBusy', boolean>>,
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
    isDigested: false,
  });
}

async function inProcess(store: SampleStore): Promise<number> {
  const ready = (): Promise<void> => Promise.resolve();
  await measureRate({ sut: new NullSut(), ready }, store, WARM_UP);
  return await measureRate({ sut: new NullSut(), ready }, store, IN_PROCESS_QUERIES);
}

/** Measures with a node in its own process, as over a network. */
async function overLoopback(store: SampleStore): Promise<number> {
  const sut = await SutProcess.start([
    ...['--benchmark', BENCHMARK, '--node', 'doctor-null-sut', '--listen', '127.0.0.1:0'],
    ...['--progress', 'hidden', '--log-level', 'error'],
  ]);
  try {
    const rate = async (queryCount: number): Promise<number> => {
      const settings = { ...defaultDispatchSettings([sut.address]), benchmark: BENCHMARK };
      const qdl = await createQueryDispatchLibrary(settings, store);
      return await measureRate({ sut: qdl, ready: () => qdl.connect() }, store, queryCount);
    };
    await rate(WARM_UP);
    return await rate(LOOPBACK_QUERIES);
  } finally {
    await sut.stop();
  }
}

/** Rate at which all queries are due in the first moments: each is late and goes out at once. */
const FLAT_OUT_QPS = 1e8;

const PLAN: Omit<ProbePlan, 'output' | 'settings'> = {
  loadgen: LOADGEN_V41,
  log: {},
  stallTimeoutNs: 20e9,
  issueLoop: 'spin',
  generatorLagShareMax: 0.1,
};

/** A host without output, which never aborts. */
const HOST = { report: (): void => {}, signal: new AbortController().signal };

/**
 * Queries per second that the engine reaches with a SUT in Server at full speed. Logs go to a
 * temporary folder.
 * @throws MlperfError `ERR_INTERNAL` if a query was not answered; errors of the SUT
 */
async function measureRate(
  sut: Pick<RunSut, 'sut' | 'ready'>,
  qsl: QuerySampleLibrary,
  queryCount: number,
): Promise<number> {
  const settings = {
    ...defaultTestSettings(),
    scenario: 'Server' as const,
    minDurationMs: 0,
    minQueryCount: queryCount,
    serverTargetQps: FLAT_OUT_QPS,
  };
  const plan = { ...PLAN, settings, output: mkdtempSync(join(tmpdir(), 'longhaul-doctor-')) };
  const look = { name: 'generator ceiling', keepsLogs: false };
  const { performance: phase } = await probe(plan, qsl, sut, HOST, look);
  if (phase === null || phase.counts.lostSamples > 0 || phase.durationNs <= 0) {
    const why = phase?.faultText ?? phase?.failures[0]?.texts[0]?.text ?? 'samples were lost';
    throw new MlperfError('ERR_INTERNAL', `the generator ceiling could not be measured: ${why}`);
  }
  return (phase.counts.completedQueries * 1e9) / phase.durationNs;
}

/** A SUT that completes everything inside issueQuery: only LoadGen's own work remains. */
export class NullSut implements SystemUnderTest {
  #sink: ResponseSink | null = null;

  async name(): Promise<string> {
    return 'Network SUT that answers at once';
  }

  async start(sink: ResponseSink): Promise<void> {
    this.#sink = sink;
  }

  issueQuery(query: Query): void {
    const sink = this.#sink as ResponseSink;
    const atNs = sink.nowNs();
    const { firstResponseId, sampleCount, responseIdStride } = query;
    for (let i = 0; i < sampleCount; i += 1) {
      sink.complete(firstResponseId + i * responseIdStride, NO_BYTES, 0, atNs);
    }
  }

  flushQueries(): void {
    // Queries are never buffered.
  }

  async stop(): Promise<void> {
    this.#sink = null;
  }
}
