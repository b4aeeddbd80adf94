import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wholeLane } from '../../../../../loadgen-node/loadgen/settings/lanes.ts';
import { namedBounds } from '../../../../../loadgen-node/loadgen/settings/query-bounds.ts';
import type { TestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import type { RunFigures } from '../../../../../loadgen-node/observe/figures/figure-names.ts';
import { figuresOfOutcome } from '../../../../../loadgen-node/observe/figures/figures-of-outcome.ts';
import { figuresOf } from '../../../../../loadgen-node/observe/figures/figures-of-records.ts';
import { simulatedTest } from '../../../../scenes/simulated-run/simulated-run.ts';
import type { SutOptions } from '../../../../scenes/simulated-run/simulated-sut.ts';

const BOUND_NS = 4e6;
const BOUND = namedBounds({ boundNs: BOUND_NS, percentile: 0.99 });
const TOKEN_BOUNDS = namedBounds({ boundNs: 5e6, tpotNs: 0, percentile: 0.99 });

interface RandomRun {
  readonly settings: Partial<TestSettings>;
  /** Share of the samples that the SUT reports as failed. */
  readonly lostShare: number;
  readonly extendsUntilDecided: boolean;
  readonly seed: number;
}

const settings = fc.record({
  scenario: fc.constantFrom('Server', 'SingleStream', 'MultiStream', 'Offline'),
  useTokenLatencies: fc.boolean(),
  minDurationMs: fc.constantFrom(0, 500),
  maxDurationMs: fc.constantFrom(0, 0, 300),
  minQueryCount: fc.constantFrom(1, 10, 300),
  maxQueryCount: fc.constantFrom(0, 0, 57),
  multiStreamSamplesPerQuery: fc.constantFrom(1, 2, 8),
  serverNumIssueQueryThreads: fc.constantFrom(1, 1, 3),
  serverCoalesceQueries: fc.boolean(),
});

const randomRun: fc.Arbitrary<RandomRun> = fc.record({
  settings,
  lostShare: fc.constantFrom(0, 0.05, 0.5, 1),
  extendsUntilDecided: fc.boolean(),
  seed: fc.nat(1e6),
});

/** 0 to below 1, of a sample. */
function noise(sample: number, seed: number): number {
  return (Math.imul(sample + 1, 2_654_435_761 + 2 * seed) >>> 0) / 2 ** 32;
}

function sutOf({ lostShare, seed, settings: { scenario } }: RandomRun): Partial<SutOptions> {
  return {
    serviceNs: (sample) => 1e5 + Math.floor(noise(sample, seed) * 6e6),
    answer: (sink, id, atNs) => {
      if (noise(id, seed + 1) < lostShare) {
        sink.fail(id, { code: 'limit', text: 'lost' });
        return;
      }
      if (scenario !== 'Offline' && id % 10 !== 3) sink.firstToken(id, new Uint8Array(0), atNs);
      sink.complete(id, new Uint8Array(0), id % 5, atNs);
    },
  };
}

function measured(run: RandomRun) {
  const settings = {
    ...{ serverTargetQps: 300, serverTargetLatencyNs: BOUND_NS, offlineExpectedQps: 300 },
    ...{ serverTtftLatencyNs: 5e6, serverTpotLatencyNs: 0 },
    ...run.settings,
    ...(run.settings.scenario !== 'Server' && { serverNumIssueQueryThreads: 1 }),
  };
  const { extendsUntilDecided } = run;
  return simulatedTest(settings, sutOf(run)).measure({ extendsUntilDecided });
}

/**
 * MultiStream's rate is added up in another order, and of a run with losses until the last one was
 * known.
 */
function withoutRounding(
  figures: RunFigures,
  { settings: { scenario }, lostShare }: RandomRun,
): RunFigures {
  const { completed_qps: rate, ...others } = figures;
  if (rate === undefined || scenario !== 'MultiStream') return figures;
  return lostShare > 0 ? others : { ...others, completed_qps: Number(rate.toPrecision(12)) };
}

// Goal: a run whose records were lost to the disk has the same figures as one whose records were
// kept. Method: random settings and losses under simulated time; both ways to the figures beside
// one another.
describe('figures of a run without records', () => {
  it('are those that its records would give', { timeout: 30_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(randomRun, async (run) => {
        const { performance, records } = await measured(run);
        const { scenario, tokens } = performance.summary;
        const fromRecords = figuresOf(records, {
          scenario,
          lanes: [wholeLane(scenario === 'Server' ? (tokens === null ? BOUND : TOKEN_BOUNDS) : [])],
          contractErrors: performance.counts.contractErrors,
        });
        expect(withoutRounding(fromRecords, run)).toEqual(
          withoutRounding(figuresOfOutcome(performance), run),
        );
      }),
      { numRuns: 60 },
    );
  });

  it('have the lateness of all parts of a run that went on', async () => {
    // The SUT holds LoadGen's thread up, in the first part longer.
    const { performance, records } = await simulatedTest(
      {
        ...{ scenario: 'Server', serverTargetQps: 300, serverTargetLatencyNs: 60e6 },
        ...{ minDurationMs: 0, minQueryCount: 300 },
      },
      { blocks: true, serviceNs: (id) => (id < 300 && id % 20 === 0 ? 20e6 : 1e6) },
    ).measure({ extendsUntilDecided: true });
    expect(performance.extension?.count).toBeGreaterThan(0);
    const seen = figuresOf(records, {
      scenario: 'Server',
      lanes: [wholeLane(namedBounds({ boundNs: 60e6, percentile: 0.99 }))],
    });
    expect(figuresOfOutcome(performance)).toEqual(seen);
  });
});
