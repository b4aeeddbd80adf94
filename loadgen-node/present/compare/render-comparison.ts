import { latencyTable, sortedNumbers } from '../../observe/figures/latency-table.ts';
import { renderFigure, renderTable } from '../charts/figure.ts';
import { drawPercentiles } from '../charts/percentile-chart.ts';
import { PLOT } from '../charts/plot.ts';
import { type Html, html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { renderNotes } from '../report/sections/verdict.ts';
import { figureText, instantText } from '../text/figure-text.ts';
import { CONFIDENCE, type FigureDifference, type RunComparison } from './compare-runs.ts';
import { type ComparisonResult, cells, METHOD, settingTexts } from './print-comparison.ts';

/** The comparison as an HTML page of its own: distributions over one another, and the table. */
export function renderComparison(result: ComparisonResult): string {
  const { comparison, notes, conditions, failures } = result;
  const { runs } = comparison;
  const [base, ...others] = runs;
  const names = runs.map(({ folder }) => folder);
  const title = `${base?.summary.benchmark}, ${base?.summary.scenario}: ${names.join(' against ')}`;
  const body = html`<p class="kicker">longhaul compare</p>
<h1>${title}</h1>
${settingsTable(comparison)}
${renderNotes(notes)}
${failures.map((text) => html`<p class="bad">FAILED: ${text}</p>`)}
${
  conditions.length === 0
    ? null
    : html`<section aria-labelledby="conditions"><h2 id="conditions">Conditions</h2><ul class="plain">${conditions.map(
        ({ text, isSure, folder, holds, seen }) =>
          html`<li><strong class="${holds ? 'bad' : 'good'}">${holds ? 'FAILED' : 'passed'}</strong> <code>${isSure ? '--fail-if-sure' : '--fail-if'} ${text}</code>: ${folder} has ${seen}</li>`,
      )}</ul></section>`
}
<section aria-labelledby="runs"><h2 id="runs">Runs</h2><div class="charts">${distributionFigure(comparison)}${runTable(comparison)}</div></section>
${others.map(
  ({ folder }, i) =>
    html`<section aria-labelledby="${`against-${i}`}"><h2 id="${`against-${i}`}">${folder} against ${base?.folder ?? ''}</h2>${differenceTable(comparison, i + 1)}</section>`,
)}
<p>${METHOD}</p>`;
  return renderPage({
    title,
    body,
    footer: `Made by longhaul compare. No figure of longhaul is an MLPerf result.`,
  });
}

function settingsTable({ settings, runs }: RunComparison): Html {
  if (settings.length === 0) return html`<p>No setting differs.</p>`;
  const columns = ['Setting', ...runs.map(({ folder }) => folder)];
  return html`<section aria-labelledby="settings"><h2 id="settings">Settings that differ</h2>
<p>A difference of the figures below may be theirs.</p><div class="scroll" tabindex="0" role="group" aria-label="Settings that differ">${renderTable(
    columns.map((title) => ({ title, isNumber: false })),
    settings.map(({ name, values }) => [html`<code>${name}</code>`, ...settingTexts(values)]),
  )}</div></section>
`;
}

function runTable({ runs }: RunComparison): Html {
  const columns = ['Run', 'Result', 'Started', 'SUT', 'longhaul'];
  const rows = runs.map(({ folder, summary }) => [
    folder,
    html`<strong class="${summary.result === 'VALID' ? 'good' : 'bad'}">${summary.result}</strong>`,
    instantText(summary.startedAt),
    summary.sutName,
    summary.longhaul,
  ]);
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Runs">${renderTable(
    columns.map((title) => ({ title, isNumber: false })),
    rows,
  )}</div>`;
}

function distributionFigure({ runs }: RunComparison): Html {
  const distributions = runs.map(({ folder, summary, records }) => {
    const table = latencyTable(records, summary.scenario, summary.records?.parts ?? null);
    return { name: folder, sorted: sortedNumbers(table.latencyNs) };
  });
  const { drawing, legend } = drawPercentiles({
    title: 'latency',
    distributions,
    boundNs: runs[0]?.summary.latencyBoundNs ?? null,
    marked: [],
  });
  const p99s = runs.map(({ folder, summary }) => {
    const { p99 } = summary.figures;
    return `${folder}: p99 ${p99 === undefined ? '-' : figureText('p99', p99)}`;
  });
  return renderFigure({
    title: 'Latency by percentile',
    alternative: `${p99s.join('; ')}. The tables below have all figures.`,
    legend,
    drawing,
    width: PLOT.width,
    height: PLOT.height,
    caption:
      'Completed - scheduled: what share was no slower. The axis stretches the tail: each step to the right leaves a tenth.',
    table: null,
    isWide: false,
  });
}

function differenceTable({ rows }: RunComparison, index: number): Html {
  const columns = ['Figure', 'base', 'run', 'difference', `${CONFIDENCE * 100} % interval`, ''];
  const tones = { better: 'good', worse: 'bad', other: 'warn', same: 'quiet' } as const;
  const body = rows.map(({ figure, about, runs }) => {
    const own = runs[index] as FigureDifference;
    const texts = cells(figure, runs[0] as FigureDifference, own);
    const judgement = html`<span class="${`nowrap ${own.judgement === null ? 'quiet' : tones[own.judgement]}`}">${texts[5] as string}</span>`;
    return [html`<code title="${about}">${figure}</code>`, ...texts.slice(1, 5), judgement];
  });
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Differences">${renderTable(
    columns.map((title, i) => ({ title, isNumber: i > 0 && i < 5 })),
    body,
  )}</div>`;
}
