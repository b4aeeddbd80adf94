import { protocolNamed } from '../../../../qdl/protocols/index.ts';
import { formatNs, grouped } from '../../../../shared/base/text.ts';
import { ExactDistribution } from '../../../observe/figures/exact-distribution.ts';
import type { LatencyTable } from '../../../observe/figures/latency-table.ts';
import { LATENCY_PARTS, type LatencyPart } from '../../../observe/split/latency-parts.ts';
import {
  SERVER_PART_WORDS,
  type ServerStatistics,
} from '../../../observe/split/server-statistics.ts';
import type { FirstTokenPart, PartFigures } from '../../../observe/split/split-sums.ts';
import { leftOutText } from '../../../observe/split/split-text.ts';
import type { RunSummary } from '../../../observe/summary/run-summary.ts';
import { renderFigure } from '../../charts/percentile-chart.ts';
import { drawLegend, drawStackedBars, seriesClass } from '../../charts/plot.ts';
import { type Html, html, htmlTable, scroll, section } from '../../html/html.ts';
import { fitText, formatShare, timeOrDash } from '../../text/figure-text.ts';
import { renderUse, useCells } from './use.ts';

/** Most bars; with more nodes the table is enough. */
const BARS_MAX = 24;

const COLUMNS = [
  ...['Node', 'Address', 'Model', 'issued', 'completed', 'lost', 'of them with an error'],
  ...['p50', 'p99'],
];
const USE_COLUMNS = ['cores busy', 'memory'];

