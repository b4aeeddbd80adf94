import { grouped } from '../../../../shared/base/figures/figure-text.ts';
import { formatNs } from '../../../../shared/base/text/duration.ts';
import {
  LATENCY_PARTS,
  type LatencyPart,
  type PartFigures,
} from '../../../observe/split/latency-parts.ts';
import type { RunSummary } from '../../../observe/summary/run-summary.ts';
import { drawStackedBars } from '../../charts/bar-chart.ts';
import { renderFigure, renderTable } from '../../charts/figure.ts';
import { drawLegend, PLOT } from '../../charts/plot.ts';
import { type Html, html } from '../../html/html.ts';
import { hasServerStatistics, SERVERS_TITLE } from './servers.ts';

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

/** Where the time went: a typical sample against the slowest. */
export function renderSplit(summary: RunSummary): Html {
  const { split } = summary;
  if (split === null) {
    return html`<section aria-labelledby="split"><h2 id="split">Where the time went</h2><p>${withoutSplit(summary)}</p></section>
`;
  }
  const parts = LATENCY_PARTS.flatMap((name) => split.parts.filter(({ part }) => part === name));
  const typical = bar('Typical: around the median', parts, ({ typicalNs }) => typicalNs);
  const tail = bar('Tail: the slowest 1 %', parts, ({ tailNs }) => tailNs);
  const { drawing, height } = drawStackedBars([typical, tail]);
  const rows = parts.map(({ part, typicalNs, tailNs, meanNs }) => [
    html`<strong>${part}</strong>`,
    formatNs(typicalNs),
    formatNs(tailNs),
    `${tailNs < typicalNs ? '-' : '+'}${formatNs(Math.abs(tailNs - typicalNs))}`,
    formatNs(meanNs),
    ABOUT[part],
  ]);
  const columns = ['part', 'typical', 'tail', 'grows by', 'mean', ''];
  return html`<section aria-labelledby="split"><h2 id="split">Where the time went</h2>
<p>${split.text}</p>
<div class="charts">${renderFigure({
    title: 'Parts of the latency: typical against tail',
    alternative: `Typical ${typical.total}, tail ${tail.total}. ${split.growsMost} grows most.`,
    legend: drawLegend(
      parts.map(({ part }) => ({ name: part, className: `part-${part}`, isArea: true })),
    ),
    drawing,
    width: PLOT.width,
    height,
    caption: `Means over ${grouped(split.sampleCount)} samples whose parts are all known. Only lengths of time are added, no clocks are compared: network is what remains.`,
    table: null,
    isWide: false,
  })}
<div class="scroll" tabindex="0" role="group" aria-label="Parts of the latency">${renderTable(
    columns.map((title, i) => ({ title, isNumber: i > 0 && i < 5 })),
    rows,
  )}</div></div></section>
`;
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

function bar(
  name: string,
  parts: readonly PartFigures[],
  of: (figures: PartFigures) => number,
): { name: string; total: string; segments: { value: number; className: string; hint: string }[] } {
  const total = parts.reduce((sum, figures) => sum + of(figures), 0);
  const segments = parts.map((figures) => ({
    value: of(figures),
    className: `part-${figures.part}`,
    hint: `${figures.part}: ${formatNs(of(figures))} (${ABOUT[figures.part]})`,
  }));
  return { name, total: formatNs(total), segments };
}
