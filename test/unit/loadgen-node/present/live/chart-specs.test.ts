import { describe, expect, it } from 'vitest';
import { CHARTS, chartColumns } from '../../../../../loadgen-node/present/live/chart-specs.ts';
import { liveSecond } from '../../../../support/runs/live-snapshots.ts';

// Goal: what the page draws is what was measured, and nothing where nothing was. Method: the columns of its charts.

const options = { originS: 0, isLog: false, isStacked: false };

describe('chartColumns', () => {
  const series = [
    { label: 'a', color: 0, value: (point: { atS: number }) => point.atS },
    { label: 'b', color: 1, value: () => 10 },
  ];

  it('has nothing without points', () => {
    expect(chartColumns([], series, options)).toEqual([[], [], []]);
  });

  it('stacks each series on those before it', () => {
    const points = [liveSecond(1), liveSecond(2)];
    const columns = chartColumns(points, series, { ...options, isStacked: true });
    expect(columns).toEqual([
      [1, 2],
      [1, 2],
      [11, 12],
    ]);
  });

  it('leaves a gap where nothing was measured for a while', () => {
    const columns = chartColumns([liveSecond(1), liveSecond(11)], series, options);
    expect(columns).toEqual([
      [1, 6, 11],
      [1, null, 11],
      [10, null, 10],
    ]);
  });

  it.each([
    ['what is no number', Number.NaN],
    ['no value', undefined],
    ['0 on a logarithmic axis', 0],
  ])('draws nothing for %s', (_case, value) => {
    const one = [{ label: 'a', color: 0, value: () => value }];
    expect(chartColumns([liveSecond(1)], one, { ...options, isLog: true })).toEqual([[1], [null]]);
  });

  it('draws a line for each node, 64 at most', () => {
    const outstanding = CHARTS.find(({ title }) => title === 'Outstanding samples');
    const names = Array.from({ length: 70 }, (_, i) => `sut-${i}`);
    expect(outstanding?.series(names)).toHaveLength(65);
    const point = liveSecond(1, { nodeCount: 3 });
    const values = outstanding?.series(['a', 'b', 'c']).map(({ value }) => value(point));
    expect(values).toEqual([point.outstanding, ...point.nodes.outstanding]);
  });

  it('stacks the parts of the latency up to the latency', () => {
    const split = CHARTS.find(({ isStacked }) => isStacked);
    const point = liveSecond(1);
    const columns = chartColumns([point], split?.series([]) ?? [], { ...options, isStacked: true });
    expect(columns.at(-1)?.[0]).toBeCloseTo((point.latency?.p50Ns ?? 0) / 1e6);
  });
});
