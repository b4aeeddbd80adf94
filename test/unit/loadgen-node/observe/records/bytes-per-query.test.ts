import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { SampleRecorder } from '../../../../../loadgen-node/loadgen/recorder/sample-recorder.ts';
import { buildQueryPlan } from '../../../../../loadgen-node/loadgen/schedule/query-plan.ts';
import { LoadableSets } from '../../../../../loadgen-node/loadgen/schedule/sample-order.ts';
import { deriveEffectiveSettings } from '../../../../../loadgen-node/loadgen/settings/effective-settings.ts';
import { LOADGEN_V41 } from '../../../../../loadgen-node/loadgen/settings/loadgen-behaviour.ts';
import type { TestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { MemoryQsl } from '../../../../scenes/simulated-run/memory-qsl.ts';
import { V41_SETTINGS } from '../../../../scenes/simulated-run/simulated-run.ts';

/**
 * Memory of arrays that are held. They are freed beside the program: it is read until it stays the
 * same.
 */
async function heldBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  let before = Number.NaN;
  for (let tries = 0; tries < 20; tries += 1) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const { arrayBuffers } = process.memoryUsage();
    if (arrayBuffers === before) break;
    before = arrayBuffers;
  }
  return before;
}

// Goal: a run keeps its records at a stated price in memory. Method: memory before and after all
// arrays of a run are taken; a file of its own, since what other tests leave behind would be freed
// in between.
it('plan, recorder and times of the SUT take at most 96 B per query before a block goes out', async () => {
  const queries = 200_000;
  const qsl = new MemoryQsl(100);
  const requested: TestSettings = {
    ...V41_SETTINGS,
    scenario: 'Server',
    ...{ serverTargetQps: 1e6, minDurationMs: 0, minQueryCount: queries },
  };
  const { effective } = deriveEffectiveSettings(requested, qsl, LOADGEN_V41);
  const set = new LoadableSets('performance', effective, qsl, LOADGEN_V41).at(0);
  const before = await heldBytes();
  const plan = buildQueryPlan({
    phase: 'performance',
    settings: effective,
    set,
    loadgen: LOADGEN_V41,
  });
  const recorder = new SampleRecorder(plan, 'plan', { keepsService: true });
  const perQuery = ((await heldBytes()) - before) / queries;
  // Both are still held.
  expect([recorder.columns().latencyNs.length, plan.queryCount]).toEqual([queries, queries]);
  expect(perQuery).toBeGreaterThanOrEqual(71);
  expect(perQuery).toBeLessThanOrEqual(96);
});
