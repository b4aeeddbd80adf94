import { join } from 'node:path';
import { at } from '../../../shared/base/at.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { writeText } from '../../../shared/base/files/read-file.ts';
import { csvField, formatNs, percentage } from '../../../shared/base/text.ts';
import {
  type BoundName,
  namedBounds,
  type QueryBound,
} from '../../loadgen/settings/query-bounds.ts';
import { renderFigure } from '../charts/percentile-chart.ts';
import { renderPicture } from '../charts/picture.ts';
import { drawLegend } from '../charts/plot.ts';
import { type Html, html, htmlTable, noteBox, scroll, section, tile } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { formatNumber, formatShare, percentileName } from '../text/figure-text.ts';
import { askedText, type CurveFindings, intervalText, loadOf } from './curve-findings.ts';
import { drawCurve } from './draw-curve.ts';
import {
  BOUND_TITLES,
  byLoad,
  CURVE_FILES,
  CURVE_PICTURES,
  completedRate,
  figureAt,
  type LoadPoint,
  type MeasuredCurve,
  timesOf,
} from './load-point.ts';

/** A curve with the header of its report. */
export interface CurveReport extends MeasuredCurve {
  /** The verb that measured it. */
  readonly madeBy: string;
  readonly title: string;
  /** Machines, model and versions, as pairs of name and text. */
  readonly facts: readonly (readonly [name: string, text: string])[];
  /** Notes that a reader needs. */
  readonly notes: readonly string[];
  readonly findings: CurveFindings;
}

/** Writes page, table and picture of a curve. @throws MlperfError `ERR_OUTPUT` */
export function writeCurve(folder: string, report: CurveReport): void {
  writeText(join(folder, CURVE_FILES.page), renderCurvePage(report));
  writeText(join(folder, CURVE_FILES.table), curveCsv(report));
  for (const bound of namedBounds(report)) {
    writeText(join(folder, CURVE_PICTURES[bound.name]), renderCurvePicture(report, bound));
  }
}

