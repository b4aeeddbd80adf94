import { describe, expect, it } from 'vitest';
import {
  ceilingFindings,
  type PlannedLoad,
  planFindings,
  plannedLoad,
} from '../../../../../loadgen-node/operate/doctor/plan-findings.ts';
import { testCacheFolder } from '../../../../scenes/host/folders.ts';
import { type LinkChange, madeUpLink } from '../../../../scenes/host/measured-link.ts';
import { SILENT_HOST } from '../../../../scenes/simulated-run/simulated-run.ts';

// Goal: a load that link or generator cannot carry is an error before the run, with figures that a
// reader can check. Method: made-up plans against a link of 9.2 Gbit/s and a ceiling of 80,000
// queries/s.

const PLAN: PlannedLoad = {
  benchmark: 'resnet50',
  scenario: 'Server',
  targetQps: 1000,
  samplesPerQuery: 1,
  encodingName: 'raw',
  dataType: 'uint8',
  sampleBytes: { mean: 150_528, largest: 150_528, count: 32 },
  whyNoData: null,
  latencyBoundNs: 15e6,
  boundsTokens: false,
  nodeCount: 1,
};

async function states(plan: Partial<PlannedLoad>, change: LinkChange = {}) {
  const findings = planFindings({ ...PLAN, ...plan }, [await madeUpLink(change)]);
  return Object.fromEntries(findings.map(({ id, state }) => [id, state]));
}

describe('a planned load', () => {
  it('that fits is ok, with the figures of the rules', async () => {
    const findings = planFindings(PLAN, [await madeUpLink()]);
    expect(findings.every(({ state }) => state === 'ok')).toBe(true);
    const rule = findings.find(({ id }) => id === 'rule-bandwidth');
    expect(rule?.seen).toContain('3*224*224*dtype_size x 1,000/s = 1.2 Gbit/s');
    expect(rule?.figures?.['requiredBitsPerSecond']).toBe(150_528 * 8 * 1000);
  });

  it.each<[string, Partial<PlannedLoad>, LinkChange, object]>([
    [
      'more than was measured',
      { targetQps: 8000 },
      {},
      { 'planned-bandwidth': 'error', 'rule-bandwidth': 'ok' },
    ],
    [
      'more than the card',
      { targetQps: 9000 },
      {},
      { 'planned-bandwidth': 'error', 'rule-bandwidth': 'error' },
    ],
    ['near what was measured', { targetQps: 6000 }, {}, { 'planned-bandwidth': 'warning' }],
    [
      'slow on its way',
      {},
      { toSut: { bitsPerSecond: 100e6 } },
      { 'wire-time': 'warning', 'planned-bandwidth': 'error' },
    ],
    [
      'without data',
      { sampleBytes: null, whyNoData: 'no folder' },
      {},
      { 'sample-bytes': 'not checkable', 'planned-bandwidth': 'not checkable' },
    ],
    [
      'without a rate',
      { targetQps: null, scenario: 'SingleStream' },
      {},
      { 'planned-bandwidth': 'not checkable', 'wire-time': 'ok' },
    ],
    [
      'on a link that was not measured',
      {},
      { toSut: { bitsPerSecond: null } },
      { 'planned-bandwidth': 'ok' },
    ],
    [
      'on a link of which nothing is known',
      {},
      { toSut: { bitsPerSecond: null }, card: { speedMbps: null }, sutCard: null },
      { 'planned-bandwidth': 'not checkable', 'rule-bandwidth': 'not checkable' },
    ],
  ])('%s', async (_case, plan, change, expected) => {
    expect(
      await states(
        {
          latencyBoundNs: null,
          ...(_case.startsWith('slow') && { latencyBoundNs: 15e6 }),
          ...plan,
        },
        change,
      ),
    ).toMatchObject(expected);
  });

  it('is shared by several nodes', async () => {
    const link = await madeUpLink();
    const findings = planFindings({ ...PLAN, nodeCount: 2 }, [link, link]);
    const load = findings.filter(({ id }) => id === 'planned-bandwidth');
    expect(load).toHaveLength(2);
    expect(load[0]?.seen).toContain('its part of 2');
    expect(load[0]?.figures?.['requiredBitsPerSecond']).toBeCloseTo(
      (150_528 * 8 * 1000 * 1.06) / 2,
    );
  });
});

