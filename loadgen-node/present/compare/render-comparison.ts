import { latencyTable, sortedNumbers } from '../../observe/figures/latency-table.ts';
import { renderFigure } from '../charts/figure.ts';
import { drawPercentiles } from '../charts/percentile-chart.ts';
import { htmlTable, judged, noteBox, scroll, section } from '../html/elements.ts';
import { type Html, html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { instantText, timeOrDash } from '../text/figure-text.ts';
import type { FigureDifference, RunComparison } from './compare-runs.ts';
import type { ConditionResult } from './fail-conditions.ts';
import { COLUMNS, type ComparisonResult, cells, METHOD, settingTexts } from './print-comparison.ts';

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
${noteBox(notes)}
${failures.map((text) => html`<p class="bad">FAILED: ${text}</p>`)}
${conditions.length === 0 ? null : section('conditions', 'Conditions', html`<ul class="plain">${conditions.map(conditionItem)}</ul>`)}
${section('runs', 'Runs', html`<div class="charts">${distributionFigure(comparison)}${runTable(comparison)}</div>`)}
${others.map(({ folder }, i) =>
  section(
    `against-${i}`,
    `${folder} against ${base?.folder ?? ''}`,
    differenceTable(comparison, i + 1),
  ),
)}
<p>${METHOD}</p>`;
  const footer = 'Made by longhaul compare. No figure of longhaul is an MLPerf result.';
  return renderPage({ title, body, footer });
}

function conditionItem({ text, isSure, folder, holds, seen }: ConditionResult): Html {
  const flag = isSure ? '--fail-if-sure' : '--fail-if';
  return html`<li>${judged(!holds, 'passed', 'FAILED')} <code>${flag} ${text}</code>: ${folder} has ${seen}</li>`;
}

function settingsTable({ settings, runs }: RunComparison): Html {
  if (settings.length === 0) return html`<p>No setting differs.</p>`;
  const all = htmlTable(
    ['Setting', ...runs.map(({ folder }) => folder)],
    settings.map(({ name, values }) => [html`<code>${name}</code>`, ...settingTexts(values)]),
  );
  const title = 'Settings that differ';
  return section(
    'settings',
    title,
    html`<p>A difference of the figures below may be theirs.</p>${scroll(title, all)}`,
  );
}

function runTable({ runs }: RunComparison): Html {
  const rows = runs.map(({ folder, summary }) => [
    folder,
    judged(summary.result === 'VALID', 'VALID', summary.result),
    instantText(summary.startedAt),
    summary.sutName,
    summary.longhaul,
  ]);
  return scroll('Runs', htmlTable(['Run', 'Result', 'Started', 'SUT', 'longhaul'], rows));
}

function distributionFigure({ runs }: RunComparison): Html {
  const distributions = runs.map(({ folder, summary, records }) => {
    const { latencyNs } = latencyTable(records, summary.scenario, summary.records?.parts ?? null);
    return { name: folder, sorted: sortedNumbers(latencyNs) };
  });
  const boundNs = runs[0]?.summary.latencyBoundNs ?? null;
  const p99s = runs.map(
    ({ folder, summary }) => `${folder}: p99 ${timeOrDash(summary.figures.p99)}`,
  );
  return renderFigure({
    title: 'Latency by percentile',
    alternative: `${p99s.join('; ')}. The tables below have all figures.`,
    ...drawPercentiles({ title: 'latency', distributions, boundNs, marked: [] }),
    caption:
      'Completed - scheduled: what share was no slower. The axis stretches the tail: each step to the right leaves a tenth.',
  });
}

const TONES = { better: 'good', worse: 'bad', other: 'warn', same: 'quiet' } as const;

function differenceTable({ rows }: RunComparison, index: number): Html {
  const body = rows.map(({ figure, about, runs }) => {
    const own = runs[index] as FigureDifference;
    const texts = cells(figure, runs[0] as FigureDifference, own);
    const tone = own.judgement === null ? 'quiet' : TONES[own.judgement];
    const judgement = html`<span class="${`nowrap ${tone}`}">${texts[5] as string}</span>`;
    return [html`<code title="${about}">${figure}</code>`, ...texts.slice(1, 5), judgement];
  });
  const all = htmlTable(['Figure', ...COLUMNS], body, (column) => column > 0 && column < 5);
  return scroll('Differences', all);
}
