import { describe, expect, it } from 'vitest';
import { latencyTable } from '../../../../../loadgen-node/observe/figures/latency-table.ts';
import { logHistogram } from '../../../../../loadgen-node/present/charts/histogram.ts';
import { drawWindow, hoverData } from '../../../../../loadgen-node/present/charts/hover.ts';
import {
  drawPercentiles,
  quantilePoints,
} from '../../../../../loadgen-node/present/charts/percentile-chart.ts';
import {
  linearAxis,
  logAxis,
  memoryStep,
  tailAxis,
} from '../../../../../loadgen-node/present/charts/scale.ts';
import { html } from '../../../../../loadgen-node/present/html/html.ts';
import { timelineOf } from '../../../../../loadgen-node/present/report/sections/timeline.ts';
import {
  formatMemory,
  formatNumber,
  tickMemory,
  tickTime,
} from '../../../../../loadgen-node/present/text/figure-text.ts';
import { queueRecords } from '../../../../scenes/simulated-run/records.ts';

// Goal: what a chart shows is what was measured. Method: values whose figures are known.

const labels = (axis: { ticks: readonly { label: string }[] }) =>
  axis.ticks.map(({ label }) => label);

describe('axes', () => {
  it.each([
    [350 * 2 ** 20, ['0', '100Mi', '200Mi', '300Mi']],
    [1.6 * 2 ** 30, ['0', '512Mi', '1Gi', '1.5Gi']],
    [9 * 2 ** 30, ['0', '2Gi', '4Gi', '6Gi', '8Gi']],
    [100, ['0', '20', '40', '60', '80', '100']],
  ])('marks %d bytes of memory at round numbers of their unit', (to, marks) => {
    const axis = linearAxis({ from: 0, to, title: '', format: tickMemory, stepOf: memoryStep });
    expect(labels(axis)).toEqual(marks);
  });

  it('writes memory in binary units', () => {
    const bytes = [0, 1000, 1024, 312 * 2 ** 20, 1.5 * 2 ** 30, 2 ** 60, Number.NaN];
    expect(bytes.map(formatMemory)).toEqual([
      ...['0 B', '1,000 B', '1 KiB', '312 MiB', '1.5 GiB', '1,050,000 TiB', '-'],
    ]);
  });

  it('has finer marks for a closer look', () => {
    const axis = linearAxis({ from: 0, to: 970, title: '', format: formatNumber });
    const steps = axis
      .finer?.()
      .map(([first, second]) => (second?.value ?? 0) - (first?.value ?? 0));
    expect(steps).toEqual([100, 50, 20, 10]);
    const log = logAxis({ from: 1e6, to: 1e8, title: '', format: tickTime });
    expect(log.finer?.().map(({ length }) => length)).toEqual([19, 181]);
  });

  it('marks a straight axis at round values', () => {
    const axis = linearAxis({ from: 0, to: 970, title: '', format: formatNumber });
    expect(labels(axis)).toEqual(['0', '200', '400', '600', '800']);
    const around = linearAxis({
      from: -0.5,
      to: 9.5,
      title: '',
      format: (value) => `${Object.is(value, -0)}`,
    });
    expect(labels(around)).not.toContain('true');
    expect([axis.scale(0), axis.scale(485), axis.scale(970), axis.scale(2000)]).toEqual([
      0, 0.5, 1, 1,
    ]);
  });

  it('marks a logarithmic axis more sparsely the longer it is', () => {
    const marksTo = (to: number) => labels(logAxis({ from: 1e6, to, title: '', format: tickTime }));
    expect(marksTo(1e7)).toEqual(['1 ms', '2 ms', '5 ms', '10 ms']);
    expect(marksTo(1e9)).toEqual(['1 ms', '3 ms', '10 ms', '30 ms', '100 ms', '300 ms', '1 s']);
  });

  it('puts the same way between 90, 99 and 99.9 %', () => {
    const { scale, ticks } = tailAxis(1000, '');
    expect([0, 0.9, 0.99, 0.999].map((share) => Number(scale(share).toFixed(6)))).toEqual([
      0, 0.333333, 0.666667, 1,
    ]);
    expect(ticks.at(-1)?.label).toBe('99.9 %');
  });

  it.each([
    [0, 0],
    [5, 5],
  ])('has an axis where all values are one', (from, to) => {
    const axis = linearAxis({ from, to, title: '', format: formatNumber });
    expect(axis.scale(from)).toBeCloseTo(0.5);
  });
});

