import { formatNs } from '../../../../shared/base/text.ts';
import type { Scenario } from '../../../../shared/domain/scenario.ts';
import type {
  GeneratorCeiling,
  GeneratorHealth,
  HealthSecond,
} from '../../../loadgen/results/generator-health.ts';
import { ExactDistribution } from '../../../observe/figures/exact-distribution.ts';
import type { LatencyTable } from '../../../observe/figures/latency-table.ts';
import { latencyFigures } from '../../../observe/figures/named-figures.ts';
import type { RunSummary } from '../../../observe/summary/run-summary.ts';
import { drawLines } from '../../charts/line-chart.ts';
import { renderFigure } from '../../charts/percentile-chart.ts';
import type { Points, Series } from '../../charts/plot.ts';
import { type Axis, linearAxis, memoryStep, timeAxis } from '../../charts/scale.ts';
import { type Html, html, htmlTable, scroll, section } from '../../html/html.ts';
import {
  formatMemory,
  formatNumber,
  formatShare,
  isCarried,
  tickMemory,
  tickSeconds,
  tickTime,
} from '../../text/figure-text.ts';

/** Possible widths of time intervals, in ns. */
const WIDTHS_NS = [
  1e7, 2e7, 5e7, 1e8, 2e8, 5e8, 1e9, 2e9, 5e9, 1e10, 3e10, 6e10, 12e10, 3e11, 6e11, 18e11, 36e11,
];

/** As many as a chart shows. */
const INTERVALS_MAX = 200;

/** With fewer rows per interval, percentiles are noise. */
const ROWS_PER_INTERVAL = 100;

/**
 * A run over time, in equal intervals from the start. Rows count when they were due, completed
 * samples when they completed. Latencies are of samples due in the interval, NaN without any; rates
 * are per second.
 */
export function timelineOf(table: LatencyTable, intervalsMax = INTERVALS_MAX) {
  const { count, scheduledNs, latencyNs, completedSamples, endNs } = table;
  if (count === 0) return { widthNs: 1e9, intervals: [] };
  const widthNs = widthFor(endNs, count, intervalsMax);
  // A remainder below half an interval joins the last one: its rate would be noise.
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
      count: ofInterval.count,
      p50Ns: p50,
      p90Ns: p90,
      p99Ns: p99,
      maxNs: max,
      /** Rows (queries) due. */
      dueRate: (ofInterval.count + (lost[i] as number)) / seconds,
      /** Samples completed, by the time of completion. */
      completedRate: (completed[i] as number) / seconds,
      /** Rows due that never completed. */
      lost: lost[i] as number,
    };
  });
  return { widthNs, intervals };
}

type Timeline = ReturnType<typeof timelineOf>;
type TimelineInterval = Timeline['intervals'][number];

/**
 * One second if that gives a readable chart; shorter for short runs with enough rows, longer for
 * long ones.
 */
function widthFor(endNs: number, count: number, intervalsMax: number): number {
  const least = Math.max(endNs / intervalsMax, Math.min((endNs / count) * ROWS_PER_INTERVAL, 1e9));
  const width =
    WIDTHS_NS.find((candidate) => candidate >= least) ?? Math.ceil(least / 36e11) * 36e11;
  return endNs > 30e9 ? Math.max(width, 1e9) : width;
}

const LATENCY = { title: 'Latency', name: 'latency' };

/** A line of a chart over time. */
interface PercentileLine {
  readonly share: number;
  readonly name: string;
  readonly className: string;
  readonly of: (interval: TimelineInterval) => number;
}

const PERCENTILES: readonly [PercentileLine, ...PercentileLine[]] = [
  { share: 0.5, name: 'p50', className: 'c5', of: ({ p50Ns }) => p50Ns },
  { share: 0.9, name: 'p90', className: 'c1 dash2', of: ({ p90Ns }) => p90Ns },
  { share: 0.99, name: 'p99', className: 'c2', of: ({ p99Ns }) => p99Ns },
  { share: 1, name: 'largest', className: 'c3 dash3', of: ({ maxNs }) => maxNs },
];

/**
 * Percentiles that differ from the maximum: an interval has on average at least half a value above
 * them.
 */
function percentilesOf({ intervals }: Timeline): readonly PercentileLine[] {
  const mean = intervals.reduce((sum, { count }) => sum + count, 0) / Math.max(intervals.length, 1);
  return PERCENTILES.filter(
    ({ share }) => share === 1 || isCarried(2 * mean, share) || share === 0.5,
  );
}

