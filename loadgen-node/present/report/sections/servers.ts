import { grouped } from '../../../../shared/base/figures/figure-text.ts';
import { formatNs } from '../../../../shared/base/text/duration.ts';
import {
  SERVER_PART_WORDS,
  type ServerStatistics,
} from '../../../observe/split/server-statistics.ts';
import type { RunSummary } from '../../../observe/summary/run-summary.ts';
import { renderTable } from '../../charts/figure.ts';
import { type Html, html } from '../../html/html.ts';

/** Title of the section, which others point to as `#servers`. */
export const SERVERS_TITLE = 'What the servers say of themselves';

const TEXT_COLUMNS = 2;

/** Whether the section is there. */
export function hasServerStatistics(nodes: RunSummary['nodes']): boolean {
  return nodes.some(({ server }) => server?.statistics != null);
}

/** Statistics of servers of the Open Inference Protocol, which are theirs; nothing where none has any. */
export function renderServers({ nodes }: RunSummary): Html {
  const rows = nodes.flatMap(({ address, server }) =>
    server?.statistics
      ? [
          [
            html`<code>${address}</code>`,
            [server.name, server.version].join(' ').trim(),
            ...cells(server.statistics),
          ],
        ]
      : [],
  );
  if (rows.length === 0) return html``;
  const parts = Object.values(SERVER_PART_WORDS);
  const columns = ['Address', 'Server', 'per request', ...parts, 'requests', 'failed', 'batches'];
  return html`<section aria-labelledby="servers"><h2 id="servers">${SERVERS_TITLE}</h2>
<p>Statistics of each server, by how much they grew over the run: means per request, in which requests of other clients are. They are the server's own, say nothing of a single query, and are not part of the latencies above.</p>
<div class="scroll wide" tabindex="0" role="group" aria-label="Statistics of the servers">${renderTable(
    [...columns, 'batch'].map((title, i) => ({ title, isNumber: i >= TEXT_COLUMNS })),
    rows,
  )}</div></section>
`;
}

function cells(statistics: ServerStatistics): string[] {
  const { successCount, failCount, batchCount, meanBatchSize } = statistics;
  return [
    ...[statistics.meanNs, ...statistics.parts.map(({ meanNs }) => meanNs)].map((ns) =>
      ns === null ? '-' : formatNs(ns),
    ),
    ...[successCount, failCount, batchCount].map((count) => grouped(count)),
    meanBatchSize === null ? '-' : String(Number(meanBatchSize.toFixed(2))),
  ];
}
