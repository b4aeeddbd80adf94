import { createWriteStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCodeOf, MlperfError, outputError } from '../../../shared/base/errors/mlperf-error.ts';
import { writeText } from '../../../shared/base/files/read-file.ts';
import { grouped } from '../../../shared/base/text.ts';
import { openRunFolder, RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { readSummaryLog } from '../../loadgen/logs/read/summary-log.ts';
import {
  type LatencyTable,
  latencyTable,
  sortedNumbers,
} from '../../observe/figures/latency-table.ts';
import { type NetworkAudit, readAudit } from '../../observe/network-audit.ts';
import { csvOf } from '../../observe/records/records-reader.ts';
import type { SampleRecords } from '../../observe/records/sample-records.ts';
import {
  deriveRun,
  differencesOf,
  openRecords,
  type ReadRun,
} from '../../observe/summary/derive-run.ts';
import { boundNsOf, hasSchedule, type RunSummary } from '../../observe/summary/run-summary.ts';
import { type Html, html, section } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import type { DerivedReport } from '../text/report-text.ts';
import { renderBatchSizes } from './sections/batch-sizes.ts';
import { renderDistribution, renderHistogram, renderLag } from './sections/latency.ts';
import { renderMachines } from './sections/machines.ts';
import { renderNodes, renderServers, renderSplit } from './sections/nodes.ts';
import {
  renderGenerator,
  renderLatencyTimeline,
  renderLoadTimeline,
  timelineOf,
} from './sections/timeline.ts';
import { renderTokens } from './sections/tokens.ts';
import {
  recordsText,
  renderAudit,
  renderFigures,
  renderHead,
  renderNotes,
  renderSettings,
  renderTables,
  renderTiles,
  renderVerdict,
} from './sections/verdict.ts';

/** File name that stands for stdout. */
export const STDOUT = '-';

/**
 * Reads a run: its summary, and figures recomputed from its records.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID`
 */
export async function readReport(folder: string): Promise<DerivedReport> {
  const run = await deriveRun(folder);
  const { summary, derived } = run;
  const isComparable = summary !== null && derived !== null && derived.cut === null;
  return {
    run,
    differences: isComparable ? differencesOf(summary, derived) : null,
    loadgen: summary === null && derived === null ? await loadgenSummary(run) : null,
  };
}

/** LoadGen's summary by label: verdict, metric, settings. */
async function loadgenSummary({ folder }: ReadRun): Promise<DerivedReport['loadgen']> {
  return (await readSummaryLog(openRunFolder(folder).summary)).values;
}

/** A number if it is exact, otherwise the text. */
function ofPrograms(text: string): string | number {
  const value = Number(text);
  const isWhole = /^[+-]?\d+$/.test(text);
  const isNumber =
    text !== '' && Number.isFinite(value) && (!isWhole || Number.isSafeInteger(value));
  return isNumber ? value : text;
}

/** The report as JSON. */
export function reportDocument({
  run: { folder, summary, derived },
  differences,
  loadgen,
}: DerivedReport): object {
  return {
    folder,
    summary,
    loadgen:
      loadgen === null
        ? null
        : Object.fromEntries([...loadgen].map(([label, text]) => [label, ofPrograms(text)])),
    derived:
      derived === null
        ? null
        : {
            scenario: derived.scenario,
            rows: derived.rowCount,
            parts: derived.parts,
            cut: derived.cut,
            figures: derived.figures,
            split: derived.split,
            nodes: derived.nodes,
          },
    isEqual: differences === null ? null : differences.length === 0,
    differences: differences ?? [],
  };
}

/** True if every figure of the summary follows from the records, or if there are no records. */
export function followsFromRecords({ run: { derived }, differences }: DerivedReport): boolean {
  const isCut = derived !== null && derived.cut !== null;
  return !isCut && (differences === null || differences.length === 0);
}

/**
 * Input of a run's page: its summary, and the records as read now.
 * @throws MlperfError `ERR_CONFIG_FILE` without a summary
 */
export function pageOf({ folder, summary, derived }: ReadRun): ReportInput {
  if (summary === null) {
    const text = `${folder} has no ${RUN_FILES.runSummary}: without a result there is no page`;
    throw new MlperfError('ERR_CONFIG_FILE', text);
  }
  const hasAudit = existsSync(join(folder, RUN_FILES.audit));
  const audit = hasAudit ? readAudit(folder) : null;
  return { summary, records: derived?.records ?? null, audit };
}

/**
 * Writes all records as CSV; a reader that stops early (such as head) is no error.
 * @throws MlperfError
 */
export async function writeCsv(folder: string, file: string): Promise<void> {
  const reader = await openRecords(folder);
  if (reader === null) {
    openRunFolder(folder);
    throw new MlperfError(
      'ERR_CONFIG_FILE',
      `${folder} has no ${RUN_FILES.records} to write as CSV`,
    );
  }
  const isStdout = file === STDOUT;
  try {
    const target = isStdout ? process.stdout : createWriteStream(file);
    await pipeline(Readable.from(csvOf(reader)), target, { end: !isStdout });
  } catch (error) {
    if (error instanceof MlperfError) throw error;
    if (isStdout && errorCodeOf(error) === 'EPIPE') return;
    throw outputError(`cannot write ${isStdout ? 'CSV to stdout' : file}`, error);
  } finally {
    await reader.close();
  }
}

/** Input of a report. */
interface ReportInput {
  readonly summary: RunSummary;
  /** Null without records; the report states what is missing. */
  readonly records: SampleRecords | null;
  /** Descriptions of both ends; null (default) if unknown. */
  readonly audit?: NetworkAudit | null;
}

/**
 * The report of a run as one HTML file that loads no other file, with every text of a SUT or a user
 * escaped. Records are aggregated first: the file has some hundred kB for any number of records.
 */
export function renderReport({ summary, records, audit = null }: ReportInput): string {
  const table = records === null ? null : latencyTable(records, summary.scenario);
  const charts = table === null ? missingCharts(summary) : renderCharts(summary, table);
  const body = html`${renderHead(summary)}${renderTiles(summary)}${renderVerdict(summary)}${renderMachines(summary, audit)}
${section('charts', 'Latency and load', html`${charts}${renderTables(summary)}`)}${records === null || table === null ? null : renderTokens(summary, records, table)}${renderSplit(summary)}${renderNodes(summary, table, renderBatchSizes(records, audit))}${renderServers(summary)}${renderGenerator(summary)}${renderFigures(summary)}${renderAudit(summary)}${renderSettings(summary)}${renderNotes(summary)}`;
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
  // In Offline everything is due at the start: latency over time would only show completion times.
  const isOffline = summary.scenario === 'Offline';
  return html`<div class="charts">
${renderDistribution(summary, sorted)}${isOffline ? null : renderLatencyTimeline(timeline, boundNsOf('latency', summary))}${renderLoadTimeline(timeline, summary.scenario)}${renderHistogram(sorted)}${summary.scenario === 'Server' && hasSchedule(summary) ? renderLag(sortedNumbers(table.lagNs)) : null}</div>`;
}

function missingCharts({ mode, records }: RunSummary): Html {
  const why =
    records === null
      ? `the run (mode ${mode}) kept no records of its samples`
      : `the records, ${records.file}, are not beside the summary`;
  return html`<p>Missing: latency by percentile, latency and load over time, histogram, dispatch lag and latency per node, since ${why}.</p>`;
}