describe('a benchmark of tokens', () => {
  const flags = { benchmark: 'llama2-70b', scenario: 'Server', targetQps: '2' };
  const standin = { ...flags, dataDir: 'standin', cacheDir: testCacheFolder() };

  it('is held to its bound on the first token, and counts the bytes of its ids', async () => {
    const plan = await plannedLoad(standin, 1, SILENT_HOST);
    const findings = planFindings(plan, [await madeUpLink()]);
    const seen = Object.fromEntries(findings.map((one) => [one.id, one.seen]));
    expect(seen['wire-time']).toMatch(/% of the bound of TTFT 2 s$/);
    expect(seen['rule-bandwidth']).toContain(
      '1024*dtype_size x 2/s = 65.5 kbit/s into the SUT (int32)',
    );
    expect(findings.map(({ state }) => state)).toEqual(findings.map(() => 'ok'));
  });

  it('bears the name by which it was asked for, and has the bounds and the bytes of that', async () => {
    const asked = { ...standin, benchmark: 'llama2-70b-interactive' };
    const plan = await plannedLoad(asked, 1, SILENT_HOST);
    expect(plan.benchmark).toBe('llama2-70b-interactive');
    const findings = planFindings(plan, [await madeUpLink()]);
    const seen = Object.fromEntries(findings.map((one) => [one.id, one.seen]));
    expect(seen['wire-time']).toMatch(/% of the bound of TTFT 450 ms$/);
    expect(seen['rule-bandwidth']).toContain('1024*dtype_size x 2/s');
  });

  it('is held to the bounds of the planned run', async () => {
    const asked = { benchmark: 'delay', sampleBytes: '150528', targetQps: '2' };
    const plan = await plannedLoad({ ...asked, ttft: '1ms', tpot: '2ms' }, 1, SILENT_HOST);
    const link = await madeUpLink({ toSut: { bitsPerSecond: 1e9 } });
    const way = planFindings(plan, [link]).find(({ id }) => id === 'wire-time');
    expect(way).toMatchObject({ state: 'warning', seen: expect.stringMatching(/of TTFT 1 ms$/) });
    await expect(plannedLoad({ ...asked, ttft: '1ms' }, 1, SILENT_HOST)).rejects.toThrow(
      '--ttft 1 ms needs --tpot as well',
    );
  });
});

describe('the generator ceiling', () => {
  const ceiling = {
    measuredAt: '2026-01-31T12:00:00.000Z',
    measuredOn: 'this machine',
    inProcessQps: 2e6,
    loopbackQps: 80_000,
  };

  it.each([
    ['far above the load', 1000, 'ok'],
    ['near the load', 50_000, 'warning'],
    ['below the load', 100_000, 'error'],
  ])('that is %s', (_case, targetQps, state) => {
    const [figure, share] = ceilingFindings(ceiling, { ...PLAN, targetQps });
    expect(figure?.seen).toContain('80,000 queries/s');
    expect(share).toMatchObject({ id: 'ceiling-share', state });
  });

  it('stands for itself without a rate of queries', () => {
    expect(ceilingFindings(ceiling, null)).toHaveLength(1);
    expect(ceilingFindings(ceiling, { ...PLAN, scenario: 'Offline' })).toHaveLength(1);
  });

  it('is called too low when others took the CPUs, and unknown when it could not be measured', () => {
    const disturbed = ceilingFindings({ ...ceiling, isDisturbed: true }, null);
    expect(disturbed[0]).toMatchObject({
      state: 'warning',
      seen: expect.stringMatching(
        /\(2026-01-31\), while other processes took CPU time: it can do more$/,
      ),
    });
    const none = ceilingFindings(null, PLAN, 'no port');
    expect(none).toEqual([expect.objectContaining({ state: 'not checkable', seen: 'no port' })]);
  });
});