/** Share of each SUT node, with latencies if there are records. */
export function renderNodes(
  { nodes }: RunSummary,
  latencies: LatencyTable | null,
  batches: Html | null = null,
): Html | null {
  if (nodes.length === 0) return null;
  const total = nodes.reduce((sum, { completedSamples }) => sum + completedSamples, 0);
  const ofNodes = latencies === null ? [] : latenciesOfNodes(latencies);
  const bars = nodes.slice(0, BARS_MAX).map(({ name, address, completedSamples: value }, i) => ({
    name: fitText(`${name} (${address})`, 44),
    total: partText(value, total),
    segments: [{ value, className: seriesClass(i), hint: `${name}: ${value}` }],
  }));
  const hasUse = nodes.some(({ usage }) => usage !== undefined);
  const rows = nodes.map((node, i) => [
    node.name,
    html`<code>${node.address}</code>`,
    node.model,
    grouped(node.issuedSamples),
    partText(node.completedSamples, total),
    grouped(node.issuedSamples - node.completedSamples),
    grouped(node.failedSamples),
    ...[0.5, 0.99].map((share) => timeOrDash(ofNodes[i]?.percentileNs(share))),
    ...(hasUse ? useCells(node.usage) : []),
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
    htmlTable(hasUse ? [...COLUMNS, ...USE_COLUMNS] : COLUMNS, rows, (column) => column > 2),
    'scroll wide',
  );
  return section(
    'nodes',
    'SUT nodes',
    html`<div class="charts">${figure}\n${batches}${renderUse(nodes)}${all}</div>`,
  );
}

/** Latencies by node number, without lost samples. */
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

/** A node's samples and their share: `12 (12 %)`. */
function partText(part: number, whole: number): string {
  return whole === 0 ? String(part) : `${grouped(part)} (${formatShare(part / whole)})`;
}

const SERVER_COLUMNS = [
  ...['Address', 'Server', 'per request'],
  ...Object.values(SERVER_PART_WORDS),
  ...['requests', 'failed', 'batches', 'batch'],
];

/**
 * Statistics reported by servers of the Open Inference Protocol; absent if no server reports any.
 */
export function renderServers({ nodes }: RunSummary): Html | null {
  const rows = nodes.flatMap(({ address, server }) => {
    if (!server?.statistics) return [];
    const name = [server.name, server.version].join(' ').trim();
    return [[html`<code>${address}</code>`, name, ...cells(server.statistics)]];
  });
  if (rows.length === 0) return null;
  return section(
    'servers',
    'What the servers report about themselves',
    html`<p>Statistics of each server, by how much they grew over the run: means per request, including requests of other clients. They are the server's own, do not describe single queries, and are not part of the latencies above.</p>
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

/** A part of the latency, or of the time to the first token. */
type AnyPart = LatencyPart | FirstTokenPart;

/** Who spends the time of a part. */
const ABOUT: Readonly<Record<AnyPart, string>> = {
  dispatch: 'dispatch lag: issued later than scheduled',
  send: 'waiting for credit or the socket',
  network: 'what remains: wire, kernels, gRPC, event loops',
  receive: 'SUT: reading the message',
  queue: 'SUT: waiting in the queue',
  batch: 'SUT: waiting for a worker',
  preprocess: 'SUT: decoding and pre-processing',
  prompt: 'what remains: the model on the prompt, other prompts and steps before it, network',
  compute: 'SUT: inference',
  postprocess: 'SUT: post-processing',
  reply: 'SUT: writing the response',
  decode: 'LoadGen: decompressing the response',
};

const PART_COLUMNS = ['part', 'typical', 'tail', 'grows by', 'mean', ''];

/**
 * Where the time went, for a typical sample and for the slowest ones; absent if no server reports
 * it.
 */
export function renderSplit({ split, protocol }: RunSummary): Html | null {
  const title = 'Where the time went';
  if (split === null) {
    const why =
      'No sample came with times of the SUT that can be used, so latency cannot be split.';
    const { hasDurations } = protocolNamed(protocol).traits;
    return hasDurations ? section('split', title, html`<p>${why}</p>`) : null;
  }
  // The remaining samples were selected by their times: their parts do not represent the run.
  if (leftOutText(split) !== null) return section('split', title, html`<p>${split.text}</p>`);
  const { tokens } = split;
  const parts =
    tokens?.parts ??
    LATENCY_PARTS.flatMap((name) => split.parts.filter(({ part }) => part === name));
  const what = tokens === undefined ? 'latency' : 'time to the first token';
  const { sampleCount, growsMost } = tokens ?? split;
  const typical = bar('Typical: around the median', parts, ({ typicalNs }) => typicalNs);
  const tail = bar('Tail: the slowest 1 %', parts, ({ tailNs }) => tailNs);
  const rows = parts.map(({ part, typicalNs, tailNs, meanNs }) => [
    html`<strong>${part}</strong>`,
    formatNs(typicalNs),
    formatNs(tailNs),
    `${tailNs < typicalNs ? '-' : '+'}${formatNs(Math.abs(tailNs - typicalNs))}`,
    formatNs(meanNs),
    ABOUT[part],
  ]);
  const legend = parts.map(({ part }) => ({
    name: part,
    className: `part-${part}`,
    form: 'area' as const,
  }));
  const remainder = tokens === undefined ? 'network' : 'prompt';
  const figure = renderFigure({
    title: `Parts of the ${what}: typical against tail`,
    alternative: `Typical ${typical.total}, tail ${tail.total}. ${growsMost} grows most.`,
    legend: drawLegend(legend),
    ...drawStackedBars([typical, tail]),
    caption: `Means over ${grouped(sampleCount)} samples whose parts are all known. Only lengths of time are added, no clocks are compared: ${remainder} is what remains.`,
  });
  const all = htmlTable(PART_COLUMNS, rows, (column) => column > 0 && column < 5);
  return section(
    'split',
    title,
    html`<p>${split.text}</p>
<div class="charts">${figure}\n${scroll(`Parts of the ${what}`, all, 'scroll wide cells')}</div>`,
  );
}

function bar(
  name: string,
  parts: readonly PartFigures<AnyPart>[],
  of: (figures: PartFigures<AnyPart>) => number,
) {
  const total = parts.reduce((sum, figures) => sum + of(figures), 0);
  const segments = parts.map((figures) => ({
    value: of(figures),
    className: `part-${figures.part}`,
    hint: `${figures.part}: ${formatNs(of(figures))} (${ABOUT[figures.part]})`,
  }));
  return { name, total: formatNs(total), segments };
}