/** The curve as one HTML file, including its script; loads no other file. */
export function renderCurvePage(report: CurveReport): string {
  const { title, facts, notes, madeBy, findings } = report;
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
  html`${namedBounds(report).map((bound) => renderCurveFigure(report, bound))}`,
)}${section('points', 'Points', html`${scroll('Points', pointTable(report))}${remarksOf(report)}`)}${section('facts', 'What was measured', htmlTable(['', ''], facts, undefined))}`;
  return renderPage({
    title,
    body,
    footer: `Made by longhaul ${packageVersion()}, ${madeBy}. No figure of longhaul is an MLPerf result.`,
  });
}

const FIGURE_TITLES: Readonly<Record<BoundName, string>> = {
  latency: 'Latency over throughput',
  ttft: 'Time to the first token over throughput',
  tpot: 'Time per output token over throughput',
};

function renderCurveFigure(report: CurveReport, bound: QueryBound): Html {
  const { findings, points } = report;
  const { drawing, legend, hover } = drawCurve(report, findings, bound);
  return renderFigure({
    title: FIGURE_TITLES[bound.name],
    alternative: `${points.length} loads. ${findings.peakText} ${findings.kneeText}`,
    drawing,
    hover,
    legend: drawLegend(legend),
    caption:
      'Each dot is a load. Bands: intervals at 95 %; where too few queries tell how slow the slowest are, a band ends at its line and is open above. A pointer shows the figures of the nearest load, and dragging zooms in; the table below has all of them.',
    isWide: true,
    shrinks: true,
  });
}

/** The curve as a picture for a document. */
export function renderCurvePicture(
  report: CurveReport,
  bound: QueryBound = at(namedBounds(report), 0),
): string {
  const { drawing, legend } = drawCurve(report, report.findings, bound);
  return renderPicture({ title: report.title, lines: [], legend, drawing });
}

function tilesOf(report: CurveReport): Html {
  const { peak, peakText, knee, kneeText } = report.findings;
  const unit = report.tpotNs === undefined ? '/s' : 'tokens/s';
  const most = Math.max(0, ...report.points.map(completedRate));
  // Without a point the tile shows the first words of the text.
  const rateTile = (name: string, point: LoadPoint | null, text: string): Html =>
    point === null
      ? tile(name, /^(?:none|not known)/i.exec(text)?.[0].toLowerCase() ?? '-')
      : tile(
          name,
          `${formatNumber(completedRate(point))} ${unit}`,
          html`<small>${loadOf(point.load)} ${report.unit} asked for</small>`,
        );
  return html`<dl class="tiles">${rateTile('Peak under the bound', peak, peakText)}${rateTile('Knee', knee, kneeText)}${tile('Largest throughput', `${formatNumber(most)} ${unit}`)}${namedBounds(report).map(({ name, ns }) => tile(name === 'latency' ? 'Bound' : `Bound of ${BOUND_TITLES[name]}`, formatNs(ns), html`<small>at ${percentileName(report.percentile)}</small>`))}</dl>`;
}

function pointTable(report: CurveReport): Html {
  const { unit, points, percentile } = report;
  const times = namedBounds(report).flatMap(({ name }) =>
    sharesOf(points, name).map((share) => ({ name, share })),
  );
  const isOfTokens = report.tpotNs !== undefined;
  const titles = [
    unit,
    'completed /s',
    ...(isOfTokens ? ['tokens /s'] : []),
    'goodput',
    'queries',
    ...times.map(
      ({ name, share }) =>
        `${name === 'latency' ? '' : `${BOUND_TITLES[name]} `}${percentileName(share)}`,
    ),
    isOfTokens ? 'mean latency' : 'mean',
    'dispatch lag p99',
    'lost',
  ];
  const rows = byLoad({ points }).map((point) => [
    loadOf(point.load),
    rateText(point),
    ...(isOfTokens ? [formatNumber(completedRate(point))] : []),
    goodputText(point),
    String(point.queries),
    ...times.map(({ name, share }) => {
      const figure = figureAt(point, share, name);
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

/** Completed samples per second, with the interval if the load does not decide the rate. */
function rateText({ samplesPerSecond, rateInterval }: LoadPoint): Html | string {
  const rate = formatNumber(samplesPerSecond);
  if (rateInterval === null) return rate;
  return twoLines(rate, `${formatNumber(rateInterval.low)} to ${formatNumber(rateInterval.high)}`);
}

/** Share and rate of queries completed within every bound. */
function goodputText({ goodput }: LoadPoint): Html | string {
  if (goodput === null) return '-';
  const { share, samplesPerSecond, tokensPerSecond } = goodput;
  const rate =
    tokensPerSecond === null
      ? `${formatNumber(samplesPerSecond)} /s`
      : `${formatNumber(tokensPerSecond)} tokens/s`;
  return twoLines(formatShare(share), rate);
}

/** A figure with its interval below it. */
function twoLines(figure: Html | string, interval: string): Html {
  return html`${figure}<br><small class="quiet">${interval}</small>`;
}

function sharesOf(points: readonly LoadPoint[], name: BoundName): number[] {
  const all = points.flatMap((point) => timesOf(point, name).map(({ percentile }) => percentile));
  return [...new Set(all)].sort((a, b) => a - b);
}

/** All points as CSV (RFC 4180): times in ns; absent values are empty. */
export function curveCsv(curve: MeasuredCurve): string {
  const { unit, points } = curve;
  // A token model also has a whole latency.
  const names = [...new Set(['latency', ...namedBounds(curve).map(({ name }) => name)] as const)];
  const times = names.flatMap((name) => sharesOf(points, name).map((share) => ({ name, share })));
  const isOfTokens = curve.tpotNs !== undefined;
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
    ...times.flatMap(({ name: time, share }) => {
      const name = `${time === 'latency' ? '' : `${time}_`}${percentileName(share)}`;
      return [`${name}_ns`, `${name}_low_ns`, `${name}_high_ns`];
    }),
    'mean_ns',
    'lag_p99_ns',
    'duration_ns',
    ...['goodput', 'goodput_per_s'],
    ...(isOfTokens ? ['tokens_per_s', 'goodput_tokens_per_s'] : []),
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
    ...times.flatMap(({ name, share }) => {
      const figure = figureAt(point, share, name);
      return [figure?.valueNs, figure?.lowNs, figure?.highNs];
    }),
    point.meanNs,
    point.lagP99Ns,
    point.durationNs,
    ...[point.goodput?.share, point.goodput?.samplesPerSecond],
    ...(isOfTokens ? [point.tokens?.perSecond, point.goodput?.tokensPerSecond] : []),
    point.isGeneratorBound,
    point.isOverloaded,
    point.why,
  ]);
  return [head, ...rows].map((row) => `${row.map(csvField).join(',')}\r\n`).join('');
}
