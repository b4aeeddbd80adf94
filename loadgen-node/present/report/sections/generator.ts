import { formatNs } from '../../../../shared/base/text/duration.ts';
import type {
  GeneratorCeiling,
  GeneratorHealth,
  HealthSecond,
} from '../../../loadgen/health/generator-health.ts';
import type { RunSummary } from '../../../observe/summary/run-summary.ts';
import { renderFigure } from '../../charts/figure.ts';
import { drawLines, type Points, type Series } from '../../charts/plot.ts';
import { linearAxis } from '../../charts/scale.ts';
import { scroll, section } from '../../html/elements.ts';
import { type Html, html } from '../../html/html.ts';
import { formatNumber, formatShare, tickTime } from '../../text/figure-text.ts';
import { runTimeAxis } from './timeline.ts';

/** Seconds that a chart shows as they are; of more, the worst of each group is shown. */
const POINTS_MAX = 300;

/** How the LoadGen process fared, and what this machine carries at most. */
export function renderGenerator({ health, ceiling }: RunSummary): Html {
  return section(
    'generator',
    'Health of the generator',
    html`${health === null ? html`<p>Nobody watched the LoadGen process in this run.</p>` : renderHealth(health)}
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
  const rows = facts.map(
    ([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>\n`,
  );
  const shown = worstOfGroups(seconds);
  return html`${scroll('Health of the generator', html`<table><tbody>${rows}</tbody></table>`)}
${shown.length === 0 ? null : html`<div class="charts">${cpuChart(shown)}${delayChart(shown)}</div>`}`;
}

function shareText(share: number | null | undefined): string {
  return share === null || share === undefined ? 'not known here' : formatShare(share);
}

function cpuChart(seconds: readonly HealthSecond[]): Html {
  const series: Series[] = [
    {
      name: 'CPU',
      className: 'c1',
      points: overTime(seconds, ({ cpuShare }) => cpuShare * 100),
    },
    {
      name: 'garbage collection',
      className: 'c2 dash2',
      points: overTime(seconds, ({ gcNs }) => gcNs / 1e7),
    },
  ];
  if (seconds.some(({ cpuWaitShare }) => typeof cpuWaitShare === 'number')) {
    series.push({
      name: 'waiting for a core',
      className: 'c6 dash3',
      points: overTime(seconds, ({ cpuWaitShare }) => (cpuWaitShare ?? Number.NaN) * 100),
    });
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
    }),
    caption: 'In each second. Near 100 % the thread that issues is the limit.',
  });
}

function delayChart(seconds: readonly HealthSecond[]): Html {
  const points = overTime(seconds, ({ eventLoopDelayMaxNs }) => eventLoopDelayMaxNs);
  const to = Math.max(...points.map(([, ns]) => ns), 1e6);
  return renderFigure({
    title: 'Largest delay of the event loop',
    alternative: `At most ${formatNs(to)}.`,
    ...drawLines({
      x: axisOf(seconds),
      y: linearAxis({ from: 0, to, title: 'delay', format: tickTime }),
      series: [{ name: 'delay', className: 'c4', points }],
    }),
    caption: 'In each second: how late the event loop of the LoadGen process was to its own timer.',
  });
}

function overTime(seconds: readonly HealthSecond[], of: (second: HealthSecond) => number): Points {
  return seconds.map((second) => [second.atNs, of(second)]);
}

function axisOf(seconds: readonly HealthSecond[]): ReturnType<typeof runTimeAxis> {
  return runTimeAxis(Math.max(seconds.at(-1)?.atNs ?? 0, 1e9));
}

/** A run of hours: the worst second of each group, so that no peak is lost. */
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
