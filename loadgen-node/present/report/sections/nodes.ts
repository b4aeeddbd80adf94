import { grouped } from '../../../../shared/base/figures/figure-text.ts';
import { formatNs } from '../../../../shared/base/text/duration.ts';
import type { LatencyTable } from '../../../observe/figures/latency-table.ts';
import type { RunSummary } from '../../../observe/summary/run-summary.ts';
import { drawStackedBars } from '../../charts/bar-chart.ts';
import { renderFigure, renderTable } from '../../charts/figure.ts';
import { seriesClass } from '../../charts/percentile-chart.ts';
import { PLOT } from '../../charts/plot.ts';
import { type Html, html } from '../../html/html.ts';
import { nodeLatencies } from '../aggregate/node-latencies.ts';
import { partText } from './figures.ts';

/** More bars than that are a list: the table has it. */
const BARS_MAX = 24;

/** Share of each SUT node, with its latencies where there are records. */
export function renderNodes({ nodes }: RunSummary, table: LatencyTable | null): Html {
  if (nodes.length === 0) return html``;
  const total = nodes.reduce((sum, { completedSamples }) => sum + completedSamples, 0);
  const latencies = new Map(
    table === null ? [] : nodeLatencies(table).map((own) => [own.node, own]),
  );
  const bars = nodes.slice(0, BARS_MAX).map(({ name, address, completedSamples }, i) => ({
    name: shortened(`${name} (${address})`),
    total: partText(completedSamples, total),
    segments: [
      { value: completedSamples, className: seriesClass(i), hint: `${name}: ${completedSamples}` },
    ],
  }));
  const { drawing, height } = drawStackedBars(bars);
  const rows = nodes.map((node, i) => {
    const own = latencies.get(i);
    return [
      node.name,
      html`<code>${node.address}</code>`,
      node.model,
      grouped(node.issuedSamples),
      partText(node.completedSamples, total),
      grouped(node.issuedSamples - node.completedSamples),
      grouped(node.failedSamples),
      own === undefined ? '-' : formatNs(own.p50Ns),
      own === undefined ? '-' : formatNs(own.p99Ns),
    ];
  });
  const columns = [
    'Node',
    'Address',
    'Model',
    'issued',
    'completed',
    'lost',
    'of them answered as failed',
    'p50',
    'p99',
  ];
  return html`<section aria-labelledby="nodes"><h2 id="nodes">SUT nodes</h2>
<div class="charts">${renderFigure({
    title: 'Share of each node',
    alternative: bars.map(({ name, total: text }) => `${name}: ${text}`).join('; '),
    legend: null,
    drawing,
    width: PLOT.width,
    height,
    caption: `Samples completed${nodes.length > BARS_MAX ? `; the first ${BARS_MAX} of ${nodes.length} nodes, the table has all` : ''}.`,
    table: null,
    isWide: false,
  })}
<div class="scroll wide" tabindex="0" role="group" aria-label="SUT nodes">${renderTable(
    columns.map((title, i) => ({ title, isNumber: i > 2 })),
    rows,
  )}</div></div></section>
`;
}

function shortened(text: string): string {
  return text.length <= 44 ? text : `${text.slice(0, 43)}…`;
}
