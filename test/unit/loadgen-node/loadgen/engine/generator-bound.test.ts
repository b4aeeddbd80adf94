import { describe, expect, it } from 'vitest';
import type { GeneratorHealth } from '../../../../../loadgen-node/loadgen/results/generator-health.ts';
import {
  type LoadgenBehaviour,
  loadgenOf,
} from '../../../../../loadgen-node/loadgen/settings/loadgen-behaviour.ts';
import type { TestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { simulatedTest } from '../../../../scenes/simulated-run/simulated-run.ts';
import { generatorHealth, monitorThatTells } from '../../../../scenes/simulated-run/summary.ts';

// Goal: a run whose LoadGen was starved is generator-bound, says what starved it, and is INVALID;
// one whose SUT is slow is not, however slow. Method: simulated time; other work on LoadGen's
// thread is time that passes inside a call of its own.

const SERVER: Partial<TestSettings> = {
  scenario: 'Server',
  serverTargetQps: 100,
  serverTargetLatencyNs: 15e6,
  minDurationMs: 2_000,
  minQueryCount: 1,
};
const NO_CORE = { cpuShare: 0.5, cpuWaitShare: 0.5 };

/** Runs with work of so many ms on LoadGen's thread every 20 ms. */
async function run(
  settings: Partial<TestSettings>,
  given: {
    serviceNs: number;
    otherWorkMs?: number;
    health?: Partial<GeneratorHealth>;
    loadgen?: LoadgenBehaviour;
    /** Times of the tokens behind the first, per answer. */
    tokens?: { readonly count: number; readonly eachNs: number };
  },
) {
  const { tokens } = given;
  const test = simulatedTest(settings, {
    serviceNs: () => given.serviceNs,
    ...(tokens !== undefined && {
      answer: (sink, id, atNs) => {
        const doneNs = atNs + tokens.count * tokens.eachNs;
        sink.firstToken(id, new Uint8Array(0), atNs);
        clock.callAt(doneNs, () => sink.complete(id, new Uint8Array(0), tokens.count + 1, doneNs));
      },
    }),
  });
  const { clock } = test;
  let left = given.otherWorkMs === undefined ? 0 : 200;
  const work = (): void => {
    clock.spend((given.otherWorkMs ?? 0) * 1e6);
    left -= 1;
    if (left > 0) clock.callAt(clock.nowNs() + 20e6, work);
  };
  if (left > 0) clock.callAt(clock.nowNs() + 20e6, work);
  const health = generatorHealth(given.health);
  const loadgen = given.loadgen ?? loadgenOf('v4.1');
  const outcome = await test.run({
    observer: { generatorMonitor: monitorThatTells(health) },
    loadgen,
  });
  const told = outcome.verdicts.longhaul.reasons;
  return { performance: outcome.performance, reasons: told.map(({ rule }) => rule), told, health };
}

describe('a run of Server', () => {
  it('is generator-bound when other work holds the thread, and names it', async () => {
    const { performance, reasons, told, health } = await run(SERVER, {
      serviceNs: 1e6,
      otherWorkMs: 12,
      health: NO_CORE,
    });
    expect(reasons[0]).toBe('generator-bound');
    expect(told[0]).toMatchObject({
      needed: 'p99 of the dispatch lag of 1.5 ms or less',
      seen: expect.stringMatching(/^\d+(\.\d+)? ms$/),
    });
    expect(performance?.generatorBoundReason).toMatch(
      /went out late: .*more than 1\.5 ms \(10 % of the latency bound of 15 ms\); other work held its core: .*50 % of the time/,
    );
    expect(performance?.generatorBoundReason).not.toContain('SUT is too slow');
    expect(performance?.health).toEqual(health);
  });

  it('says nothing of the SUT, whose answers a late LoadGen reads late', async () => {
    const late = { serviceNs: 30e6, otherWorkMs: 12, health: NO_CORE };
    const { performance, reasons } = await run({ ...SERVER, minDurationMs: 5_000 }, late);
    expect(performance?.generatorBoundReason).not.toContain('SUT');
    expect(performance?.isSutSlow).toBe(false);
    expect(reasons).toEqual(['generator-bound']);
  });

  it('comes behind the SUT where its lag is a small part of the latencies', async () => {
    const { performance, reasons } = await run(
      { ...SERVER, minDurationMs: 5_000 },
      { serviceNs: 300e6, otherWorkMs: 12, health: NO_CORE },
    );
    expect(performance?.isSutSlow).toBe(true);
    expect(reasons).toEqual(['latency-bound', 'generator-bound']);
  });

  it.each([14e6, 16e6, 5e9])(
    'is not generator-bound where the SUT takes %d ns',
    async (serviceNs) => {
      const { performance, reasons } = await run(SERVER, { serviceNs });
      expect(performance?.isGeneratorBound).toBe(false);
      expect(reasons).not.toContain('generator-bound');
    },
  );
});

describe('a run of Server with bounds on tokens', () => {
  const TOKENS: Partial<TestSettings> = {
    ...SERVER,
    useTokenLatencies: true,
    serverTtftLatencyNs: 200e6,
    serverTpotLatencyNs: 5e6,
  };
  const tokens = { count: 4, eachNs: 2e6 };

  it('is generator-bound where LoadGen alone made first tokens late', async () => {
    // Its work makes queries late by up to 12 ms, and as much later the reading of first tokens.
    const given = { serviceNs: 186e6, otherWorkMs: 12, tokens };
    const settings = { ...TOKENS, serverTargetLatencyPercentile: 0.9, minDurationMs: 4_000 };
    const { performance, reasons, told } = await run(settings, given);
    expect(reasons).toContain('generator-bound');
    expect(told.find(({ rule }) => rule === 'generator-bound')).toMatchObject({
      needed: expect.stringMatching(/^19\d(\.\d+)? ms from the issue$/),
      seen: expect.stringMatching(/^20\d(\.\d+)? ms from the schedule$/),
    });
    expect(performance?.generatorBoundReason).toMatch(
      /^the verdict would flip if TTFT were measured from the issue instead of the schedule \(19\d.* ms instead of 20\d.* ms/,
    );
  });

  it('names the bound that its lag takes too much of', async () => {
    const late = { ...TOKENS, serverTtftLatencyNs: 100e6 };
    const { performance } = await run(late, { serviceNs: 150e6, otherWorkMs: 15, tokens });
    expect(performance?.generatorBoundReason).toMatch(/\(10 % of the TTFT bound of 100 ms\)/);
  });

  it('is not generator-bound where the SUT is slow', async () => {
    const { performance } = await run(TOKENS, { serviceNs: 300e6, tokens });
    expect(performance?.isGeneratorBound).toBe(false);
  });
});

describe('a run without a schedule', () => {
  const settings = (scenario: TestSettings['scenario']): Partial<TestSettings> => ({
    scenario,
    minDurationMs: 0,
    minQueryCount: 100,
  });

  it.each(['SingleStream', 'MultiStream', 'Offline'] as const)(
    'of %s is generator-bound where LoadGen had no core, and else not',
    async (scenario) => {
      const starved = await run(settings(scenario), { serviceNs: 5e6, health: NO_CORE });
      expect(starved.reasons).toContain('generator-bound');
      expect(starved.performance?.generatorBoundReason).toMatch(
        /for only 50 % of the time; other work/,
      );
      const slow = await run(settings(scenario), { serviceNs: 900e6 });
      expect(slow.performance?.isGeneratorBound).toBe(false);
    },
  );

  it('but with fixed intervals is generator-bound where LoadGen misses them', async () => {
    const v05: Partial<TestSettings> = {
      ...settings('MultiStream'),
      multiStreamExpectedLatencyNs: 50e6,
    };
    const loadgen = loadgenOf('v0.5');
    const late = await run(v05, { serviceNs: 1e6, otherWorkMs: 18, loadgen });
    expect(late.performance?.generatorBoundReason).toMatch(
      /more than 5 ms \(10 % of the arrival interval of 50 ms\)/,
    );
    const slow = await run(v05, { serviceNs: 120e6, loadgen });
    expect(slow.performance?.isGeneratorBound).toBe(false);
  });
});
