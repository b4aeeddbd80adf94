import { formatNs } from '../../../../shared/base/text/duration.ts';
import type {
  GeneratorCeiling,
  GeneratorHealth,
  HealthSecond,
} from '../../../loadgen/health/generator-health.ts';
import type { RunSummary } from '../../../observe/summary/run-summary.ts';
import { renderFigure } from '../../charts/figure.ts';
import { drawLines, type LineSeries } from '../../charts/line-chart.ts';
import { PLOT } from '../../charts/plot.ts';
import { type Axis, linearAxis } from '../../charts/scale.ts';
import { type Html, html } from '../../html/html.ts';
import { formatNumber } from '../../text/number.ts';
import { formatShare, tickSeconds, tickTime } from '../../text/time-format.ts';

/** Seconds that a chart shows as they are; of more, the worst of each group is shown. */
const POINTS_MAX = 300;

/** How the LoadGen process fared, and what this machine carries at most. */
export function renderGenerator({ health, ceiling }: RunSummary): Html {
  return html`<section aria-labelledby="generator"><h2 id="generator">Health of the generator</h2>
${health === null ? html`<p>Nobody watched the LoadGen process in this run.</p>` : renderHealth(health)}
<p>${ceilingText(ceiling)}</p></section>
`;
}

function renderHealth(health: GeneratorHealth): Html {
  const { cpuShare, cpuWaitShare, eventLoopDelay, gc, stealShare, backPressure } = health;
  const facts: [string, string][] = [
    ['CPU of the issuing thread', formatShare(cpuShare)],
    ['It could have run, but had no core', shareText(cpuWaitShare)],
    [
      'Event loop late by',
      `p50 ${formatNs(eventLoopDelay.p50Ns)}, p99 ${formatNs(eventLoopDelay.p99Ns)}, at most ${formatNs(eventLoopDelay.maxNs)}`,
    ],
    [
      'Garbage collection',
      `${gc.count} pauses, ${formatNs(gc.totalNs)} in all, longest ${formatNs(gc.maxNs)}`,
    ],
    ['CPU time that the hypervisor took', shareText(stealShare)],
  ];
  if (backPressure !== null) {
    facts.push(
      ['Queries waited for a socket', formatNs(backPressure.socketNs)],
      ['Queries waited for credit of a node', formatNs(backPressure.creditNs)],
    );
  }
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Health of the generator"><table><tbody>${facts.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>\n`)}</tbody></table></div>
${health.seconds.length === 0 ? null : html`<div class="charts">${cpuChart(health.seconds)}${delayChart(health.seconds)}</div>`}`;
}

function shareText(share: number | null | undefined): string {
  return share === null || share === undefined ? 'not known here' : formatShare(share);
}

function cpuChart(all: readonly HealthSecond[]): Html {
  const seconds = worstOfGroups(all);
  const series: LineSeries[] = [
    {
      name: 'CPU',
      className: 'c1',
      points: seconds.map(({ atNs, cpuShare }) => [atNs, cpuShare * 100]),
    },
    {
      name: 'garbage collection',
      className: 'c2 dash2',
      points: seconds.map(({ atNs, gcNs }) => [atNs, gcNs / 1e7]),
    },
  ];
  if (seconds.some(({ cpuWaitShare }) => typeof cpuWaitShare === 'number')) {
    series.push({
      name: 'waiting for a core',
      className: 'c6 dash3',
      points: seconds.map(({ atNs, cpuWaitShare }) => [atNs, (cpuWaitShare ?? Number.NaN) * 100]),
    });
  }
  const known = series.flatMap(({ points }) => points.map(([, y]) => y)).filter(Number.isFinite);
  const largest = Math.max(...known, 100);
  const y = linearAxis({ from: 0, to: largest, title: '% of a core', format: formatNumber });
  const { drawing, legend } = drawLines({ x: axisOf(seconds), y, series, bound: null, hints: [] });
  return renderFigure({
    title: 'CPU and garbage collection of the generator',
    alternative: `CPU at most ${formatNumber(Math.max(...seconds.map(({ cpuShare }) => cpuShare * 100)))} % of a core in a second.`,
    legend,
    drawing,
    width: PLOT.width,
    height: PLOT.height,
    caption: 'In each second. Near 100 % the thread that issues is the limit.',
    table: null,
    isWide: false,
  });
}

function delayChart(all: readonly HealthSecond[]): Html {
  const seconds = worstOfGroups(all);
  const largest = Math.max(...seconds.map(({ eventLoopDelayMaxNs }) => eventLoopDelayMaxNs), 1e6);
  const { drawing, legend } = drawLines({
    x: axisOf(seconds),
    y: linearAxis({ from: 0, to: largest, title: 'delay', format: tickTime }),
    series: [
      {
        name: 'delay',
        className: 'c4',
        points: seconds.map(({ atNs, eventLoopDelayMaxNs }) => [atNs, eventLoopDelayMaxNs]),
      },
    ],
    bound: null,
    hints: [],
  });
  return renderFigure({
    title: 'Largest delay of the event loop',
    alternative: `At most ${formatNs(largest)}.`,
    legend,
    drawing,
    width: PLOT.width,
    height: PLOT.height,
    caption: 'In each second: how late the event loop of the LoadGen process was to its own timer.',
    table: null,
    isWide: false,
  });
}

function axisOf(seconds: readonly HealthSecond[]): Axis {
  const to = Math.max(seconds.at(-1)?.atNs ?? 0, 1e9);
  return linearAxis({ from: 0, to, title: 'time since the start, s', format: tickSeconds }, 6);
}

/** A run of hours: the worst second of each group, so that no peak is lost. */
function worstOfGroups(seconds: readonly HealthSecond[]): HealthSecond[] {
  const size = Math.ceil(seconds.length / POINTS_MAX);
  if (size <= 1) return [...seconds];
  return Array.from({ length: Math.ceil(seconds.length / size) }, (_, i) =>
    seconds.slice(i * size, (i + 1) * size).reduce((a, b) => ({
      atNs: b.atNs,
      cpuShare: Math.max(a.cpuShare, b.cpuShare),
      cpuWaitShare: largerOf(a.cpuWaitShare, b.cpuWaitShare),
      eventLoopDelayMaxNs: Math.max(a.eventLoopDelayMaxNs, b.eventLoopDelayMaxNs),
      gcNs: Math.max(a.gcNs, b.gcNs),
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
  const busy = isDisturbed === true ? ', while other processes took the CPUs: too low' : '';
  return `This machine carries at most ${formatNumber(inProcessQps)} queries/s with a SUT in process that answers at once, and ${formatNumber(loopbackQps)} over loopback to a null SUT node (measured ${measuredAt} on ${measuredOn}${busy}).`;
}
