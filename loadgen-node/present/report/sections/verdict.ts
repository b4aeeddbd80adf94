import { formatNs, grouped } from '../../../../shared/base/text.ts';
import type { Scenario } from '../../../../shared/domain/scenario.ts';
import type { Verdict } from '../../../loadgen/engine/test-outcome.ts';
import { FIGURE_NAMES, FIGURES, type FigureName } from '../../../observe/figures/figure-names.ts';
import { generatorFinding } from '../../../observe/health/ceiling-file.ts';
import type { RunSummary } from '../../../observe/summary/run-summary.ts';
import {
  type Html,
  html,
  htmlTable,
  judged,
  noteBox,
  scroll,
  section,
  tile,
} from '../../html/html.ts';
import { figureText, formatNumber, instantText, percentileName } from '../../text/figure-text.ts';
import { STEP_TITLES, stepCells, stepVerdict } from '../../text/report-text.ts';

const RESULTS = {
  VALID: { tone: 'good', text: 'every rule was met' },
  INVALID: { tone: 'bad', text: 'a rule was not met: the figures are no result' },
  INTERRUPTED: {
    tone: 'warn',
    text: 'the run was broken off: the figures are of what was measured until then',
  },
} as const;

/**
 * Name of the run and of what was measured; what a reader has to know stands right below, and
 * nothing silences it.
 */
export function renderHead(summary: RunSummary): Html {
  const { benchmark, scenario, mode, sutName, startedAt, runId, round, division, longhaul } =
    summary;
  return html`<p class="kicker">Run report, longhaul ${longhaul}</p>
<h1>${benchmark}, ${scenario}: ${sutName}</h1>
<p class="kicker">${instantText(startedAt)} · mode ${mode} · round ${round} · division ${division} · run ${runId}</p>
${noteBox(summary.notes)}`;
}

/** Result, its reasons, LoadGen's own verdict, and whether the generator was the limit. */
export function renderVerdict(summary: RunSummary): Html {
  const { result, verdict, loadgenVerdict, accuracy, peakTargetQps, thresholds } = summary;
  const { tone, text } = RESULTS[result];
  return section(
    'verdict',
    'Verdict',
    html`<p class="verdict"><span class="${`badge ${tone}`}">${result}</span> ${text}</p>
${reasonList(verdict)}
<p>${loadgenText(loadgenVerdict)}</p>
${generatorText(summary)}
${accuracy && html`<p>Accuracy: ${accuracy.text} ${judged(accuracy.isMet, 'target met', 'target NOT met')}</p>\n`}${peakTargetQps === null ? null : html`<p>Peak that LoadGen's own search found: ${formatNumber(peakTargetQps)} queries/s keep the latency bound.</p>\n`}${thresholdList(thresholds)}
`,
  );
}

/** Null where the reasons of the verdict contain it. */
function generatorText(summary: RunSummary): Html | null {
  const { verdict, scenario, round } = summary;
  if (verdict.reasons.some(({ rule }) => rule === 'generator-bound')) return null;
  const hasSchedule = scenario === 'Server' || (scenario === 'MultiStream' && round === 'v0.5');
  const { kind, text } = generatorFinding(summary, hasSchedule);
  return html`<p${kind === 'bound' ? html` class="bad"` : null}>LoadGen: ${text}.</p>`;
}

/** The user's own conditions, which are in no verdict. */
function thresholdList(thresholds: RunSummary['thresholds']): Html | null {
  if (thresholds.length === 0) return null;
  const items = thresholds.map(
    ({ text, isMet, seenText }) =>
      html`<li>${judged(isMet, 'met', 'NOT met')} <code>${text}</code>: seen ${seenText}</li>`,
  );
  return html`<p>Thresholds of this run:</p><ul class="plain">${items}</ul>
`;
}

function loadgenText({ isValid, reasons }: Verdict): string {
  if (isValid) return "LoadGen's own verdict, as in its logs: VALID.";
  const rules = reasons.map(({ rule }) => rule).join(', ');
  return `LoadGen's own verdict, as in its logs: INVALID${rules === '' ? '' : ` (${rules})`}.`;
}

function reasonList({ reasons }: RunSummary['verdict']): Html | null {
  if (reasons.length === 0) return null;
  const given = new Set<string>();
  const items = reasons.map((reason) => {
    const { rule, text, needed, seen, advice, key } = reason;
    // Older summaries know only LoadGen's name of the setting.
    const remedy = advice ?? (key === null ? '' : `LoadGen's setting ${key}`);
    const facts = [
      ['Needed', needed],
      ['Seen', seen],
    ];
    // Two reasons may have one remedy.
    if (remedy !== '' && !given.has(remedy)) facts.push(['What changes it', remedy]);
    given.add(remedy);
    return html`<li><strong>${rule}</strong> ${text}<dl>${facts.map(([name = '', fact = '']) => html`<div><dt>${name}</dt><dd>${fact}</dd></div>`)}</dl></li>\n`;
  });
  return html`<ul class="reasons">${items}</ul>`;
}

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

/** Verdict on each rule of the division, by the evidence. */
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
