import { at } from '../../../shared/base/at.ts';
import { FIGURES } from '../../observe/figures/figure-names.ts';
import { latencyTable, sortedNumbers } from '../../observe/figures/latency-table.ts';
import { labelText } from '../../observe/summary/run-labels.ts';
import { boundNsOf } from '../../observe/summary/run-summary.ts';
import { drawIntervals, type IntervalPoint } from '../charts/interval-chart.ts';
import { drawPercentiles, renderFigure } from '../charts/percentile-chart.ts';
import { type Html, html, htmlTable, judged, noteBox, scroll, section } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { figureText, instantText, tickTime, timeOrDash } from '../text/figure-text.ts';
import { metricText } from '../text/headline.ts';
import type { RunComparison } from './compare-runs.ts';
import { COLUMNS, cells, JUDGEMENTS } from './difference-text.ts';
import {
  type ComparisonResult,
  type ConditionResult,
  METHOD,
  settingTexts,
} from './print-comparison.ts';
import { type RunSeries, seriesCells, seriesTitles } from './run-series.ts';

/** The comparison as a standalone HTML page: overlaid distributions, and tables. */
export function renderComparison(result: ComparisonResult): string {
  const { comparison, notes, conditions, failures, isRefused } = result;
  const { runs } = comparison;
  const [base] = runs;
  const names = runs.map(({ folder }) => folder);
  const what = runs.length === 2 ? names.join(' against ') : `${runs.length} runs`;
  const title = `${base?.summary.benchmark}, ${base?.summary.scenario}: ${what}`;
  const body = html`<p class="kicker">longhaul compare</p>
<h1>${title}</h1>
${failures.map((text) => html`<p class="bad">FAILED: ${text}</p>`)}
${cautionText(result)}
${conditions.length === 0 ? null : section('conditions', 'Conditions', html`<ul class="plain">${conditions.map(conditionItem)}</ul>`)}
${section('runs', 'Runs', runTable(comparison))}
${isRefused ? null : figuresOf(result)}
${settingsTable(comparison)}
${noteBox(notes)}
${isRefused ? null : html`<p>${METHOD}</p>`}`;
  const footer = 'Made by longhaul compare. No figure of longhaul is an MLPerf result.';
  return renderPage({ title, body, footer });
}

/** Charts and tables: all figures for two runs; for more, the main figures first. */
function figuresOf(result: ComparisonResult): Html {
  const { comparison, series, by } = result;
  const [base, ...others] = comparison.runs;
  const isOpen = others.length === 1;
  const pairs = others.map(({ folder }, i) => {
    const title = `${folder} against ${base?.folder ?? ''}`;
    const table = differenceTable(comparison, i + 1);
    return isOpen
      ? section(`against-${i}`, title, table)
      : html`<details><summary>All figures: ${title}</summary>${table}</details>\n`;
  });
  const main = section(
    'series',
    by === null ? 'Main figures' : `Main figures by ${by}`,
    html`<div class="charts">${series.filter(isDrawn).map((one) => seriesFigure(one, by))}</div>${series.filter((one) => !isDrawn(one)).map(({ figure }) => html`<p>${figure} is 0 in every run.</p>`)}`,
  );
  const latency = distributionFigure(comparison);
  return html`${series.length === 0 ? null : main}
${latency && section('latency', 'Latency', html`<div class="charts">${latency}</div>`)}
${pairs}`;
}

function cautionText({ cautions, isRefused }: ComparisonResult): Html {
  if (cautions.length === 0)
    return html`<p><strong class="good">Comparable.</strong> Scenario, bound, benchmark, model, rate, machines and link are the same.</p>`;
  return html`<div class="cautions"><p><strong class="warn">${isRefused ? 'Not comparable.' : 'Compare with care.'}</strong></p>
<ul class="plain">${cautions.map((text) => html`<li>${text}</li>`)}</ul></div>`;
}

function conditionItem({ text, isSure, folder, holds, seen }: ConditionResult): Html {
  const flag = isSure ? '--fail-if-sure' : '--fail-if';
  return html`<li>${judged(!holds, 'passed', 'FAILED')} <code>${flag} ${text}</code>: ${folder} has ${seen}</li>`;
}

function settingsTable({ settings, runs }: RunComparison): Html {
  if (settings.length === 0) return html`<p>No setting that moves a figure differs.</p>`;
  const all = htmlTable(
    ['Setting', ...runs.map(({ folder }) => folder)],
    settings.map(({ name, values }) => [html`<code>${name}</code>`, ...settingTexts(values)]),
  );
  const title = 'Settings that differ';
  return section(
    'settings',
    title,
    html`<p>A difference of the figures may be theirs.</p>${scroll(title, all)}`,
  );
}

