import { expect, it } from 'vitest';
import { namedBounds } from '../../../../../loadgen-node/loadgen/settings/query-bounds.ts';
import type { TestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { findPeak } from '../../../../../loadgen-node/search/peak/find-peak.ts';
import type {
  LoadSearch,
  ProbeOutcome,
  ProbeSpec,
} from '../../../../../loadgen-node/search/peak/peak-search.ts';
import {
  atLoad,
  boundsOf,
  KeptProbe,
  shortSettings,
} from '../../../../../loadgen-node/search/peak/run-probes.ts';
import { SimulatedClock } from '../../../../scenes/clock.ts';
import { MemoryQsl } from '../../../../scenes/simulated-run/memory-qsl.ts';
import { theoreticalPeak } from '../../../../scenes/simulated-run/queue.ts';
import { simulatedTest, V41_SETTINGS } from '../../../../scenes/simulated-run/simulated-run.ts';

// Goal: probes of the real engine (issue loop, recorder, verdicts, early end) lead a search to the
// limit that theory gives. Method: an M/D/1 queue as SUT under simulated time, at percentile 90,
// which needs the fewest queries.

const SERVICE_NS = 1e6;
const BASE: TestSettings = {
  ...V41_SETTINGS,
  scenario: 'Server',
  mode: 'PerformanceOnly',
  serverTargetLatencyNs: 6e6,
  serverTargetLatencyPercentile: 0.9,
  minDurationMs: 10_000,
  minQueryCount: 100,
};

async function engineProbe(spec: ProbeSpec): Promise<ProbeOutcome> {
  const isFull = spec.kind === 'full';
  const settings = isFull ? atLoad(BASE, spec.load) : shortSettings(BASE, spec);
  const kept = new KeptProbe();
  const { isDecided } = spec;
  const queue = { isQueue: true, serviceNs: () => SERVICE_NS };
  const clock = new SimulatedClock(undefined, 4);
  const outcome = await simulatedTest(settings, queue, new MemoryQsl(64), { clock }).run({
    stallTimeoutNs: 3600e9,
    observer: {
      keepRecords: async (set) => kept.keep(set),
      earlyEnd: isDecided && { bounds: namedBounds(boundsOf(BASE)), isDecided },
    },
  });
  return kept.outcome(outcome, undefined, isFull ? undefined : 1e6);
}

it('finds the limit of a queue through the engine, and the same one again', {
  timeout: 60_000,
}, async () => {
  const search: LoadSearch = {
    kind: 'rate',
    ...boundsOf(BASE),
    percentile: 0.9,
    startLoad: undefined,
    loadMax: 1e6,
    precision: 0.02,
    confidence: 0.95,
    screeningNsMax: 20e9,
    full: {
      runs: 1,
      minDurationNs: 10e9,
      minQueryCount: 100,
      hasEarlyStopping: true,
      loadsMax: 4,
    },
  };
  const result = await findPeak(search, engineProbe);
  const limit = theoreticalPeak('M/D/1', SERVICE_NS / 1e9, 6e-3, 0.1);
  expect(result).toMatchObject({ ending: 'found', limit: 'sut' });
  // The schedule of a run of 10 s is what was drawn: 1 % more or less than it was asked for.
  expect(Math.abs((result.value ?? 0) / limit - 1)).toBeLessThan(0.04);
  expect(result.value).toBe(result.probes.at(-1)?.scheduledPerSecond);
  expect(result.interval?.low).toBeLessThan(limit);
  expect(result.interval?.high).toBeGreaterThan(limit);
  expect(result.probes.at(-1)?.kind).toBe('full');
  const first = result.probes.slice(0, -1);
  const again = await findPeak(search, engineProbe, { earlier: first });
  expect(again.value).toBe(result.value);
});
