import { describe, expect, it } from 'vitest';
import type { PerformanceOutcome } from '../../../../../loadgen-node/loadgen/engine/test-outcome.ts';
import type { GeneratorHealth } from '../../../../../loadgen-node/loadgen/results/generator-health.ts';
import { latencySplit } from '../../../../../loadgen-node/observe/split/latency-split.ts';
import { timeLines } from '../../../../../loadgen-node/present/text/print-split.ts';
import { partRecords } from '../../../../scenes/simulated-run/records.ts';
import { simulatedTest } from '../../../../scenes/simulated-run/simulated-run.ts';
import { generatorHealth, monitorThatTells } from '../../../../scenes/simulated-run/summary.ts';

// Goal: the screen says where the time went and why not more, and of LoadGen only what matters.
// Method: a run under simulated time for the outcome, parts by hand.

const CEILING = {
  measuredAt: '2026-03-01T10:00:00.000Z',
  measuredOn: 'this machine',
  inProcessQps: 1e6,
  loopbackQps: 20_000,
};
const SPLIT = latencySplit(
  partRecords([
    ...Array.from({ length: 99 }, () => ({ compute: 9e6, network: 1e6, reply: 1_000 })),
    { compute: 9e6, network: 1e6, queue: 40e6 },
  ]),
);

async function performance(
  health: Partial<GeneratorHealth>,
  scenario: 'SingleStream' | 'Offline' | 'Server' = 'SingleStream',
): Promise<PerformanceOutcome> {
  const settings = { scenario, minDurationMs: 0, minQueryCount: 100 };
  const test = simulatedTest(settings, { serviceNs: () => 10e6 });
  const { performance: outcome } = await test.run({
    observer: { generatorMonitor: monitorThatTells(generatorHealth(health)) },
  });
  if (outcome === null) throw new Error('no performance phase');
  return outcome;
}

describe('timeLines', () => {
  it('shows the parts that matter, largest first, and the reason', async () => {
    const outcome = { performance: await performance({}) };
    expect(timeLines({ summary: { split: SPLIT, ceiling: null }, outcome })).toEqual([
      ['Time', 'typical       10 ms: compute 9 ms, network 1 ms'],
      ['', 'slowest 1 %   50 ms: queue 40 ms, compute 9 ms'],
      ['Why', 'Typical samples took 10 ms, the slowest 1 % 50 ms, 40 ms more.'],
      [
        '',
        'Of that, queue (waiting in the SUT for a batch to take it) grows by 40 ms, from 0 ns to 40 ms.',
      ],
      ['', expect.stringMatching(/^The SUT is near its limit, .* or a lower rate\.$/)],
    ]);
  });

  it('puts a starved LoadGen before what is said of the SUT', async () => {
    const outcome = { performance: await performance({ cpuShare: 0.5, cpuWaitShare: 0.5 }) };
    const [, , why, cause, rest] = timeLines({ summary: { split: SPLIT, ceiling: null }, outcome });
    expect(why?.[0]).toBe('Why');
    expect(why?.[1]).toBe(
      'LoadGen was too slow for this load (generator-bound): LoadGen could run for only 50 % of the time',
    );
    expect(cause).toEqual(['', expect.stringMatching(/^other work/)]);
    expect(rest).toEqual(['', expect.stringMatching(/^Typical samples took 10 ms/)]);
  });

  it('says of a LoadGen that was late for moments what the verdict says of it', async () => {
    const bound = await performance({ cpuShare: 0.5, cpuWaitShare: 0.5 });
    const dispatchLag = { ...bound.dispatchLag, maxNs: 1e9, meanNs: 1e5 };
    const outcome = { performance: { ...bound, dispatchLag } };
    const [[, why] = []] = timeLines({ summary: { split: null, ceiling: null }, outcome });
    expect(why).toMatch(/^LoadGen was late for moments \(generator-bound\): /);
  });

  it('tells of LoadGen what did not decide, and of back-pressure', async () => {
    const backPressure = { socketNs: 2e9, creditNs: 5e9 };
    const outcome = { performance: await performance({ stealShare: 0.2, backPressure }) };
    const lines = timeLines({ summary: { split: null, ceiling: null }, outcome });
    expect(lines).toEqual([
      [
        'LoadGen',
        "not the limit, but the hypervisor took 20 % of the machine's CPU time (steal); queries waited for a socket to take more in 20 % of the time; " +
          'queries waited for credit of the SUT in 50 % of the time',
      ],
    ]);
  });

  it.each([
    ['nothing', 'Server', 0],
    ['that it could carry no more', 'SingleStream', 1],
  ] as const)('says %s of a full core in %s', async (_what, scenario, count) => {
    const outcome = { performance: await performance({ cpuShare: 0.99 }, scenario) };
    const lines = timeLines({ summary: { split: null, ceiling: null }, outcome });
    expect(lines).toHaveLength(count);
  });

  it('shows the load as a share of the ceiling, but in Offline', async () => {
    const summary = { split: null, ceiling: CEILING };
    const [line] = timeLines({ summary, outcome: { performance: await performance({}) } });
    expect(line?.[0]).toBe('Ceiling');
    expect(line?.[1]).toMatch(
      /^100 queries\/s are 0\.5 % of what LoadGen carries .*20000 over loopback.*2026-03-01/,
    );
    const offline = { performance: await performance({}, 'Offline') };
    expect(timeLines({ summary, outcome: offline })).toEqual([]);
  });

  it('shows no parts of the few samples whose times can be', async () => {
    const told = { compute: 20e6, network: -19e6 };
    const rows = Array.from({ length: 100 }, (_, i) => (i < 98 ? told : { compute: 20e6 }));
    const split = latencySplit(partRecords(rows));
    const outcome = { performance: await performance({}) };
    for (const protocol of ['longhaul', 'oip'] as const) {
      expect(timeLines({ summary: { split, ceiling: null, protocol }, outcome })).toEqual([
        [
          'Why',
          'Where the time went is not known: of 98 of 100 samples, SUT nodes reported more time than passed.',
        ],
      ]);
    }
  });

  it('says why there are no parts over the Open Inference Protocol', async () => {
    const outcome = { performance: await performance({}) };
    const summary = { split: null, ceiling: null, protocol: 'oip' } as const;
    expect(timeLines({ summary, outcome })).toEqual([
      ['Time', 'in no parts: the protocol reports no times of single queries'],
    ]);
  });

  it('says nothing without a performance phase', () => {
    const summary = { split: null, ceiling: CEILING };
    expect(timeLines({ summary, outcome: { performance: null } })).toEqual([]);
  });
});