/** Percentiles of latency, or of another time of the same queries, over time. */
export function renderLatencyTimeline(
  timeline: Timeline,
  boundNs: number | null,
  time: { readonly title: string; readonly name: string } = LATENCY,
): Html {
  const { intervals } = timeline;
  const values = intervals.flatMap(({ p50Ns, maxNs }) => [p50Ns, maxNs]).filter(Number.isFinite);
  if (boundNs !== null) values.push(boundNs);
  const shown = percentilesOf(timeline);
  const highest = shown.findLast(({ share }) => share < 1) ?? PERCENTILES[0];
  const seen = intervals.map(highest.of).filter(Number.isFinite);
  return renderFigure({
    title: `${time.title} over time`,
    alternative: `${highest.name} of each ${widthText(timeline)} lies between ${formatNs(Math.min(...seen))} and ${formatNs(Math.max(...seen))}.`,
    ...drawLines({
      x: runTimeAxis(intervals.at(-1)?.toNs ?? 1e9),
      y: timeAxis(values, time.name),
      series: shown.map(({ name, className, of }) => ({
        name,
        className,
        points: overTime(intervals, of),
      })),
      bound: boundNs === null ? null : { value: boundNs, label: `bound ${formatNs(boundNs)}` },
      texts: { x: secondText, y: formatNs },
    }),
    caption: `Percentiles of what was due in each ${widthText(timeline)}.`,
    table: intervalTable(intervals, shown, time === LATENCY),
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
  // Offline's one query is due at the start: it has no rate.
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
      texts: { x: secondText, y: formatNumber },
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

/** A time of the run, for hovering. */
export function secondText(ns: number): string {
  return `${tickSeconds(ns)} s`;
}

function widthText({ widthNs }: Timeline): string {
  return widthNs === 1e9 ? 'second' : `interval of ${formatNs(widthNs)}`;
}

/** @param hasRates False if another table of the page has the rates. */
function intervalTable(
  intervals: readonly TimelineInterval[],
  percentiles: readonly PercentileLine[],
  hasRates: boolean,
): Html {
  const rates = hasRates ? ['due /s', 'completed /s'] : [];
  const titles = [
    'from, s',
    ...rates,
    ...percentiles.map(({ name }) => name),
    ...(hasRates ? ['lost'] : []),
  ];
  const rows = intervals.map((interval) => {
    const { fromNs, dueRate, completedRate, lost } = interval;
    return [
      tickSeconds(fromNs),
      ...(hasRates ? [formatNumber(dueRate), formatNumber(completedRate)] : []),
      ...percentiles.map(({ of }) => formatNs(of(interval))),
      ...(hasRates ? [String(lost)] : []),
    ];
  });
  return htmlTable(titles, rows, () => true);
}

/** Most seconds shown individually; beyond it, the worst of each group is shown. */
const POINTS_MAX = 300;

/** How the LoadGen process fared, and this machine's largest load. */
export function renderGenerator({ health, ceiling }: RunSummary): Html {
  return section(
    'generator',
    'Health of the generator',
    html`${health === null ? html`<p>The LoadGen process was not monitored in this run.</p>` : renderHealth(health)}
<p>${ceilingText(ceiling)}</p>`,
  );
}

function renderHealth(health: GeneratorHealth): Html {
  const { cpuShare, cpuWaitShare, eventLoopDelay, gc, stealShare, backPressure, seconds } = health;
  const { p50Ns, p99Ns, maxNs } = eventLoopDelay;
  const facts: [string, string][] = [
    ['CPU of the issuing thread', formatShare(cpuShare)],
    ['It could have run, but had no core', shareText(cpuWaitShare)],
    [
      'Event loop late by',
      `p50 ${formatNs(p50Ns)}, p99 ${formatNs(p99Ns)}, at most ${formatNs(maxNs)}`,
    ],
    [
      'Garbage collection',
      `pauses of about ${formatNs(gc.totalNs)} in all, the longest seen ${formatNs(gc.maxNs)}`,
    ],
    ['CPU time that the hypervisor took', shareText(stealShare)],
  ];
  if (backPressure !== null) {
    facts.push(
      ['Queries waited for a socket', formatNs(backPressure.socketNs)],
      ['Queries waited for credit of a node', formatNs(backPressure.creditNs)],
    );
  }
  const rows = facts.map(
    ([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>\n`,
  );
  const shown = worstOfGroups(seconds);
  return html`${scroll('Health of the generator', html`<table><tbody>${rows}</tbody></table>`)}
${shown.length === 0 ? null : html`<div class="charts">${cpuChart(shown)}${delayChart(shown)}${memoryChart(shown)}</div>`}`;
}

function shareText(share: number | null | undefined): string {
  return share === null || share === undefined ? 'not known here' : formatShare(share);
}

function cpuChart(seconds: readonly HealthSecond[]): Html {
  const line = (name: string, className: string, of: (second: HealthSecond) => number): Series => {
    return { name, className, points: healthPoints(seconds, of) };
  };
  const series = [
    line('issuing thread', 'c1', ({ cpuShare }) => cpuShare * 100),
    line('garbage collection', 'c2 dash2', ({ gcNs }) => gcNs / 1e7),
  ];
  if (seconds.some(({ cpuWaitShare }) => typeof cpuWaitShare === 'number')) {
    const waits = ({ cpuWaitShare }: HealthSecond): number => (cpuWaitShare ?? Number.NaN) * 100;
    series.push(line('waiting for a core', 'c6 dash3', waits));
  }
  if (seconds.some((second) => second.process !== undefined)) {
    const all = (second: HealthSecond): number => (second.process?.cores ?? Number.NaN) * 100;
    series.push(line('all threads of LoadGen', 'c5 dash4', all));
  }
  const known = series.flatMap(({ points }) => points.map(([, y]) => y)).filter(Number.isFinite);
  const to = Math.max(...known, 100);
  const cpuMax = Math.max(...seconds.map(({ cpuShare }) => cpuShare * 100));
  return renderFigure({
    title: 'CPU and garbage collection of the generator',
    alternative: `CPU at most ${formatNumber(cpuMax)} % of a core in a second.`,
    ...drawLines({
      x: axisOf(seconds),
      y: linearAxis({ from: 0, to, title: '% of a core', format: formatNumber }),
      series,
      texts: { x: secondText, y: (percent) => `${formatNumber(percent)} %` },
    }),
    caption: 'In each second. Near 100 % the thread that issues is the limit.',
  });
}

function memoryChart(seconds: readonly HealthSecond[]): Html | null {
  const bytesOf = (second: HealthSecond): number => second.process?.residentBytes ?? Number.NaN;
  const points = healthPoints(seconds, bytesOf);
  const known = points.map(([, bytes]) => bytes).filter(Number.isFinite);
  if (known.length === 0) return null;
  const to = Math.max(...known);
  return renderFigure({
    title: 'Memory of LoadGen',
    alternative: `At most ${formatMemory(to)}.`,
    ...drawLines({
      x: axisOf(seconds),
      y: linearAxis({
        from: 0,
        to: to * 1.1,
        title: 'resident',
        format: tickMemory,
        stepOf: memoryStep,
      }),
      series: [{ name: 'memory', className: 'c1', points }],
      texts: { x: secondText, y: formatMemory },
    }),
    caption: 'Resident memory of the LoadGen process, plan and recorder included.',
  });
}

function delayChart(seconds: readonly HealthSecond[]): Html {
  const points = healthPoints(seconds, ({ eventLoopDelayMaxNs }) => eventLoopDelayMaxNs);
  const to = Math.max(...points.map(([, ns]) => ns), 1e6);
  return renderFigure({
    title: 'Largest delay of the event loop',
    alternative: `At most ${formatNs(to)}.`,
    ...drawLines({
      x: axisOf(seconds),
      y: linearAxis({ from: 0, to, title: 'delay', format: tickTime }),
      series: [{ name: 'delay', className: 'c4', points }],
      texts: { x: secondText, y: formatNs },
    }),
    caption: 'In each second: how late the event loop of the LoadGen process was to its own timer.',
  });
}

function healthPoints(
  seconds: readonly HealthSecond[],
  of: (second: HealthSecond) => number,
): Points {
  return seconds.map((second) => [second.atNs, of(second)]);
}

function axisOf(seconds: readonly HealthSecond[]): Axis {
  return runTimeAxis(Math.max(seconds.at(-1)?.atNs ?? 0, 1e9));
}

/** The worst second of each group, so that a run of hours loses no peak. */
function worstOfGroups(seconds: readonly HealthSecond[]): readonly HealthSecond[] {
  const size = Math.ceil(seconds.length / POINTS_MAX);
  if (size <= 1) return seconds;
  return Array.from({ length: Math.ceil(seconds.length / size) }, (_, i) =>
    seconds.slice(i * size, (i + 1) * size).reduce((a, b) => ({
      atNs: b.atNs,
      cpuShare: Math.max(a.cpuShare, b.cpuShare),
      cpuWaitShare: largerOf(a.cpuWaitShare, b.cpuWaitShare),
      eventLoopDelayMaxNs: Math.max(a.eventLoopDelayMaxNs, b.eventLoopDelayMaxNs),
      gcNs: Math.max(a.gcNs, b.gcNs),
      ...(b.process && {
        process: { ...b.process, cores: Math.max(a.process?.cores ?? 0, b.process.cores) },
      }),
    })),
  );
}

function largerOf(a: number | null | undefined, b: number | null | undefined): number | null {
  if (typeof a !== 'number') return b ?? null;
  return typeof b === 'number' ? Math.max(a, b) : a;
}

function ceilingText(ceiling: GeneratorCeiling | null): string {
  if (ceiling === null) {
    return 'What this machine carries at most was never measured; longhaul doctor does it.';
  }
  const { measuredAt, measuredOn, inProcessQps, loopbackQps, isDisturbed } = ceiling;
  const busy = isDisturbed === true ? ', while other processes took the CPUs: it carries more' : '';
  return `This machine carries at most ${formatNumber(inProcessQps)} queries/s with a SUT in process that answers at once, and ${formatNumber(loopbackQps)} over loopback to a null SUT node (measured ${measuredAt} on ${measuredOn}${busy}).`;
}
