import { protocolNamed } from '../../../../qdl/protocols/index.ts';
import { counted, grouped } from '../../../../shared/base/text.ts';
import { hasNetworkDivision } from '../../../../shared/rules/rounds/rounds.ts';
import { FIGURE_NAMES, FIGURES, type FigureName } from '../../../observe/figures/figure-names.ts';
import { disturbanceFinding } from '../../../observe/health/ceiling-file.ts';
import { labelText } from '../../../observe/summary/run-labels.ts';
import { hasSchedule, type RunSummary } from '../../../observe/summary/run-summary.ts';
import { type Html, html, htmlTable, judged, scroll, section, tile } from '../../html/html.ts';
import { figureText, formatNumber, instantText, isCarried } from '../../text/figure-text.ts';
import { headFigures } from '../../text/headline.ts';
import { resultTables } from '../../text/result-tables.ts';
import { causeWords } from '../../text/result-text.ts';

const RESULTS = {
  VALID: { tone: 'good', text: 'every rule was met' },
  INVALID: { tone: 'bad', text: 'a rule was not met: the figures are no result' },
  INTERRUPTED: {
    tone: 'warn',
    text: 'the run was broken off: the figures are of what was measured until then',
  },
} as const;

/** First the verdict, then the three main figures, then the reasons. */
export function renderHead(summary: RunSummary): Html {
  const { benchmark, scenario, startedAt, result, labels, longhaul, notes } = summary;
  const { tone, text: ofResult } = RESULTS[result];
  const text = (result === 'INVALID' && causeWords(summary.verdict)) || ofResult;
  const words = labelText(labels);
  const head = headFigures(summary).map(({ title, value, note, isBad }) =>
    tile(title, value, html`<small>${note}</small>`, isBad),
  );
  return html`<p class="kicker">Run report, longhaul ${longhaul} · ${instantText(startedAt)}${words === '' ? null : html` · ${words}`}</p>
<h1>${benchmark}, ${scenario}</h1>
<p class="verdict"><span class="${`badge ${tone}`}">${result}</span> ${text}</p>
${head.length === 0 ? null : html`<dl class="tiles head">${head}</dl>\n`}${reasonList(summary.verdict)}${
  notes.length === 0
    ? null
    : html`<p><a href="#notes">${counted(notes.length, 'note')}</a> at the end of this page.</p>\n`
}`;
}

