import { formatNs } from '../../../../shared/base/text/duration.ts';
import type { Scenario } from '../../../../shared/domain/scenario.ts';
import { renderFigure, renderTable } from '../../charts/figure.ts';
import { drawLines } from '../../charts/line-chart.ts';
import { timeAxis } from '../../charts/percentile-chart.ts';
import { PLOT } from '../../charts/plot.ts';
import { type Axis, linearAxis } from '../../charts/scale.ts';
import type { Html } from '../../html/html.ts';
import { formatNumber } from '../../text/number.ts';
import { tickSeconds } from '../../text/time-format.ts';
import type { Timeline, TimelineInterval } from '../aggregate/timeline.ts';

const PERCENTILES = [
  { name: 'p50', className: 'c5', of: ({ p50Ns }: TimelineInterval) => p50Ns },
  { name: 'p90', className: 'c1 dash2', of: ({ p90Ns }: TimelineInterval) => p90Ns },
  { name: 'p99', className: 'c2', of: ({ p99Ns }: TimelineInterval) => p99Ns },
  { name: 'largest', className: 'c3 dash3', of: ({ maxNs }: TimelineInterval) => maxNs },
] as const;

/** Percentiles of latency over time. */
export function renderLatencyTimeline(timeline: Timeline, boundNs: number | null): Html {
  const { intervals } = timeline;
  const values = intervals.flatMap(({ p50Ns, maxNs }) => [p50Ns, maxNs]).filter(Number.isFinite);
  if (boundNs !== null) values.push(boundNs);
  const { drawing, legend } = drawLines({
    x: timeAxisOf(timeline),
    y: timeAxis(values, 'latency'),
    series: PERCENTILES.map(({ name, className, of }) => ({
      name,
      className,
      points: intervals.map((interval) => [middleOf(interval), of(interval)] as const),
    })),
    bound: boundNs === null ? null : { value: boundNs, label: `bound ${formatNs(boundNs)}` },
    hints: intervals.map((interval) => ({
      from: interval.fromNs,
      to: interval.toNs,
      text: `${tickSeconds(interval.fromNs)} s: ${PERCENTILES.map(({ name, of }) => `${name} ${formatNs(of(interval))}`).join(', ')}`,
    })),
  });
  const p99s = intervals.map(({ p99Ns }) => p99Ns).filter(Number.isFinite);
  return renderFigure({
    title: 'Latency over time',
    alternative: `p99 of ${widthText(timeline)} lies between ${formatNs(Math.min(...p99s))} and ${formatNs(Math.max(...p99s))}.`,
    legend,
    drawing,
    width: PLOT.width,
    height: PLOT.height,
    caption: `Percentiles of what was due in each ${widthText(timeline)}.`,
    table: intervalTable(intervals),
    isWide: false,
  });
}

/** Load and throughput over time. */
export function renderLoadTimeline(timeline: Timeline, scenario: Scenario): Html {
  const { intervals } = timeline;
  const isServer = scenario === 'Server';
  const completed = {
    name: 'samples completed',
    className: 'c1',
    points: intervals.map((interval) => [middleOf(interval), interval.completedRate] as const),
  };
  const due = {
    name: isServer ? 'queries due' : 'queries issued',
    className: 'c2 dash2',
    points: intervals.map((interval) => [middleOf(interval), interval.dueRate] as const),
  };
  // The one query of Offline is due at the start: its rate says nothing.
  const series = scenario === 'Offline' ? [completed] : [due, completed];
  const largest = Math.max(...series.flatMap(({ points }) => points.map(([, rate]) => rate)), 0);
  const { drawing, legend } = drawLines({
    x: timeAxisOf(timeline),
    y: linearAxis({ from: 0, to: largest * 1.05, title: 'per second', format: formatNumber }),
    series,
    bound: null,
    hints: intervals.map((interval) => ({
      from: interval.fromNs,
      to: interval.toNs,
      text: `${tickSeconds(interval.fromNs)} s: ${formatNumber(interval.dueRate)} due per second, ${formatNumber(interval.completedRate)} completed per second, ${interval.lost} lost`,
    })),
  });
  const rates = intervals.map(({ completedRate }) => completedRate);
  return renderFigure({
    title: scenario === 'Offline' ? 'Throughput over time' : 'Load over time',
    alternative: `Between ${formatNumber(Math.min(...rates))} and ${formatNumber(Math.max(...rates))} samples per second were completed.`,
    legend,
    drawing,
    width: PLOT.width,
    height: PLOT.height,
    caption: `Per second, counted in each ${widthText(timeline)}.`,
    table: null,
    isWide: false,
  });
}

function timeAxisOf({ intervals }: Timeline): Axis {
  const to = intervals.at(-1)?.toNs ?? 1e9;
  return linearAxis({ from: 0, to, title: 'time since the start, s', format: tickSeconds }, 6);
}

function middleOf({ fromNs, toNs }: TimelineInterval): number {
  return (fromNs + toNs) / 2;
}

function widthText({ widthNs }: Timeline): string {
  return widthNs === 1e9 ? 'second' : `interval of ${formatNs(widthNs)}`;
}

function intervalTable(intervals: readonly TimelineInterval[]): Html {
  const titles = ['from, s', 'due /s', 'completed /s', 'p50', 'p90', 'p99', 'largest', 'lost'];
  const rows = intervals.map(
    ({ fromNs, dueRate, completedRate, p50Ns, p90Ns, p99Ns, maxNs, lost }) => [
      tickSeconds(fromNs),
      formatNumber(dueRate),
      formatNumber(completedRate),
      ...[p50Ns, p90Ns, p99Ns, maxNs].map(formatNs),
      String(lost),
    ],
  );
  return renderTable(
    titles.map((title) => ({ title, isNumber: true })),
    rows,
  );
}
