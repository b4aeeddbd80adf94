import { monotonicClock } from '../../../loadgen-node/loadgen/engine/monotonic-clock.ts';
import { runTest } from '../../../loadgen-node/loadgen/engine/start-test.ts';
import type { RecordedSet } from '../../../loadgen-node/loadgen/engine/test-context.ts';
import type { TestOutcome } from '../../../loadgen-node/loadgen/engine/test-outcome.ts';
import type { TestSettings } from '../../../loadgen-node/loadgen/settings/test-settings.ts';
import { processMonitor } from '../../../loadgen-node/observe/health/process-monitor.ts';
import { syntheticDataSet } from '../../../loadgen-node/samples/benchmarks/synthetic/synthetic-benchmark.ts';
import { SampleStore } from '../../../loadgen-node/samples/qsl/sample-store.ts';
import { createQueryDispatchLibrary, defaultDispatchSettings } from '../../../qdl/index.ts';
import { tempFolder } from '../host/folders.ts';
import { V41_SETTINGS } from './simulated-run.ts';

const ENCODING = { form: 'raw', compression: 'identity' };
const SAMPLE_COUNT = 1_024;

/** A performance run over gRPC, and what its recorder holds. */
export interface RecordedRun {
  readonly outcome: TestOutcome;
  readonly set: RecordedSet;
}

/**
 * Runs the engine in this process against nodes of a benchmark without a model, samples of 16 B.
 * Call it inside a test.
 */
export async function recordedRun(
  addresses: readonly string[],
  benchmark: 'null' | 'delay',
  settings: Partial<TestSettings>,
): Promise<RecordedRun> {
  const dataSet = syntheticDataSet({
    name: benchmark,
    sampleBytes: 16,
    sampleCount: SAMPLE_COUNT,
    isRight: () => true,
    metric: 'answered',
  });
  const store = new SampleStore(dataSet, {
    encoding: ENCODING,
    performanceSampleCount: SAMPLE_COUNT,
  });
  const dispatch = { ...defaultDispatchSettings(addresses), benchmark, encoding: ENCODING };
  const qdl = await createQueryDispatchLibrary(dispatch, store);
  await qdl.connect();
  const sets: RecordedSet[] = [];
  const outcome = await runTest({
    sut: qdl,
    qsl: store,
    settings: { ...V41_SETTINGS, minDurationMs: 0, ...settings },
    clock: monotonicClock,
    log: { outdir: tempFolder() },
    stallTimeoutNs: 10e9,
    drainTimeoutNs: 1e9,
    observer: {
      generatorMonitor: processMonitor(() => qdl.backPressure),
      keepRecords: async (set) => {
        sets.push(set);
      },
    },
  });
  const [set] = sets;
  if (set === undefined) throw new Error('no set was recorded');
  return { outcome, set };
}
