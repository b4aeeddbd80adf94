import { grouped } from '../../../../shared/base/figures/figure-text.ts';
import { formatNs } from '../../../../shared/base/text/duration.ts';
import type { Scenario } from '../../../../shared/domain/scenario.ts';
import { FIGURE_NAMES, FIGURES, type FigureName } from '../../../observe/figures/figure-names.ts';
import type { RunSummary } from '../../../observe/summary/run-summary.ts';
import { renderTable } from '../../charts/figure.ts';
import { type Html, html } from '../../html/html.ts';
import { figureText } from '../../text/figure-text.ts';
import { formatShare } from '../../text/time-format.ts';

/** What is looked for first, by scenario. */
const MAIN: Readonly<Record<Scenario, readonly FigureName[]>> = {
  Server: [
    'scheduled_qps',
    'completed_qps',
    'p50',
    'p99',
    'p99.9',
    'overlatency',
    'lag_p99',
    'queries',
    'errors',
  ],
  SingleStream: ['p90', 'p50', 'p99', 'completed_qps', 'queries', 'errors'],
  MultiStream: ['p99', 'p50', 'p99.9', 'completed_qps', 'queries', 'samples', 'errors'],
  Offline: ['completed_qps', 'samples', 'p50', 'p99', 'max', 'errors'],
};

/** The main figures as tiles. */
export function renderTiles(summary: RunSummary): Html {
  const tiles = MAIN[summary.scenario].flatMap((name) => {
    const value = summary.figures[name];
    if (value === undefined) return [];
    return [
      html`<div><dt>${name}</dt><dd>${figureText(name, value)}<small>${tileNote(summary, name)}</small></dd></div>\n`,
    ];
  });
  return tiles.length === 0
    ? html`<p>No performance figures: the run was of mode ${summary.mode}.</p>`
    : html`<dl class="tiles">${tiles}</dl>`;
}

function tileNote(
  { scenario, targetPercentile, latencyBoundNs }: RunSummary,
  name: FigureName,
): string {
  const isTarget =
    targetPercentile !== null && name === `p${Number((targetPercentile * 100).toFixed(3))}`;
  if (isTarget && latencyBoundNs !== null) return `bound: ${formatNs(latencyBoundNs)}`;
  const isStream = scenario === 'SingleStream' || scenario === 'MultiStream';
  if (isTarget && isStream) return 'the metric of the scenario';
  if (name === 'scheduled_qps' || (scenario === 'Offline' && name === 'completed_qps'))
    return 'samples per second: the metric';
  return FIGURES[name].about;
}

/** All figures by the names that thresholds and comparisons use. */
export function renderFigures({ figures }: RunSummary): Html {
  const rows = FIGURE_NAMES.flatMap((name) => {
    const value = figures[name];
    return value === undefined
      ? []
      : [[html`<code>${name}</code>`, figureText(name, value), FIGURES[name].about]];
  });
  if (rows.length === 0) return html``;
  return html`<section aria-labelledby="figures"><h2 id="figures">All figures</h2>
<div class="scroll" tabindex="0" role="group" aria-label="All figures">${renderTable(
    [
      { title: 'Name', isNumber: false },
      { title: 'Value', isNumber: true },
      { title: 'What it is', isNumber: false },
    ],
    rows,
  )}</div></section>
`;
}

/** Share of samples as `12 of 100 (12 %)`. */
export function partText(part: number, whole: number): string {
  return whole === 0 ? String(part) : `${grouped(part)} (${formatShare(part / whole)})`;
}
