import { describe, expect, it } from 'vitest';
import { wholeLane } from '../../../../../loadgen-node/loadgen/settings/lanes.ts';
import { namedBounds } from '../../../../../loadgen-node/loadgen/settings/query-bounds.ts';
import { ExactDistribution } from '../../../../../loadgen-node/observe/figures/exact-distribution.ts';
import {
  byHost,
  byLane,
  byNode,
  figuresBy,
  figuresOf,
  type RowGroups,
} from '../../../../../loadgen-node/observe/figures/figures-of-records.ts';
import { LatencyHistogram } from '../../../../../loadgen-node/observe/figures/latency-histogram.ts';
import type { SampleRecords } from '../../../../../loadgen-node/observe/records/sample-records.ts';
import { partRecords, queueRecords } from '../../../../scenes/simulated-run/records.ts';

const TOKEN_BOUNDS = namedBounds({ boundNs: 12e6, tpotNs: 1e6, percentile: 0.99 });
const exact = () => new ExactDistribution();

const lane = (name: string, first: number, end: number) => {
  return { name, samples: { first, end }, share: 0.5, bounds: [] };
};
const LANES = [lane('short', 0, 300), lane('long', 300, 1024)];

/** Host by turns of queries, as k, k + 2, ... */
const HOSTS = (records: SampleRecords): RowGroups =>
  byHost({
    ...records,
    hosts: { names: ['a', 'b'], ofRow: Uint16Array.from(records.query, (query) => query % 2) },
  });
const GROUPS: readonly (readonly [string, (records: SampleRecords) => RowGroups])[] = [
  ['host', HOSTS],
  ['lane', (records) => byLane(records, LANES)],
  ['node', (records) => byNode(records, ['sut-a', 'sut-b', 'sut-c'])],
  [
    'row',
    ({ rowCount }) => ({
      groups: [{ name: 'odd' }, { name: 'even' }],
      of: (row) => (rowCount - row) % 2,
    }),
  ],
];

// Goal: figures of groups, added up, are those of all rows, to the bit, also where a query has
// samples in several groups. Method: records of each scenario, in every kind of group, beside the
// figures of all rows at once.
describe('figures by group', () => {
  const QUEUE = { rowCount: 3000, nodes: 3, seed: 11 };
  it.each(
    GROUPS.flatMap(([group, of]) =>
      (
        [
          ['Server', { ...QUEUE, hasTokens: true }],
          ['SingleStream', QUEUE],
          ['MultiStream', { ...QUEUE, samplesPerQuery: 8 }],
          ['Offline', { ...QUEUE, samplesPerQuery: 3000 }],
        ] as const
      ).map(([scenario, queue]) => [group, scenario, queue, of] as const),
    ),
  )('by %s, added up, are those of %s', (_group, scenario, queue, groupOf) => {
    const records = queueRecords(queue);
    const bounds = scenario === 'Server' ? TOKEN_BOUNDS : [];
    const { groups: named, of } = groupOf(records);
    const bounded = { groups: named.map((group) => ({ ...group, bounds })), of };
    const groups = figuresBy(records, bounded, exact);
    // Closing them changes nothing.
    for (const figures of groups) figures.close(scenario);
    const sum = groups.reduce((all, one) => all.add(one));
    expect(sum.close(scenario)).toEqual(
      figuresOf(records, { scenario, lanes: [wholeLane(bounds)] }),
    );
  });

  it('count each sample once, and those of no group in none', () => {
    const records = queueRecords({ ...QUEUE, lostShare: 0.1 });
    const figures = figuresBy(records, byNode(records, ['sut-a', 'sut-b']), () => {
      return new LatencyHistogram();
    });
    const { node } = records;
    expect(figures.map(({ sampleLatency: { count } }) => count)).toEqual([
      node.filter((one) => one === 0).length,
      node.filter((one) => one === 1).length,
    ]);
  });

  it('have a query once whose last sample comes in another group, and as lost if it never comes', () => {
    // Two queries of two samples on two nodes; the second of the last is lost.
    const records = partRecords([
      { query: 0, node: 0, dispatch: 5, scheduledNs: 0 },
      { query: 0, node: 1, dispatch: 5, scheduledNs: 0, compute: 20 },
      { query: 1, node: 0, dispatch: 7, scheduledNs: 100, compute: 30 },
      { query: 1, node: 1, dispatch: 7, scheduledNs: 100, fate: 'lost' },
    ]);
    const [first, second] = figuresBy(records, byNode(records, ['a', 'b']), exact);
    const close = (figures: typeof first) => figures?.close('MultiStream');
    expect(close(first)).toMatchObject({ queries: 2, samples: 2, lost: 0, min: 5, max: 37 });
    expect(close(second)).toMatchObject({ queries: 2, samples: 2, lost: 1, min: 25, max: 25 });
    if (second !== undefined) first?.add(second);
    const sum = close(first);
    expect(sum).toMatchObject({ queries: 2, samples: 4, lost: 1, min: 25, max: 25, lag_max: 7 });
    expect(sum).toEqual(figuresOf(records, { scenario: 'MultiStream', lanes: LANES }));
  });

  it('have counts for early stopping that add up', () => {
    const records = queueRecords(QUEUE);
    const [host, other] = figuresBy(records, HOSTS(records), exact);
    const [all] = figuresBy(records, byHost(records), exact);
    const counts = [host, other, all].map((figures) => [
      figures?.lag.count ?? 0,
      figures?.sampleLatency.countAbove(15e6) ?? 0,
    ]);
    const [ofHost = [], ofOther = [], ofAll = []] = counts;
    expect(ofAll[1]).toBeGreaterThan(10);
    expect(ofHost.map((count, i) => count + (ofOther[i] ?? 0))).toEqual(ofAll);
  });
});
