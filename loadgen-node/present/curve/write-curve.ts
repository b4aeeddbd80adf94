import { join } from 'node:path';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { writeText } from '../../../shared/base/files/read-file.ts';
import { formatNs, percentage } from '../../../shared/base/text.ts';
import { renderFigure } from '../charts/percentile-chart.ts';
import { renderPicture } from '../charts/picture.ts';
import { drawLegend } from '../charts/plot.ts';
import { type Html, html, htmlTable, noteBox, scroll, section, tile } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { formatNumber, percentileName } from '../text/figure-text.ts';
import { askedText, type CurveFindings, intervalText, loadOf } from './curve-findings.ts';
import { drawCurve } from './draw-curve.ts';
import { byLoad, CURVE_FILES, type LoadPoint, type MeasuredCurve } from './load-point.ts';

/** A curve with what stands above it. */
export interface CurveReport extends MeasuredCurve {
  /** The verb that measured it. */
  readonly madeBy: string;
  readonly title: string;
  /** Machines, model and versions, in pairs of name and text. */
  readonly facts: readonly (readonly [name: string, text: string])[];
  /** Notes that a reader needs. */
  readonly notes: readonly string[];
  readonly findings: CurveFindings;
}

/** Writes page, table and picture of a curve. @throws MlperfError `ERR_OUTPUT` */
export function writeCurve(folder: string, report: CurveReport): void {
  writeText(join(folder, CURVE_FILES.page), renderCurvePage(report));
  writeText(join(folder, CURVE_FILES.table), curveCsv(report));
  writeText(join(folder, CURVE_FILES.picture), renderCurvePicture(report));
}

/** The curve as one HTML file with its script, which loads no other file. */
export function renderCurvePage(report: CurveReport): string {
  const { title, facts, notes, madeBy, findings } = report;
  const { drawing, legend, hover } = drawCurve(report, findings);
  const rows = [
    ['Peak under the bound', findings.peakText] as const,
    ['Knee', findings.kneeText] as const,
  ];
  const body = html`<p class="kicker">longhaul ${madeBy}</p>
<h1>${title}</h1>
${noteBox(notes)}${tilesOf(report)}
${section('findings', 'Findings', html`<dl class="plain">${rows.map(([name, text]) => html`<dt><strong>${name}</strong></dt><dd>${text}</dd>\n`)}</dl>`)}${section(
  'curve',
  'Throughput and latency',
  renderFigure({
    title: 'Latency over throughput',
    alternative: `${report.points.length} loads. ${findings.peakText} ${findings.kneeText}`,
    drawing,
    hover,
    legend: drawLegend(legend),
    caption:
      'Each dot is a load. Bands: intervals at 95 %; where too few queries tell how slow the slowest are, a band ends at its line and is open above. A pointer shows the figures of the nearest load, and dragging zooms in; the table below has all of them.',
    ...{ isWide: true, shrinks: true },
  }),
)}${section('points', 'Points', html`${scroll('Points', pointTable(report))}${remarksOf(report)}`)}${section('facts', 'What was measured', htmlTable(['', ''], facts, undefined))}`;
  return renderPage({
    title,
    body,
    footer: `Made by longhaul ${packageVersion()}, ${madeBy}. No figure of longhaul is an MLPerf result.`,
  });
}

/** The curve as a picture for a document. */
export function renderCurvePicture(report: CurveReport): string {
  const { drawing, legend } = drawCurve(report, report.findings);
  return renderPicture({ title: report.title, lines: [], legend, drawing });
}

function tilesOf(report: CurveReport): Html {
  const { peak, knee } = report.findings;
  const most = Math.max(0, ...report.points.map(({ samplesPerSecond }) => samplesPerSecond));
  const rateTile = (name: string, point: LoadPoint | null, note: string): Html =>
    point === null
      ? tile(name, '-')
      : tile(
          name,
          `${formatNumber(point.samplesPerSecond)} /s`,
          html`<small>${loadOf(point.load)} ${report.unit} ${note}</small>`,
        );
  return html`<dl class="tiles">${rateTile('Peak under the bound', peak, 'asked for')}${rateTile('Knee', knee, 'asked for')}${tile('Largest throughput', `${formatNumber(most)} /s`)}${tile('Bound', formatNs(report.boundNs), html`<small>at ${percentileName(report.percentile)}</small>`)}</dl>`;
}