describe('aggregates', () => {
  it('thins a distribution to some hundred points, and keeps its ends', () => {
    const sorted = Float64Array.from({ length: 300_000 }, (_, i) => i);
    const points = quantilePoints(sorted);
    expect(points.length).toBeLessThan(500);
    expect(points[0]).toEqual([0, 0]);
    expect(points.at(-1)?.[1]).toBe(299_999);
    for (const [share, value] of points) expect(value).toBe(Math.round(share * 300_000));
  });

  it('counts every value in one bin', () => {
    const sorted = Float64Array.from([1e6, 1e6, 2e6, 5e6, 9e6, 9e6]);
    const bins = logHistogram(sorted, 10);
    expect(bins.reduce((sum, { value }) => sum + value, 0)).toBe(6);
    expect([bins[0]?.value, bins.at(-1)?.value]).toEqual([2, 2]);
    expect(logHistogram(new Float64Array())).toEqual([]);
  });

  it('takes a query of MultiStream as one, as slow as its slowest sample, and as lost with one of them', () => {
    const records = queueRecords({
      seed: 1,
      rowCount: 6,
      arrivalQps: 0,
      serviceNs: 1e6,
      samplesPerQuery: 3,
    });
    records.completedNs.set([10, 30, 20, 10, Number.NaN, 20]);
    records.scheduledNs.fill(5);
    const table = latencyTable(records, 'MultiStream');
    expect(Array.from(table.latencyNs)).toEqual([25, Number.NaN]);
    expect(Array.from(table.completedSamples)).toEqual([3, 2]);
    expect(latencyTable(records, 'Server').count).toBe(6);
  });

  it('puts parts one after the other', () => {
    const records = queueRecords({ seed: 1, rowCount: 3, arrivalQps: 0, serviceNs: 1e6 });
    records.part.set([0, 1, 2]);
    records.completedNs.set([100, 200, 400]);
    const table = latencyTable(records, 'Server');
    expect(Array.from(table.scheduledNs)).toEqual([0, 100, 300]);
    expect(table.endNs).toBe(700);
  });

  it('counts every query and every sample of a timeline once', () => {
    const records = queueRecords({
      seed: 2,
      rowCount: 5000,
      arrivalQps: 100,
      serviceNs: 7e6,
      lostShare: 0.1,
    });
    const table = latencyTable(records, 'Server');
    const { intervals } = timelineOf(table);
    const total = (of: (interval: (typeof intervals)[number]) => number) =>
      Math.round(intervals.reduce((sum, one) => sum + of(one), 0));
    const seconds = ({ fromNs, toNs }: (typeof intervals)[number]) => (toNs - fromNs) / 1e9;
    const lost = table.latencyNs.filter(Number.isNaN).length;
    expect(total((one) => one.dueRate * seconds(one))).toBe(5000);
    expect(total((one) => one.completedRate * seconds(one))).toBe(5000 - lost);
    expect(total((one) => one.lost)).toBe(lost);
  });
});

describe('percentiles', () => {
  const sorted = Float64Array.from({ length: 1000 }, (_, i) => 1e9 + i * 2e6);
  const chart = { title: 'latency', marked: [0.5, 0.9], distributions: [{ name: 'all', sorted }] };

  it.each([0.9e9, 1.1e9, 1.5e9, 1.9e9, 2.8e9])(
    'the name of a bound of %d ns covers none of them',
    (boundNs) => {
      const drawing = drawPercentiles({ ...chart, boundNs }).drawing.text;
      const [bound, ...others] = [
        ...textsOf(drawing, 'bound-text'),
        ...textsOf(drawing, 'start'),
        ...textsOf(drawing, 'end'),
      ];
      expect(others).toHaveLength(2);
      const isOver = others.some(
        ({ x, y, text }) =>
          Math.abs(y - (bound?.y ?? 0)) < 12 &&
          x < (bound?.x ?? 0) + (bound?.text.length ?? 0) * 6 &&
          (bound?.x ?? 0) < x + text.length * 6,
      );
      expect(isOver).toBe(false);
    },
  );

  it('have their values beside the line of a bound, wherever it lies', () => {
    const tail = { ...chart, marked: [0.5, 0.9, 0.99, 0.999] };
    for (let boundNs = 0.9e9; boundNs < 3.2e9; boundNs += 0.02e9) {
      const drawing = drawPercentiles({ ...tail, boundNs }).drawing.text;
      const lineY = Number(/class="bound" d="M\d+ ([\d.]+)H/.exec(drawing)?.[1]);
      for (const { y, text } of [...textsOf(drawing, 'start'), ...textsOf(drawing, 'end')]) {
        const isOn = y - 9 < lineY && lineY < y + 2;
        expect(isOn, `${text} at ${y}, bound at ${lineY}`).toBe(false);
      }
    }
  });
});

function textsOf(drawing: string, name: string): { x: number; y: number; text: string }[] {
  const texts = new RegExp(`<text class="${name}" x="([\\d.]+)" y="([\\d.]+)">([^<]*)`, 'g');
  return [...drawing.matchAll(texts)].map(([, x, y, text = '']) => ({
    x: Number(x),
    y: Number(y),
    text,
  }));
}

describe('drawWindow', () => {
  it('brings the places and texts of marks along y, the coarsest first', () => {
    const y = linearAxis({ from: 0, to: 10, title: '', format: formatNumber });
    const { text } = drawWindow({ x: y, y }, html``);
    const lists = /data-marks="([^"]*)"/.exec(text)?.[1]?.split('\n') ?? [];
    expect(lists[0]).toBe('220 0|181.2 2|142.4 4|103.6 6|64.8 8|26 10');
    expect(lists[1]?.split('|')).toHaveLength(11);
    expect(lists).toHaveLength(5);
  });
});

describe('hoverData', () => {
  const area = {
    x: linearAxis({ from: 0, to: 10, title: '', format: formatNumber }),
    y: linearAxis({ from: 0, to: 10, title: '', format: formatNumber }),
  };
  const texts = { x: (s: number) => `${s} s`, y: formatNumber };
  const line = (name: string, xs: readonly number[], ys: readonly number[]) => ({
    ...{ name, className: 'c1' },
    points: xs.map((x, i) => [x, ys[i] as number] as const),
  });

  it('has the text of every value, and one list of places for lines that share it', () => {
    const series = [line('p50', [0, 10], [1, Number.NaN]), line('p|99', [0, 10], [3, 4])];
    expect(JSON.parse(hoverData(area, series, texts))).toEqual([
      {
        at: '58|466',
        x: '0 s|10 s',
        lines: [
          ['p50', '1|-'],
          ['p|99', '3|4'],
        ],
      },
    ]);
    const told = [{ ...line('a', [0], [1]), texts: ['1 of 2'] }];
    expect(hoverData(area, told, texts)).toContain('"1 of 2"');
    const apart = JSON.parse(hoverData(area, [line('a', [0], [1]), line('b', [5], [2])], texts));
    expect(apart).toHaveLength(2);
  });
});
