import { formatNs } from '../../../../shared/base/text/duration.ts';
import type { Scenario } from '../../../../shared/domain/scenario.ts';
import { renderFigure } from '../../charts/figure.ts';
import { drawLines } from '../../charts/plot.ts';
import { type Axis, linearAxis, timeAxis } from '../../charts/scale.ts';
import { table } from '../../html/elements.ts';
import type { Html } from '../../html/html.ts';
import { formatNumber, tickSeconds } from '../../text/figure-text.ts';
import type { Timeline, TimelineInterval } from '../timeline.ts';

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
  const p99s = intervals.map(({ p99Ns }) => p99Ns).filter(Number.isFinite);
  return renderFigure({
    title: 'Latency over time',
    alternative: `p99 of ${widthText(timeline)} lies between ${formatNs(Math.min(...p99s))} and ${formatNs(Math.max(...p99s))}.`,
    ...drawLines({
      x: runTimeAxis(intervals.at(-1)?.toNs ?? 1e9),
      y: timeAxis(values, 'latency'),
      series: PERCENTILES.map(({ name, className, of }) => ({
        name,
        className,
        points: overTime(intervals, of),
      })),
      bound: boundNs === null ? null : { value: boundNs, label: `bound ${formatNs(boundNs)}` },
      hints: hintsOf(intervals, (interval) =>
        PERCENTILES.map(({ name, of }) => `${name} ${formatNs(of(interval))}`).join(', '),
      ),
    }),
    caption: `Percentiles of what was due in each ${widthText(timeline)}.`,
    table: intervalTable(intervals),
  });
}

/** Load and throughput over time. */
export function renderLoadTimeline(timeline: Timeline, scenario: Scenario): Html {
  const { intervals } = timeline;
  const isOffline = scenario === 'Offline';
  const completed = {
    name: 'samples completed',
    className: 'c1',
    points: overTime(intervals, ({ completedRate }) => completedRate),
  };
  const due = {
    name: scenario === 'Server' ? 'queries due' : 'queries issued',
    className: 'c2 dash2',
    points: overTime(intervals, ({ dueRate }) => dueRate),
  };
  // The one query of Offline is due at the start: its rate says nothing.
  const series = isOffline ? [completed] : [due, completed];
  const largest = Math.max(...series.flatMap(({ points }) => points.map(([, rate]) => rate)), 0);
  const rates = completed.points.map(([, rate]) => rate);
  return renderFigure({
    title: isOffline ? 'Throughput over time' : 'Load over time',
    alternative: `Between ${formatNumber(Math.min(...rates))} and ${formatNumber(Math.max(...rates))} samples per second were completed.`,
    ...drawLines({
      x: runTimeAxis(intervals.at(-1)?.toNs ?? 1e9),
      y: linearAxis({ from: 0, to: largest * 1.05, title: 'per second', format: formatNumber }),
      series,
      hints: hintsOf(
        intervals,
        ({ dueRate, completedRate, lost }) =>
          `${formatNumber(dueRate)} due per second, ${formatNumber(completedRate)} completed per second, ${lost} lost`,
      ),
    }),
    caption: `Per second, counted in each ${widthText(timeline)}.`,
  });
}

/** An axis of the time since the start of a run. */
export function runTimeAxis(toNs: number): Axis {
  const title = 'time since the start, s';
  return linearAxis({ from: 0, to: toNs, title, format: tickSeconds }, 6);
}

function overTime(
  intervals: readonly TimelineInterval[],
  of: (interval: TimelineInterval) => number,
): (readonly [number, number])[] {
  return intervals.map((interval) => [(interval.fromNs + interval.toNs) / 2, of(interval)]);
}

function hintsOf(
  intervals: readonly TimelineInterval[],
  textOf: (interval: TimelineInterval) => string,
): { from: number; to: number; text: string }[] {
  return intervals.map((interval) => ({
    from: interval.fromNs,
    to: interval.toNs,
    text: `${tickSeconds(interval.fromNs)} s: ${textOf(interval)}`,
  }));
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
  return table(titles, rows, () => true);
}
