import type { NodeUsagePoint, RunSummary } from '../../../observe/summary/run-summary.ts';
import { drawLines } from '../../charts/line-chart.ts';
import { renderFigure } from '../../charts/percentile-chart.ts';
import { type Series, seriesClass } from '../../charts/plot.ts';
import { type Axis, linearAxis, memoryStep } from '../../charts/scale.ts';
import { type Html, html } from '../../html/html.ts';
import { formatMemory, formatNumber, tickMemory } from '../../text/figure-text.ts';
import { runTimeAxis, secondText } from './timeline.ts';

// SUT nodes' reports on their machines during the measurement.

/** Most lines in a chart; more would be indistinguishable, and the table has all nodes. */
const LINES_MAX = 8;
/** Most nodes drawn with their machines. */
const MACHINES_MAX = 2;

type Usage = readonly NodeUsagePoint[] | undefined;

interface NodeOfChart {
  readonly name: string;
  readonly usage: readonly NodeUsagePoint[];
}

/** CPU and memory of the nodes over the run; null if no node reported them. */
export function renderUse(all: RunSummary['nodes']): Html | null {
  const told = all.flatMap(({ name, usage }) => (usage === undefined ? [] : [{ name, usage }]));
  if (told.length === 0) return null;
  const nodes = told.slice(0, LINES_MAX);
  const more =
    told.length > LINES_MAX
      ? ` The first ${LINES_MAX} of ${told.length} nodes; the table has all.`
      : '';
  return html`${cpuFigure(nodes, more)}${memoryFigure(nodes, more)}`;
}

/** Mean number of busy cores of a node, and its largest memory; dashes if not reported. */
export function useCells(usage: Usage): [cores: string, memory: string] {
  return [formatNumber(meanCores(usage ?? [])), formatMemory(largestMemory(usage ?? []))];
}

function cpuFigure(nodes: readonly NodeOfChart[], more: string): Html {
  const series = nodes.flatMap(({ name, usage }, i) => {
    const own = lineOf(name, seriesClass(i), usage, ({ cores }) => cores);
    const hasMachine = nodes.length <= MACHINES_MAX && usage.some((point) => point.machineCores);
    if (!hasMachine) return [own];
    const title = nodes.length === 1 ? 'whole machine' : `whole machine of ${name}`;
    const machine = ({ machineCores = Number.NaN }: NodeUsagePoint): number => machineCores;
    return [own, lineOf(title, `c${i + 3} dash2`, usage, machine)];
  });
  const means = nodes.map(({ name, usage }) => `${name} ${formatNumber(meanCores(usage))}`);
  return renderFigure({
    title: 'CPU of the SUT nodes',
    alternative: `Cores busy on the average: ${means.join(', ')}.`,
    ...drawLines({
      ...areaOf(series, { title: 'cores busy', format: formatNumber }),
      series,
      texts: { x: secondText, y: (cores) => `${formatNumber(cores)} cores` },
    }),
    caption: `Cores that the node's process kept busy, its worker processes included, as the node reported once a second.${more}`,
  });
}

function memoryFigure(nodes: readonly NodeOfChart[], more: string): Html {
  const series = nodes.map(({ name, usage }, i) =>
    lineOf(name, seriesClass(i), usage, ({ residentBytes }) => residentBytes),
  );
  const largest = nodes.map(({ name, usage }) => `${name} ${formatMemory(largestMemory(usage))}`);
  return renderFigure({
    title: 'Memory of the SUT nodes',
    alternative: `At most: ${largest.join(', ')}.`,
    ...drawLines({
      ...areaOf(series, { title: 'resident', format: tickMemory, stepOf: memoryStep }),
      series,
      texts: { x: secondText, y: formatMemory },
    }),
    caption: `Resident memory of the same processes, as the node reported it.${more}`,
  });
}

function lineOf(
  name: string,
  className: string,
  usage: readonly NodeUsagePoint[],
  of: (point: NodeUsagePoint) => number,
): Series {
  return { name, className, points: usage.map((point) => [point.atNs, of(point)]) };
}

function areaOf(
  series: readonly Series[],
  y: Omit<Parameters<typeof linearAxis>[0], 'from' | 'to'>,
): { readonly x: Axis; readonly y: Axis } {
  const points = series.flatMap((one) => one.points);
  const largest = points.reduce((most, [, value]) => (value > most ? value : most), 0);
  const endNs = points.reduce((last, [atNs]) => Math.max(last, atNs), 1e9);
  return { x: runTimeAxis(endNs), y: linearAxis({ ...y, from: 0, to: largest * 1.1 || 1 }) };
}

function meanCores(usage: readonly NodeUsagePoint[]): number {
  return usage.reduce((sum, { cores }) => sum + cores, 0) / usage.length;
}

function largestMemory(usage: readonly NodeUsagePoint[]): number {
  return usage.reduce(
    (most, { residentBytes }) => (residentBytes <= most ? most : residentBytes),
    Number.NaN,
  );
}