/** LoadGen's own verdict, whether LoadGen was the limit, accuracy, and the user's thresholds. */
export function renderVerdict(summary: RunSummary): Html {
  const { loadgenVerdict, accuracy, peakTargetQps, thresholds } = summary;
  const { isValid, reasons } = loadgenVerdict;
  const rules = reasons.length === 0 ? '' : ` (${reasons.map(({ rule }) => rule).join(', ')})`;
  return html`<p>LoadGen's own verdict, as in its logs: ${isValid ? 'VALID' : `INVALID${rules}`}.</p>
${generatorText(summary)}
${accuracy && html`<p>Accuracy: ${accuracy.text} ${judged(accuracy.isMet, 'target met', 'target NOT met')}</p>\n`}${peakTargetQps === null ? null : html`<p>Peak that LoadGen's own search found: ${formatNumber(peakTargetQps)} queries/s keep the latency bound.</p>\n`}${thresholdList(thresholds)}
`;
}

/** Notes of the run, which cannot be turned off; the head shows their number. */
export function renderNotes({ notes }: RunSummary): Html | null {
  if (notes.length === 0) return null;
  const items = notes.map((note) => html`<li>${note}</li>`);
  return section('notes', 'Notes', html`<ul class="plain">${items}</ul>`);
}

/** Null if the verdict's reasons already say that LoadGen was the limit. */
function generatorText(summary: RunSummary): Html | null {
  if (summary.verdict.cause?.kind === 'sut-broke' || summary.isGeneratorBound) return null;
  const { text } = disturbanceFinding(summary.health, hasSchedule(summary));
  return html`<p>LoadGen was ${text}.</p>`;
}

/** The user's own thresholds, which affect no verdict. */
function thresholdList(thresholds: RunSummary['thresholds']): Html | null {
  if (thresholds.length === 0) return null;
  const items = thresholds.map(
    ({ text, isMet, seenText }) =>
      html`<li>${judged(isMet, 'met', 'NOT met')} <code>${text}</code>: seen ${seenText}</li>`,
  );
  return html`<p>Thresholds of this run:</p><ul class="plain">${items}</ul>
`;
}

function reasonList({ reasons }: RunSummary['verdict']): Html | null {
  if (reasons.length === 0) return null;
  const given = new Set<string>();
  const items = reasons.map((reason) => {
    const { rule, text, needed, seen, advice } = reason;
    // Most texts have both.
    const facts = [
      ['Needed', needed],
      ['Seen', seen],
    ].filter(([, fact = '']) => !text.includes(fact));
    // Two reasons may share one remedy.
    if (advice !== '' && !given.has(advice)) facts.push(['What changes it', advice]);
    given.add(advice);
    return html`<li><strong>${rule}</strong> ${text}<dl>${facts.map(([name = '', fact = '']) => html`<div><dt>${name}</dt><dd>${fact}</dd></div>`)}</dl></li>\n`;
  });
  return html`<ul class="reasons">${items}</ul>`;
}

/** Tiles below the three of the head, with their titles in words. */
const TILES: readonly (readonly [figure: FigureName, title: string])[] = [
  ['completed_qps', 'Completed per second'],
  ['p50', 'Latency, median'],
  ['p90', 'Latency, p90'],
  ['p99', 'Latency, p99'],
  ['p99.9', 'Latency, p99.9'],
  ['max', 'Latency, largest'],
  ['ttft_p50', 'First token, median'],
  ['ttft_p99', 'First token, p99'],
  ['tpot_p50', 'Per output token, median'],
  ['tpot_p99', 'Per output token, p99'],
  ['tokens_per_second', 'Tokens per second'],
  ['overlatency', 'Above the bound'],
  ['lag_p99', 'Dispatch lag, p99'],
  ['queries', 'Queries'],
];

/** The other main figures as tiles. */
export function renderTiles(summary: RunSummary): Html {
  const { figures, scenario, mode, settings, loadTest } = summary;
  const { answered_qps: answered } = figures;
  const shown = headFigures(summary).map(({ figure }) => figure);
  const rate = settings.find(({ key }) => key === 'targetQps')?.value;
  const arrivals = loadTest ? `arrivals ${loadTest.arrivals}` : 'Poisson arrivals';
  const requested =
    rate === undefined || scenario !== 'Server'
      ? []
      : [tile('Requested rate', `${rate} /s`, html`<small>${arrivals}</small>`)];
  // MultiStream's latencies are of whole queries.
  const issued = scenario === 'MultiStream' ? figures.queries : figures.samples;
  const latencies = (issued ?? 0) - (figures.lost ?? 0);
  const tiles = TILES.flatMap(([name, title]) => {
    const value = figures[name];
    // SingleStream and MultiStream queries are due when issued: no lag. The head already shows one
    // of Server's two rates.
    const isMeant =
      scenario === 'Server'
        ? name !== 'completed_qps' || answered === undefined
        : name !== 'lag_p99';
    // With so few values it would be the maximum.
    const isKnown = name !== 'p99.9' || isCarried(latencies, 0.999);
    if (value === undefined || shown.includes(name) || !isMeant || !isKnown) return [];
    return [tile(title, figureText(name, value))];
  });
  return tiles.length === 0
    ? html`<p>No performance figures: the run was of mode ${mode}.</p>`
    : html`<dl class="tiles">${requested}${tiles}</dl>`;
}

/** All figures, by the names used in thresholds and comparisons. */
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

/** The tables that the screen also shows. */
export function renderTables(summary: RunSummary): Html[] {
  return resultTables(summary).map(({ title, columns, rows, verdict }) => {
    const table = htmlTable(columns, rows, () => true);
    return html`<h3>${title}</h3>\n<p>${verdict}</p>\n${scroll(title, table)}\n`;
  });
}

/** Verdict on each rule of the division, with its evidence. */
export function renderAudit({ audit, division, protocol, round }: RunSummary): Html {
  const { title, traits } = protocolNamed(protocol);
  const ends = traits.hasLedger
    ? 'by the evidence of both ends'
    : `by the evidence of this end: ${title} has none of the other end`;
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
      : html`<p>Rules of the division ${division}${hasNetworkDivision(round) ? '' : ` of v4.1, as ${round} has none`}, ${ends}.</p>${scroll('Audit', htmlTable(['Rule', 'Verdict', 'Evidence'], rows))}`,
  );
}

/** Every setting with its source. */
export function renderSettings({ settings }: RunSummary): Html {
  if (settings.length === 0) return html``;
  const rows = settings.map(({ key, value, source }) => [key, value, source]);
  return section(
    'settings',
    'Settings',
    htmlTable(['Setting', 'Value', 'Source'], rows),
    'settings',
  );
}

/** The records that the figures follow from. */
export function recordsText({ records }: RunSummary): string {
  if (records === null) return 'This run kept no records.';
  const parts = records.parts.length === 1 ? '' : `, parts ${records.parts.join(', ')}`;
  return `All figures follow from the ${grouped(records.rows)} records in ${records.file}${parts}.`;
}
