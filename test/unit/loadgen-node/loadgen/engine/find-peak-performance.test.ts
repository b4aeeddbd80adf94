import { describe, expect, it } from 'vitest';
import type { TestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { errorTexts } from '../../../../scenes/simulated-run/run-logs.ts';
import {
  type SimulatedTest,
  simulatedTest,
} from '../../../../scenes/simulated-run/simulated-run.ts';

const SEARCH: Partial<TestSettings> = {
  scenario: 'Server',
  mode: 'FindPeakPerformance',
  serverTargetQps: 100,
  serverTargetLatencyNs: 10_000_000,
  minDurationMs: 500,
  minQueryCount: 20,
  serverFindPeakQpsDecimalsOfPrecision: 0,
};

/** A SUT that takes `workNs` of one thread per query: 1 / workNs is all that it can do. */
function busyTest(settings: Partial<TestSettings>, workNs: number): SimulatedTest {
  return simulatedTest(settings, { serviceNs: () => workNs, blocks: true });
}

// Goal: the search finds the highest rate of a SUT, and ends whatever the SUT does.
// Method: SUTs of known speed under simulated time.
describe('FindPeakPerformance', () => {
  it('finds a rate just below what the SUT can do', async () => {
    const { peakTargetQps, performance } = await busyTest(SEARCH, 1_000_000).run();
    expect(peakTargetQps).toBeGreaterThan(700);
    expect(peakTargetQps).toBeLessThan(1000);
    expect(performance?.summary.validity.performance.isMet).toBe(true);
  });

  it('starts every run from the same seeds, with ids that go on', async () => {
    const test = busyTest(SEARCH, 1_000_000);
    await test.run();
    expect(test.sut.complaints).toEqual([]);
    expect(test.qsl.loads.length).toBe(test.qsl.unloads.length);
    expect(test.sut.calls.filter((call) => call === 'name').length).toBeGreaterThan(5);
  });

  it('ends where the lowest rate misses the bound', async () => {
    const { peakTargetQps, performance, verdicts, logFiles } = await busyTest(
      SEARCH,
      50_000_000,
    ).run();
    expect(peakTargetQps).toBeNull();
    expect(performance).not.toBeNull();
    expect(errorTexts(logFiles.detail)[0]).toContain('Initial lower bound does not satisfy');
    expect(verdicts.longhaul.reasons.map(({ rule }) => rule)).toContain('find-peak');
  });

  it('is refused by name in a scenario without a rate', async () => {
    const test = busyTest({ ...SEARCH, scenario: 'Offline' }, 1000);
    const { performance, verdicts, logFiles } = await test.run();
    expect(performance).toBeNull();
    expect(test.sut.queries).toEqual([]);
    expect(errorTexts(logFiles.detail)[0]).toContain('only supported in Server');
    expect(verdicts.longhaul.isValid).toBe(false);
  });

  it('ends with a SUT that stops answering in the middle', async () => {
    const test = simulatedTest(SEARCH, {
      serviceNs: (sample) => (sample > 400 ? Number.NaN : 1_000_000),
    });
    const { peakTargetQps, performance, verdicts } = await test.run();
    expect(peakTargetQps).toBeNull();
    expect(performance?.endCause).toBe('stall');
    expect(verdicts.loadgen.isValid).toBe(false);
  });

  it.each<[string, Partial<TestSettings>]>([
    ['a step of 0', { serverFindPeakQpsBoundaryStepSize: 0 }],
    ['negative decimals', { serverFindPeakQpsDecimalsOfPrecision: -1 }],
  ])('refuses %s, with which LoadGen never ends', async (_case, wrong) => {
    await expect(busyTest({ ...SEARCH, ...wrong }, 1000).run()).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
    });
  });
});
