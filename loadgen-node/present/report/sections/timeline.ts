import { formatNs } from '../../../../shared/base/text/duration.ts';
import type { Scenario } from '../../../../shared/domain/scenario.ts';
import { ExactDistribution } from '../../../observe/figures/distribution.ts';
import { latencyFigures } from '../../../observe/figures/figures.ts';
import type { LatencyTable } from '../../../observe/figures/latency-table.ts';
import { renderFigure } from '../../charts/figure.ts';
import { drawLines } from '../../charts/plot.ts';
import { type Axis, linearAxis, timeAxis } from '../../charts/scale.ts';
import { htmlTable } from '../../html/elements.ts';
import type { Html } from '../../html/html.ts';
import { formatNumber, tickSeconds } from '../../text/figure-text.ts';

/** Widths that intervals of time may have, in ns. */
const WIDTHS_NS = [
  1e7, 2e7, 5e7, 1e8, 2e8, 5e8, 1e9, 2e9, 5e9, 1e10, 3e10, 6e10, 12e10, 3e11, 6e11, 18e11, 36e11,
];

/** As many as a chart shows. */
const INTERVALS_MAX = 200;

/** Fewer rows than that per interval make percentiles of noise. */
const ROWS_PER_INTERVAL = 100;

/** What happened over time, in intervals of equal width from the start. */
interface Timeline {
  readonly widthNs: number;
  readonly intervals: readonly TimelineInterval[];
}

/** One interval. Latencies are of what was due in it, NaN where nothing was; rates are per second. */
interface TimelineInterval {
  readonly fromNs: number;
  readonly toNs: number;
  readonly p50Ns: number;
  readonly p90Ns: number;
  readonly p99Ns: number;
  readonly maxNs: number;
  /** Rows (queries) due. */
  readonly dueRate: number;
  /** Samples completed, by the time of completion. */
  readonly completedRate: number;
  /** Rows due that were never completed. */
  readonly lost: number;
}

/** Follows a run over time. Rows count where they were due; completed samples where they were completed. */
export function timelineOf(table: LatencyTable): Timeline {
  const { count, scheduledNs, latencyNs, completedSamples, endNs } = table;
  if (count === 0) return { widthNs: 1e9, intervals: [] };
  const widthNs = widthFor(endNs, count);
  // A rest below half an interval goes to the last one: its rate would be noise.
  const intervalCount = Math.max(Math.round(endNs / widthNs), 1);
  const placeOf = (ns: number): number =>
    Math.min(Math.max(Math.trunc(ns / widthNs), 0), intervalCount - 1);
  const latencies = Array.from({ length: intervalCount }, () => new ExactDistribution());
  const completed = new Float64Array(intervalCount);
  const lost = new Float64Array(intervalCount);
  for (let row = 0; row < count; row += 1) {
    const due = scheduledNs[row] as number;
    const place = placeOf(due);
    const latency = latencyNs[row] as number;
    if (Number.isNaN(latency)) {
      lost[place] = (lost[place] as number) + 1;
      continue;
    }
    (latencies[place] as ExactDistribution).add(latency);
    const end = placeOf(due + latency);
    completed[end] = (completed[end] as number) + (completedSamples[row] as number);
  }
  const intervals = latencies.map((ofInterval, i) => {
    const toNs = i === intervalCount - 1 ? Math.max(endNs, i * widthNs + 1) : (i + 1) * widthNs;
    const seconds = (toNs - i * widthNs) / 1e9;
    const { p50, p90, p99, max } = latencyFigures(ofInterval);
    return {
      fromNs: i * widthNs,
      toNs,
      ...{ p50Ns: p50, p90Ns: p90, p99Ns: p99, maxNs: max },
      dueRate: (ofInterval.count + (lost[i] as number)) / seconds,
      completedRate: (completed[i] as number) / seconds,
      lost: lost[i] as number,
    };
  });
  return { widthNs, intervals };
}

/** One second where that makes a readable chart; shorter for short runs with enough rows, longer for long ones. */
function widthFor(endNs: number, count: number): number {
  const least = Math.max(endNs / INTERVALS_MAX, Math.min((endNs / count) * ROWS_PER_INTERVAL, 1e9));
  const width =
    WIDTHS_NS.find((candidate) => candidate >= least) ?? Math.ceil(least / 36e11) * 36e11;
  return endNs > 30e9 ? Math.max(width, 1e9) : width;
}

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
  return htmlTable(titles, rows, () => true);
}
