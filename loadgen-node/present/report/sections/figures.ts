import { grouped } from '../../../../shared/base/figures/figure-text.ts';
import { formatNs } from '../../../../shared/base/text/duration.ts';
import type { Scenario } from '../../../../shared/domain/scenario.ts';
import { FIGURE_NAMES, FIGURES, type FigureName } from '../../../observe/figures/figure-names.ts';
import type { RunSummary } from '../../../observe/summary/run-summary.ts';
import { htmlTable, scroll, section, tile } from '../../html/elements.ts';
import { type Html, html } from '../../html/html.ts';
import { figureText, percentileName } from '../../text/figure-text.ts';
import { STEP_TITLES, stepCells, stepVerdict } from '../../text/step-text.ts';

/** The tiles of each scenario. */
const MAIN: Readonly<Record<Scenario, readonly FigureName[]>> = {
  Server: [
    ...(['scheduled_qps', 'completed_qps', 'p50', 'p99', 'p99.9'] as const),
    ...(['overlatency', 'lag_p99', 'queries', 'errors'] as const),
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
    return tile(name, figureText(name, value), html`<small>${tileNote(summary, name)}</small>`);
  });
  return tiles.length === 0
    ? html`<p>No performance figures: the run was of mode ${summary.mode}.</p>`
    : html`<dl class="tiles">${tiles}</dl>`;
}

function tileNote(
  { scenario, targetPercentile, latencyBoundNs }: RunSummary,
  name: FigureName,
): string {
  const isTarget = targetPercentile !== null && name === percentileName(targetPercentile);
  if (isTarget && latencyBoundNs !== null) return `bound: ${formatNs(latencyBoundNs)}`;
  const isStream = scenario === 'SingleStream' || scenario === 'MultiStream';
  if (isTarget && isStream) return 'the metric of the scenario';
  if (name === 'scheduled_qps' || (scenario === 'Offline' && name === 'completed_qps'))
    return 'samples per second: the metric';
  return FIGURES[name].about;
}

/** All figures by the names that thresholds and comparisons use. */
export function renderFigures({ figures }: RunSummary): Html | null {
  const rows = FIGURE_NAMES.flatMap((name) => {
    const value = figures[name];
    if (value === undefined) return [];
    return [[html`<code>${name}</code>`, figureText(name, value), FIGURES[name].about]];
  });
  if (rows.length === 0) return null;
  const all = htmlTable(['Name', 'Value', 'What it is'], rows, (column) => column === 1);
  return section('figures', 'All figures', scroll('All figures', all));
}

/** The steps of the arrivals; nothing for a run without steps. */
export function renderSteps({ loadTest }: RunSummary): Html | null {
  const steps = loadTest?.steps ?? null;
  if (steps === null) return null;
  return html`<h3>Steps of the arrivals</h3>
<p>${stepVerdict(steps)}</p>
${scroll(
  'Steps of the arrivals',
  htmlTable(STEP_TITLES, steps.map(stepCells), () => true),
)}
`;
}

/** What the evidence says about each rule of the division. */
export function renderAudit({ audit, division, protocol }: RunSummary): Html {
  const ends =
    protocol === 'oip'
      ? 'by the evidence of this end: the Open Inference Protocol leaves none of the other'
      : 'by the evidence of both ends';
  const rows = audit.map(({ rule, verdict, text }) => [
    rule,
    html`<strong class="${verdict === 'broken' ? 'bad' : 'quiet'}">${verdict}</strong>`,
    text,
  ]);
  return section(
    'audit',
    'Audit',
    rows.length === 0
      ? html`<p>There is no audit of this run.</p>`
      : html`<p>Rules of the division ${division}, ${ends}.</p>${scroll('Audit', htmlTable(['Rule', 'Verdict', 'Evidence'], rows))}`,
  );
}

/** Every setting with where it came from. */
export function renderSettings({ settings }: RunSummary): Html {
  const rows = settings.map(({ key, value, source }) => [key, value, source]);
  return section(
    'settings',
    'Settings',
    htmlTable(['Setting', 'Value', 'Source'], rows),
    'settings',
  );
}

/** Which records the figures follow from. */
export function recordsText({ records }: RunSummary): string {
  if (records === null) return 'This run kept no records.';
  const parts = records.parts.length === 1 ? '' : `, parts ${records.parts.join(', ')}`;
  return `All figures follow from the ${grouped(records.rows)} records in ${records.file}${parts}.`;
}
