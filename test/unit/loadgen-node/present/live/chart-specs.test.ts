import { describe, expect, it } from 'vitest';
import {
  CHARTS,
  type ChartSpec,
  chartLines,
  drawChart,
  stacked,
  valueText,
} from '../../../../../loadgen-node/present/live/chart-specs.ts';
import { liveSecond } from '../../../../scenes/simulated-run/summary.ts';

// Goal: what the page draws is what was measured, and nothing where nothing was. Method: the lines
// of its charts.

const SPEC: ChartSpec = {
  title: 'a',
  note: 'b',
  kind: 'rate',
  series: () => [
    ['a', 'c1', ({ atS }) => atS],
    ['b', 'c2', () => 10],
  ],
};

const one = (kind: ChartSpec['kind'], value: number | undefined): ChartSpec => ({
  ...SPEC,
  kind,
  series: () => [['a', 'c1', () => value]],
});

const valuesOf = (lines: ReturnType<typeof chartLines>) => lines.map(({ points }) => points);

describe('chartLines', () => {
  it('has nothing without points', () => {
    expect(valuesOf(chartLines(SPEC, [], [], 0))).toEqual([[], []]);
  });

  it('stacks each line on those before it', () => {
    const lines = chartLines(SPEC, [liveSecond(1), liveSecond(2)], [], 0);
    expect(valuesOf(stacked(lines) as typeof lines)).toEqual([
      [
        [1, 1],
        [2, 2],
      ],
      [
        [1, 11],
        [2, 12],
      ],
    ]);
  });

  it('leaves a gap where nothing was measured for a while', () => {
    const lines = chartLines(SPEC, [liveSecond(1), liveSecond(11)], [], 0);
    expect(valuesOf(lines)[1]).toEqual([
      [1, 10],
      [6, Number.NaN],
      [11, 10],
    ]);
  });

  it.each([
    ['what is no number', Number.NaN],
    ['no value', undefined],
    ['0 on a logarithmic axis', 0],
  ])('draws nothing for %s', (_case, value) => {
    const spec = one('log-time', value);
    const lines = chartLines(spec, [liveSecond(1)], [], 0);
    expect(valuesOf(lines)).toEqual([[[1, Number.NaN]]]);
    expect(drawChart(spec, lines).drawing.text).not.toMatch(/series|NaN/);
  });

  it('draws a line for each node, 64 at most', () => {
    const outstanding = CHARTS.find(({ title }) => title === 'Outstanding samples');
    const names = Array.from({ length: 70 }, (_, i) => `sut-${i}`);
    expect(outstanding?.series(names)).toHaveLength(65);
    const point = liveSecond(1, { nodeCount: 3 });
    const values = outstanding?.series(['a', 'b', 'c']).map(([, , value]) => value(point));
    expect(values).toEqual([point.outstanding, ...point.nodes.outstanding]);
  });

  it('stacks the parts of the latency up to the latency', () => {
    const split = CHARTS.find(({ isStacked }) => isStacked) as ChartSpec;
    const point = liveSecond(1);
    const lines = stacked(chartLines(split, [point], [], 0));
    expect(lines.at(-1)?.points[0]?.[1]).toBeCloseTo(point.latency?.p50Ns ?? 0);
  });
});

it('leaves out what a node does not tell of its machine', () => {
  const charts = CHARTS.filter(({ title }) => title === 'CPU' || title === 'Memory');
  expect(charts).toHaveLength(2);
  const second = liveSecond(1);
  const silent = {
    ...second,
    nodes: { ...second.nodes, usage: [second.nodes.usage[0] ?? null, null] },
  };
  for (const spec of charts) {
    const names = (points: readonly (typeof second)[]) =>
      chartLines(spec, points, ['a', 'b'], 0).map(({ name }) => name);
    expect(names([second])).toEqual(['LoadGen', 'a', 'b']);
    expect(names([silent])).toEqual(['LoadGen', 'a']);
    expect(names([{ ...silent, loadgen: null }])).toEqual(['a']);
  }
  expect(valueText(charts[1] as ChartSpec, 300 * 2 ** 20)).toBe('300 MiB');
  expect(valueText(charts[0] as ChartSpec, 1.234)).toBe('1.23');
});

describe('drawChart', () => {
  it('leaves out what no node tells: no line, and the page hides the chart', () => {
    const empty = { ...liveSecond(1), split: null, lag: null };
    const shown = CHARTS.filter((spec) => chartLines(spec, [empty], ['sut-a'], 0).length > 0);
    const hidden = CHARTS.filter((spec) => !shown.includes(spec)).map(({ title }) => title);
    expect(hidden).toEqual(['Where the time goes', 'Dispatch lag']);
  });

  it.each(CHARTS)('$title has axes with and without points', (spec) => {
    for (const seconds of [[], [liveSecond(1)], [1, 2, 90].map((at) => liveSecond(at))]) {
      const { drawing } = drawChart(spec, chartLines(spec, seconds, ['a', 'b'], 0));
      expect(drawing.text).toMatch(/class="axis/);
      expect(drawing.text).not.toMatch(/NaN|undefined|Infinity/);
    }
  });

  it('marks minutes and hours at round times, and counts at whole numbers', () => {
    const labels = (spec: ChartSpec, lastS: number): string[] => {
      const lines = chartLines(spec, [liveSecond(1), liveSecond(lastS)], [], 0);
      const { text } = drawChart(spec, lines).drawing;
      return [...text.matchAll(/<text class="axis \w+"[^>]*>([^<]+)/g)].map(
        ([, label = '']) => label,
      );
    };
    expect(labels(one('count', 2), 90)).toEqual([
      ...['0', '1', '2'],
      ...['0:15', '0:30', '0:45', '1:00', '1:15', '1:30'],
    ]);
    expect(labels(one('count', 2), 7200).slice(3)).toEqual([
      ...['30:00', '1:00:00', '1:30:00', '2:00:00'],
    ]);
  });
});
