import { grouped } from '../../../../shared/base/figures/figure-text.ts';
import { formatNs } from '../../../../shared/base/text/duration.ts';
import { LATENCY_PARTS, type LatencyPart } from '../../../observe/split/latency-parts.ts';
import type { PartFigures } from '../../../observe/split/split-sums.ts';
import type { RunSummary } from '../../../observe/summary/run-summary.ts';
import { renderFigure } from '../../charts/figure.ts';
import { drawLegend, drawStackedBars } from '../../charts/plot.ts';
import { htmlTable, scroll, section } from '../../html/elements.ts';
import { type Html, html } from '../../html/html.ts';
import { hasServerStatistics, SERVERS_TITLE } from './nodes.ts';

/** Who spends the time of a part. */
const ABOUT: Readonly<Record<LatencyPart, string>> = {
  dispatch: "LoadGen's own lateness",
  send: 'waiting for credit or the socket',
  network: 'what remains: wire, kernels, gRPC, event loops',
  receive: 'SUT: reading the message',
  queue: 'SUT: waiting in the queue',
  batch: 'SUT: waiting for the batch',
  preprocess: 'SUT: decoding and pre-processing',
  compute: 'SUT: inference',
  postprocess: 'SUT: post-processing',
  reply: 'SUT: writing the response',
  decode: 'LoadGen: decompressing the response',
};

const COLUMNS = ['part', 'typical', 'tail', 'grows by', 'mean', ''];

/** Where the time went: a typical sample against the slowest. */
export function renderSplit(summary: RunSummary): Html {
  const { split } = summary;
  const title = 'Where the time went';
  if (split === null) return section('split', title, html`<p>${withoutSplit(summary)}</p>`);
  const parts = LATENCY_PARTS.flatMap((name) => split.parts.filter(({ part }) => part === name));
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
  const legend = parts.map(({ part }) => ({ name: part, className: `part-${part}` }));
  const figure = renderFigure({
    title: 'Parts of the latency: typical against tail',
    alternative: `Typical ${typical.total}, tail ${tail.total}. ${split.growsMost} grows most.`,
    legend: drawLegend(legend, true),
    ...drawStackedBars([typical, tail]),
    caption: `Means over ${grouped(split.sampleCount)} samples whose parts are all known. Only lengths of time are added, no clocks are compared: network is what remains.`,
  });
  const all = htmlTable(COLUMNS, rows, (column) => column > 0 && column < 5);
  return section(
    'split',
    title,
    html`<p>${split.text}</p>
<div class="charts">${figure}\n${scroll('Parts of the latency', all)}</div>`,
  );
}

/** Why there is no split, and where else to look. */
function withoutSplit({ protocol, nodes }: RunSummary): Html {
  if (protocol !== 'oip')
    return html`No sample came with times of the SUT that can be used, so latency cannot be split.`;
  const text =
    'The Open Inference Protocol tells no times of single queries, so latency cannot be split.';
  if (!hasServerStatistics(nodes)) return html`${text}`;
  return html`${text} Means of the servers' own stand under <a href="#servers">${SERVERS_TITLE}</a>.`;
}

function bar(name: string, parts: readonly PartFigures[], of: (figures: PartFigures) => number) {
  const total = parts.reduce((sum, figures) => sum + of(figures), 0);
  const segments = parts.map((figures) => ({
    value: of(figures),
    className: `part-${figures.part}`,
    hint: `${figures.part}: ${formatNs(of(figures))} (${ABOUT[figures.part]})`,
  }));
  return { name, total: formatNs(total), segments };
}
