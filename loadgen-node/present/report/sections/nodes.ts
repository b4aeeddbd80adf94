import { grouped } from '../../../../shared/base/figures/figure-text.ts';
import { ExactDistribution } from '../../../observe/figures/distribution.ts';
import type { LatencyTable } from '../../../observe/figures/latency-table.ts';
import {
  SERVER_PART_WORDS,
  type ServerStatistics,
} from '../../../observe/split/server-statistics.ts';
import type { RunSummary } from '../../../observe/summary/run-summary.ts';
import { renderFigure } from '../../charts/figure.ts';
import { drawStackedBars, seriesClass } from '../../charts/plot.ts';
import { htmlTable, scroll, section } from '../../html/elements.ts';
import { type Html, html } from '../../html/html.ts';
import { fitText, formatShare, timeOrDash } from '../../text/figure-text.ts';

/** More bars than that are a list: the table has it. */
const BARS_MAX = 24;

const COLUMNS = [
  ...['Node', 'Address', 'Model', 'issued', 'completed', 'lost', 'of them answered as failed'],
  ...['p50', 'p99'],
];

/** Share of each SUT node, with its latencies where there are records. */
export function renderNodes({ nodes }: RunSummary, latencies: LatencyTable | null): Html | null {
  if (nodes.length === 0) return null;
  const total = nodes.reduce((sum, { completedSamples }) => sum + completedSamples, 0);
  const ofNodes = latencies === null ? [] : latenciesOfNodes(latencies);
  const bars = nodes.slice(0, BARS_MAX).map(({ name, address, completedSamples: value }, i) => ({
    name: fitText(`${name} (${address})`, 44),
    total: partText(value, total),
    segments: [{ value, className: seriesClass(i), hint: `${name}: ${value}` }],
  }));
  const rows = nodes.map((node, i) => [
    node.name,
    html`<code>${node.address}</code>`,
    node.model,
    grouped(node.issuedSamples),
    partText(node.completedSamples, total),
    grouped(node.issuedSamples - node.completedSamples),
    grouped(node.failedSamples),
    ...[0.5, 0.99].map((share) => timeOrDash(ofNodes[i]?.percentileNs(share))),
  ]);
  const more =
    nodes.length > BARS_MAX
      ? `; the first ${BARS_MAX} of ${nodes.length} nodes, the table has all`
      : '';
  const figure = renderFigure({
    title: 'Share of each node',
    alternative: bars.map(({ name, total: text }) => `${name}: ${text}`).join('; '),
    ...drawStackedBars(bars),
    caption: `Samples completed${more}.`,
  });
  const all = scroll(
    'SUT nodes',
    htmlTable(COLUMNS, rows, (column) => column > 2),
    'scroll wide',
  );
  return section('nodes', 'SUT nodes', html`<div class="charts">${figure}\n${all}</div>`);
}

/** Latencies by the number of the node that answered; what was lost is in none. */
function latenciesOfNodes({ count, node: nodes, latencyNs }: LatencyTable): ExactDistribution[] {
  const latencies: ExactDistribution[] = [];
  for (let row = 0; row < count; row += 1) {
    const node = nodes[row] as number;
    const latency = latencyNs[row] as number;
    if (node < 0 || Number.isNaN(latency)) continue;
    latencies[node] ??= new ExactDistribution();
    latencies[node].add(latency);
  }
  return latencies;
}

/** Samples of a node with their share of all: `12 (12 %)`. */
function partText(part: number, whole: number): string {
  return whole === 0 ? String(part) : `${grouped(part)} (${formatShare(part / whole)})`;
}

/** Title of the section, which others point to as `#servers`. */
export const SERVERS_TITLE = 'What the servers say of themselves';

const SERVER_COLUMNS = [
  ...['Address', 'Server', 'per request'],
  ...Object.values(SERVER_PART_WORDS),
  ...['requests', 'failed', 'batches', 'batch'],
];

/** Whether {@link renderServers} has anything to show. */
export function hasServerStatistics(nodes: RunSummary['nodes']): boolean {
  return nodes.some(({ server }) => server?.statistics != null);
}

/** Statistics of servers of the Open Inference Protocol, which are theirs; nothing where none has any. */
export function renderServers({ nodes }: RunSummary): Html | null {
  if (!hasServerStatistics(nodes)) return null;
  const rows = nodes.flatMap(({ address, server }) => {
    if (!server?.statistics) return [];
    const name = [server.name, server.version].join(' ').trim();
    return [[html`<code>${address}</code>`, name, ...cells(server.statistics)]];
  });
  return section(
    'servers',
    SERVERS_TITLE,
    html`<p>Statistics of each server, by how much they grew over the run: means per request, in which requests of other clients are. They are the server's own, say nothing of a single query, and are not part of the latencies above.</p>
${scroll(
  'Statistics of the servers',
  htmlTable(SERVER_COLUMNS, rows, (column) => column >= 2),
  'scroll wide',
)}`,
  );
}

function cells(statistics: ServerStatistics): string[] {
  const { successCount, failCount, batchCount, meanBatchSize } = statistics;
  return [
    ...[statistics.meanNs, ...statistics.parts.map(({ meanNs }) => meanNs)].map(timeOrDash),
    ...[successCount, failCount, batchCount].map(grouped),
    meanBatchSize === null ? '-' : String(Number(meanBatchSize.toFixed(2))),
  ];
}
