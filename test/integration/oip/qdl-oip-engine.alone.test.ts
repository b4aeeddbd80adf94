import { expect, it } from 'vitest';
import { monotonicClock } from '../../../loadgen-node/loadgen/engine/monotonic-clock.ts';
import { runTest } from '../../../loadgen-node/loadgen/engine/start-test.ts';
import type { TestOutcome } from '../../../loadgen-node/loadgen/engine/test-outcome.ts';
import type { TestSettings } from '../../../loadgen-node/loadgen/settings/test-settings.ts';
import { syntheticDataSet } from '../../../loadgen-node/samples/benchmarks/synthetic/synthetic-benchmark.ts';
import { SampleStore } from '../../../loadgen-node/samples/qsl/sample-store.ts';
import { createQueryDispatchLibrary, type DispatchSettings } from '../../../qdl/index.ts';
import type { OipRequestPlan } from '../../../shared/wire/oip/request-plan.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import {
  echoOf,
  type FakeOipServer,
  fakeOipServers,
  type OipBehaviour,
} from '../../scenes/oip-server/fake-oip-server.ts';
import { oipPlan, oipSettings } from '../../scenes/oip-server/oip-qdl.ts';
import { V41_SETTINGS } from '../../scenes/simulated-run/simulated-run.ts';

// Goal: LoadGen's engine runs over servers of the Open Inference Protocol as over native nodes,
// tokens included. Method: short runs in real time, of which only counts are looked at.

const ENCODING = { form: 'raw', compression: 'identity' };

async function run(
  list: readonly FakeOipServer[],
  plan: OipRequestPlan,
  settings: Partial<TestSettings>,
  dispatch: Partial<DispatchSettings> = {},
): Promise<TestOutcome> {
  const dataSet = syntheticDataSet({
    name: 'echo',
    sampleBytes: 8,
    sampleCount: 64,
    isRight: () => true,
    metric: 'answered',
  });
  const store = new SampleStore(dataSet, { encoding: ENCODING, performanceSampleCount: 64 });
  const qdl = await createQueryDispatchLibrary(oipSettings(list, plan, dispatch), store);
  await qdl.connect();
  return runTest({
    sut: qdl,
    qsl: store,
    settings: { ...V41_SETTINGS, minDurationMs: 0, ...settings },
    clock: monotonicClock,
    log: { outdir: tempFolder() },
    stallTimeoutNs: 10e9,
    drainTimeoutNs: 1e9,
  });
}

it('completes Offline by calls over two connections, and by streams', async () => {
  const list = await fakeOipServers({}, {});
  const offline = { scenario: 'Offline', minQueryCount: 64 } as const;
  for (const plan of [oipPlan('unary', { samplesPerRequest: 4 }), oipPlan('stream')]) {
    const isUnary = plan.method === 'unary';
    const dispatch = isUnary ? { connectionsPerNode: 2 } : { streamsPerNode: 2 };
    const { performance } = await run(list, plan, offline, dispatch);
    const { completedSamples = 0, lostSamples, contractErrors } = performance?.counts ?? {};
    expect([lostSamples, contractErrors]).toEqual([0, 0]);
    expect(completedSamples).toBeGreaterThanOrEqual(64);
  }
  expect(list.every(({ requests }) => requests.length > 0)).toBe(true);
});

it('measures tokens of a decoupled model', async () => {
  const parameters = { triton_final_response: { boolParam: true } };
  const onInfer: OipBehaviour['onInfer'] = (request, answer) => {
    const unfinished = { triton_final_response: { boolParam: false } };
    answer.respond({ ...echoOf(request), parameters: unfinished });
    setTimeout(() => answer.respond({ ...echoOf(request), parameters }), 3);
  };
  const config = { name: 'echo', modelTransactionPolicy: { decoupled: true } };
  const list = await fakeOipServers({ onInfer, config });
  const settings = {
    scenario: 'SingleStream',
    minQueryCount: 5,
    useTokenLatencies: true,
  } as const;
  const { performance } = await run(list, oipPlan('stream'), settings, { tokenLatencies: true });
  expect(performance?.counts).toMatchObject({ lostSamples: 0, contractErrors: 0 });
  const tokens = performance?.summary?.tokens;
  expect(tokens?.tokenCount).toBe(2 * (performance?.counts.completedSamples ?? 0));
  expect(tokens?.firstToken?.meanNs).toBeGreaterThan(0);
  // The second token comes 3 ms after the first one.
  expect(tokens?.perOutputToken?.meanNs).toBeGreaterThan(2e6);
});