function pointTable({ unit, points, percentile }: CurveReport): Html {
  const shares = sharesOf(points);
  const titles = [
    unit,
    'completed /s',
    'queries',
    ...shares.map(percentileName),
    'mean',
    'dispatch lag p99',
    'lost',
  ];
  const rows = byLoad({ points }).map((point) => [
    loadOf(point.load),
    rateText(point),
    String(point.queries),
    ...shares.map((share) => {
      const figure = point.latencies.find((one) => one.percentile === share);
      if (figure === undefined) return '-';
      const value = formatNs(figure.valueNs);
      const shown = share === percentile ? html`<strong>${value}</strong>` : value;
      return twoLines(shown, intervalText(figure));
    }),
    formatNs(point.meanNs),
    // Without a schedule there is no dispatch lag.
    unit === 'queries at a time' ? '-' : formatNs(point.lagP99Ns),
    point.lostSamples === 0
      ? '0'
      : `${point.lostSamples} (${percentage(point.lostSamples / (point.queries + point.lostSamples))})`,
  ]);
  return htmlTable(titles, rows, () => true);
}

/** Remarks on single points. */
function remarksOf({ unit, points }: CurveReport): Html | null {
  const said = byLoad({ points }).filter(({ why }) => why !== '');
  if (said.length === 0) return null;
  const items = said.map(
    ({ load, why }) => html`<li><strong>${askedText(unit, load)}</strong>: ${why}</li>\n`,
  );
  return html`<ul class="plain">${items}</ul>`;
}

/** Completed samples per second, with the interval where the load does not decide them. */
function rateText({ samplesPerSecond, rateInterval }: LoadPoint): Html | string {
  const rate = formatNumber(samplesPerSecond);
  if (rateInterval === null) return rate;
  return twoLines(rate, `${formatNumber(rateInterval.low)} to ${formatNumber(rateInterval.high)}`);
}

/** A figure with its interval below it. */
function twoLines(figure: Html | string, interval: string): Html {
  return html`${figure}<br><small class="quiet">${interval}</small>`;
}

function sharesOf(points: readonly LoadPoint[]): number[] {
  const all = points.flatMap(({ latencies }) => latencies.map(({ percentile }) => percentile));
  return [...new Set(all)].sort((a, b) => a - b);
}

/** All points as CSV (RFC 4180): times in ns, shares of what is absent are empty. */
export function curveCsv({ unit, points }: MeasuredCurve): string {
  const shares = sharesOf(points);
  const loadColumn = {
    'queries/s': 'asked_qps',
    'queries at a time': 'concurrency',
    streams: 'streams',
  }[unit];
  const head = [
    loadColumn,
    'scheduled_per_s',
    'completed_per_s',
    'completed_low_per_s',
    'completed_high_per_s',
    'queries',
    'lost',
    ...shares.flatMap((share) => {
      const name = percentileName(share);
      return [`${name}_ns`, `${name}_low_ns`, `${name}_high_ns`];
    }),
    'mean_ns',
    'lag_p99_ns',
    'duration_ns',
    'generator_bound',
    'overloaded',
    'why',
  ];
  const rows = byLoad({ points }).map((point) => [
    point.load,
    point.scheduledPerSecond,
    point.samplesPerSecond,
    point.rateInterval?.low,
    point.rateInterval?.high,
    point.queries,
    point.lostSamples,
    ...shares.flatMap((share) => {
      const figure = point.latencies.find((one) => one.percentile === share);
      return [figure?.valueNs, figure?.lowNs, figure?.highNs];
    }),
    point.meanNs,
    point.lagP99Ns,
    point.durationNs,
    point.isGeneratorBound,
    point.isOverloaded,
    point.why,
  ]);
  return [head, ...rows].map((row) => `${row.map(csvCell).join(',')}\r\n`).join('');
}

function csvCell(value: string | number | boolean | null | undefined): string {
  const text = String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
