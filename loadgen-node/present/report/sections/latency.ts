import { formatNs, grouped } from '../../../../shared/base/text.ts';
import { percentileOf } from '../../../loadgen/results/latency-statistics.ts';
import { boundNsOf, type RunSummary } from '../../../observe/summary/run-summary.ts';
import { type Bin, logHistogram } from '../../charts/histogram.ts';
import { drawWindow, hoverData } from '../../charts/hover.ts';
import { drawPercentiles, renderFigure } from '../../charts/percentile-chart.ts';
import { drawAxes, drawBars } from '../../charts/plot.ts';
import { linearAxis, logAxis } from '../../charts/scale.ts';
import { type Html, html, htmlTable } from '../../html/html.ts';
import { formatNumber, isCarried, percentileName, tickTime } from '../../text/figure-text.ts';

/** Percentiles of the tables below charts, and of the text alternatives. */
const TABLED = [0, 0.5, 0.9, 0.95, 0.97, 0.99, 0.999, 0.9999, 1];
const SPOKEN = [0.5, 0.9, 0.99, 0.999, 1];

/** Latency distribution, on the tail axis. */
export function renderDistribution(summary: RunSummary, sorted: Float64Array): Html {
  const boundNs = boundNsOf('latency', summary);
  const bound = boundNs === null ? '' : ` The bound is ${formatNs(boundNs)}.`;
  return renderFigure({
    title: 'Latency by percentile',
    alternative: `${percentileWords(sorted)}.${bound}`,
    ...drawPercentiles({
      title: 'latency',
      distributions: [{ name: 'latency', sorted }],
      boundNs,
      marked: [0.5, 0.9, 0.99, 0.999],
    }),
    caption: `Completed - scheduled of ${grouped(sorted.length)} ${summary.scenario === 'MultiStream' ? 'queries' : 'samples'}: what share of them was no slower. The axis stretches the tail: each step to the right leaves a tenth of them.`,
    table: percentileTable(sorted),
  });
}

/** Distribution of dispatch lag. */
export function renderLag(lags: Float64Array): Html {
  return renderFigure({
    title: 'Dispatch lag by percentile',
    alternative: `${percentileWords(lags)}.`,
    ...drawPercentiles({
      title: 'lag',
      distributions: [{ name: 'dispatch lag', sorted: lags }],
      marked: [0.5, 0.99],
    }),
    caption: 'Issued - scheduled: how late LoadGen itself was. It is part of the latency.',
    table: percentileTable(lags),
  });
}

/** Histogram of latency in bins of equal ratio. */
export function renderHistogram(sorted: Float64Array): Html {
  const bins = logHistogram(sorted);
  const first = bins[0] as Bin;
  const last = bins.at(-1) as Bin;
  const highest = bins.reduce((a, b) => (b.value > a.value ? b : a), first);
  const title = 'latency (logarithmic)';
  const area = {
    x: logAxis({ from: first.from, to: last.to, title, format: tickTime }, 6),
    y: linearAxis({ from: 0, to: highest.value, title: 'count', format: formatNumber }),
  };
  const binAt = (ns: number): Bin => bins.find(({ to }) => ns < to) ?? last;
  const points = bins.map(({ from, to, value }) => [Math.sqrt(from * to), value] as const);
  const rangeText = ({ from, to }: Bin): string => `${formatNs(from)} to ${formatNs(to)}`;
  return renderFigure({
    title: 'Histogram of latency',
    alternative: `Most values, ${highest.value} of ${sorted.length}, lie from ${formatNs(highest.from)} to ${formatNs(highest.to)}.`,
    drawing: html`${drawAxes(area)}${drawWindow(area, drawBars(area, bins, 'c1'))}`,
    hover: hoverData(area, [{ name: 'count', points }], {
      x: (ns) => rangeText(binAt(ns)),
      y: grouped,
    }),
    caption: `${bins.length} bins of equal ratio, from the smallest to the largest value.`,
    table: htmlTable(
      ['from', 'to', 'count'],
      bins.map(({ from, to, value }) => [formatNs(from), formatNs(to), String(value)]),
      () => true,
    ),
  });
}

/** Values at the usual percentiles, as a table. */
export function percentileTable(sorted: Float64Array): Html {
  const rows = carried(TABLED, sorted).map((share) => [
    nameOf(share),
    formatNs(percentileOf(sorted, share)),
  ]);
  return htmlTable(['percentile', 'value'], rows, (column) => column === 1);
}

/** Percentiles that the number of values supports; up to p99 always. */
function carried(shares: readonly number[], { length }: Float64Array): readonly number[] {
  return shares.filter((share) => share <= 0.99 || share === 1 || isCarried(length, share));
}

function nameOf(share: number): string {
  if (share === 0) return 'smallest';
  return share === 1 ? 'largest' : percentileName(share);
}

/** The main percentiles as text alternative. */
export function percentileWords(sorted: Float64Array): string {
  return carried(SPOKEN, sorted)
    .map((share) => `${nameOf(share)} ${formatNs(percentileOf(sorted, share))}`)
    .join(', ');
}
