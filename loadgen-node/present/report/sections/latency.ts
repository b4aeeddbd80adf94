import { grouped } from '../../../../shared/base/figures/figure-text.ts';
import { formatNs } from '../../../../shared/base/text/duration.ts';
import { percentileOf } from '../../../loadgen/results/latency-statistics.ts';
import type { RunSummary } from '../../../observe/summary/run-summary.ts';
import { type Bin, logHistogram } from '../../charts/distribution.ts';
import { renderFigure, renderTable } from '../../charts/figure.ts';
import { drawPercentiles } from '../../charts/percentile-chart.ts';
import { drawAxes, drawBars, drawHints, PLOT } from '../../charts/plot.ts';
import { linearAxis, logAxis } from '../../charts/scale.ts';
import { type Html, html } from '../../html/html.ts';
import { formatNumber } from '../../text/number.ts';
import { tickTime } from '../../text/time-format.ts';

/** Percentiles of the tables below charts. */
const TABLED = [0, 0.5, 0.9, 0.95, 0.97, 0.99, 0.999, 0.9999, 1];

/** Distribution of latency on the axis of the tail. */
export function renderDistribution(summary: RunSummary, sorted: Float64Array): Html {
  const { drawing } = drawPercentiles({
    title: 'latency',
    distributions: [{ name: 'latency', sorted }],
    boundNs: summary.latencyBoundNs,
    marked: [0.5, 0.9, 0.99, 0.999],
  });
  const bound =
    summary.latencyBoundNs === null ? '' : ` The bound is ${formatNs(summary.latencyBoundNs)}.`;
  return renderFigure({
    title: 'Latency by percentile',
    alternative: `${percentileWords(sorted)}.${bound}`,
    legend: null,
    drawing,
    width: PLOT.width,
    height: PLOT.height,
    caption: `Completed - scheduled of ${grouped(sorted.length)} ${summary.scenario === 'MultiStream' ? 'queries' : 'samples'}: what share of them was no slower. The axis stretches the tail: each step to the right leaves a tenth of them.`,
    table: percentileTable(sorted),
    isWide: false,
  });
}

/** Distribution of dispatch lag. */
export function renderLag(lags: Float64Array): Html {
  const { drawing } = drawPercentiles({
    title: 'lag',
    distributions: [{ name: 'dispatch lag', sorted: lags }],
    boundNs: null,
    marked: [0.5, 0.99],
  });
  return renderFigure({
    title: 'Dispatch lag by percentile',
    alternative: `${percentileWords(lags)}.`,
    legend: null,
    drawing,
    width: PLOT.width,
    height: PLOT.height,
    caption: "Issued - scheduled: LoadGen's own lateness. It is part of the latency.",
    table: percentileTable(lags),
    isWide: false,
  });
}

/** Histogram of latency in bins of equal ratio. */
export function renderHistogram(sorted: Float64Array): Html {
  const bins = logHistogram(sorted);
  const first = bins[0] as Bin;
  const last = bins.at(-1) as Bin;
  const highest = bins.reduce((a, b) => (b.value > a.value ? b : a), first);
  const area = {
    x: logAxis(
      { from: first.from, to: last.to, title: 'latency (logarithmic)', format: tickTime },
      6,
    ),
    y: linearAxis({ from: 0, to: highest.value, title: 'count', format: formatNumber }),
  };
  const hints = bins.map(({ from, to, value }) => ({
    from,
    to,
    text: `${formatNs(from)} to ${formatNs(to)}: ${value}`,
  }));
  const rows = bins.map(({ from, to, value }) => [formatNs(from), formatNs(to), String(value)]);
  return renderFigure({
    title: 'Histogram of latency',
    alternative: `Most values, ${highest.value} of ${sorted.length}, lie from ${formatNs(highest.from)} to ${formatNs(highest.to)}.`,
    legend: null,
    drawing: html`${drawAxes(area)}${drawBars(area, bins, 'c1')}${drawHints(area, hints)}`,
    width: PLOT.width,
    height: PLOT.height,
    caption: `${bins.length} bins of equal ratio, from the smallest to the largest value.`,
    table: renderTable(
      ['from', 'to', 'count'].map((title) => ({ title, isNumber: true })),
      rows,
    ),
    isWide: false,
  });
}

function percentileTable(sorted: Float64Array): Html {
  const rows = TABLED.map((share) => [
    percentileName(share),
    formatNs(percentileOf(sorted, share)),
  ]);
  return renderTable(
    [
      { title: 'percentile', isNumber: false },
      { title: 'value', isNumber: true },
    ],
    rows,
  );
}

function percentileName(share: number): string {
  if (share === 0) return 'smallest';
  return share === 1 ? 'largest' : `p${Number((share * 100).toFixed(3))}`;
}

function percentileWords(sorted: Float64Array): string {
  return [0.5, 0.9, 0.99, 0.999, 1]
    .map((share) => `${percentileName(share)} ${formatNs(percentileOf(sorted, share))}`)
    .join(', ');
}
