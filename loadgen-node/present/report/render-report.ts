import { grouped } from '../../../shared/base/figures/figure-text.ts';
import { writeText } from '../../../shared/base/files/write-text.ts';
import {
  type LatencyTable,
  latencyTable,
  sortedNumbers,
} from '../../observe/figures/latency-table.ts';
import type { SampleRecords } from '../../observe/records/sample-records.ts';
import type { RunSummary } from '../../observe/summary/run-summary.ts';
import { section } from '../html/elements.ts';
import { type Html, html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import {
  recordsText,
  renderAudit,
  renderFigures,
  renderSettings,
  renderSteps,
  renderTiles,
} from './sections/figures.ts';
import { renderGenerator } from './sections/generator.ts';
import { renderDistribution, renderHistogram, renderLag } from './sections/latency.ts';
import { renderNodes, renderServers } from './sections/nodes.ts';
import { renderSplit } from './sections/split.ts';
import { renderLatencyTimeline, renderLoadTimeline, timelineOf } from './sections/timeline.ts';
import { renderHead, renderVerdict } from './sections/verdict.ts';

/** What a report is made of. */
export interface ReportInput {
  readonly summary: RunSummary;
  /** Null: there are none; the report says what is missing. */
  readonly records: SampleRecords | null;
}

/**
 * The report of a run as one HTML file: no script, nothing from the network, every text of a SUT or a user escaped. Records
 * are aggregated first: the size of the file, some hundred kB, does not grow with their number.
 */
export function renderReport({ summary, records }: ReportInput): string {
  const parts = summary.records?.parts ?? null;
  const table = records === null ? null : latencyTable(records, summary.scenario, parts);
  const charts = table === null ? missingCharts(summary) : renderCharts(summary, table);
  const body = html`${renderHead(summary)}${renderVerdict(summary)}${renderTiles(summary)}
${section('charts', 'Latency and load', html`${charts}${renderSteps(summary)}`)}${renderSplit(summary)}${renderNodes(summary, table)}${renderServers(summary)}${renderGenerator(summary)}${renderFigures(summary)}${renderAudit(summary)}${renderSettings(summary)}`;
  return renderPage({
    title: `${summary.result}: ${summary.benchmark}, ${summary.scenario}, ${summary.sutName}`,
    body,
    footer: `${recordsText(summary)} Made by longhaul ${summary.longhaul}. No figure of longhaul is an MLPerf result.`,
  });
}

/** Writes the report of a run as one page. @throws MlperfError `ERR_OUTPUT` */
export function writeRunPage(path: string, input: ReportInput): void {
  writeText(path, renderReport(input));
}

function renderCharts(summary: RunSummary, table: LatencyTable): Html {
  const sorted = sortedNumbers(table.latencyNs);
  if (sorted.length === 0) {
    return html`<p>No sample of the ${grouped(table.count)} in the records was completed: there is no latency to draw.</p>`;
  }
  const timeline = timelineOf(table);
  // In Offline all is due at the start: latency over time would show only when each was completed.
  const isOffline = summary.scenario === 'Offline';
  return html`<div class="charts">
${renderDistribution(summary, sorted)}${isOffline ? null : renderLatencyTimeline(timeline, summary.latencyBoundNs)}${renderLoadTimeline(timeline, summary.scenario)}${renderHistogram(sorted)}${summary.scenario === 'Server' ? renderLag(sortedNumbers(table.lagNs)) : null}</div>`;
}

function missingCharts({ mode, records }: RunSummary): Html {
  const why =
    records === null
      ? `the run (mode ${mode}) kept no records of its samples`
      : `the records, ${records.file}, are not beside the summary`;
  return html`<p>Missing: latency by percentile, latency and load over time, histogram, dispatch lag and latency per node, since ${why}.</p>`;
}