const RUN_COLUMNS = ['Run', 'Result', 'Started', 'Metric', 'p99', 'Labels', 'SUT', 'longhaul'];

function runTable({ runs }: RunComparison): Html {
  const rows = runs.map(({ folder, summary }, i) => [
    i === 0 ? html`${folder} <span class="quiet">(base)</span>` : folder,
    judged(summary.result === 'VALID', 'VALID', summary.result),
    html`<span class="nowrap">${instantText(summary.startedAt)}</span>`,
    html`<span class="nowrap">${metricText(summary)}</span>`,
    html`<span class="nowrap">${timeOrDash(summary.figures.p99)}</span>`,
    labelText(summary.labels) || '-',
    summary.sutName,
    summary.longhaul,
  ]);
  return scroll('Runs', htmlTable(RUN_COLUMNS, rows));
}

/** False for a figure that is 0 in every run; it becomes a sentence. */
function isDrawn({ rows }: RunSeries): boolean {
  return rows.some(({ own }) => own.value !== 0);
}

/** Colour of a judgement in a trend. */
const CLASSES = { better: 'c5', worse: 'c6', other: 'c2', same: 'c1' } as const;

function seriesFigure({ figure, rows }: RunSeries, by: string | null): Html {
  const { about } = FIGURES[figure];
  const format =
    FIGURES[figure].unit === 'ns' ? tickTime : (value: number) => figureText(figure, value);
  const points = rows.flatMap(({ name, folder, own, isBase }): IntervalPoint[] => {
    const { value, interval, judgement } = own;
    if (value === null) return [];
    const said = judgement === null || isBase ? '' : `, ${JUDGEMENTS[judgement]}`;
    const hint = `${name === folder ? '' : `${name}, `}${folder}: ${figureText(figure, value)}${said}`;
    const className = isBase || judgement === null ? 'c3' : CLASSES[judgement];
    // The folder's own name: parent folders are mostly the same.
    const shown = name.split('/').findLast((part) => part !== '') ?? name;
    return [{ name: shown, value, interval, className, hint }];
  });
  const baseline = rows.find(({ isBase }) => isBase)?.own.value ?? null;
  const cellsOf = rows.map((row) => seriesCells(figure, row, by));
  const firstNumber = by === null ? 2 : 3;
  return renderFigure({
    title: `${figure}: ${about}`,
    alternative: points.map(({ hint }) => hint).join('; '),
    drawing: drawIntervals(points, { title: '', format, baseline }),
    caption:
      'The bar is the 95 % interval; the dashed line is the base. Green: surely better; red: surely worse; blue: within the noise; grey: not judged.',
    table: htmlTable(seriesTitles(by), cellsOf, (column) => column === firstNumber),
  });
}

function distributionFigure({ runs }: RunComparison): Html | null {
  const distributions = runs.flatMap(({ folder, summary, records }) => {
    if (records === null) return [];
    const { latencyNs } = latencyTable(records, summary.scenario);
    return { name: folder, sorted: sortedNumbers(latencyNs) };
  });
  if (distributions.length === 0) return null;
  const boundNs = runs[0] ? boundNsOf('latency', runs[0].summary) : null;
  const p99s = runs.map(
    ({ folder, summary }) => `${folder}: p99 ${timeOrDash(summary.figures.p99)}`,
  );
  return renderFigure({
    title: 'Latency by percentile',
    alternative: `${p99s.join('; ')}. The tables below have all figures.`,
    ...drawPercentiles({ title: 'latency', distributions, boundNs, marked: [] }),
    caption:
      'Completed - scheduled: what share was no slower. The axis stretches the tail: each step to the right leaves a tenth.',
    isWide: true,
  });
}

const TONES = { better: 'good', worse: 'bad', other: 'warn', same: 'quiet' } as const;

function differenceTable({ rows }: RunComparison, index: number): Html {
  const body = rows.map(({ figure, about, runs }) => {
    const own = at(runs, index);
    const texts = cells(figure, at(runs, 0), own);
    const tone = own.judgement === null ? 'quiet' : TONES[own.judgement];
    const judgement = html`<span class="${`nowrap ${tone}`}">${at(texts, 5)}</span>`;
    return [html`<code title="${about}">${figure}</code>`, ...texts.slice(1, 5), judgement];
  });
  const all = htmlTable(['Figure', ...COLUMNS], body, (column) => column > 0 && column < 5);
  return scroll('Differences', all);
}
