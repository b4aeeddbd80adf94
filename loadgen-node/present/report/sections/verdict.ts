import type { Verdict } from '../../../loadgen/engine/test-outcome.ts';
import { generatorFinding } from '../../../observe/health/generator-finding.ts';
import type { RunSummary } from '../../../observe/summary/run-summary.ts';
import { type Html, html } from '../../html/html.ts';
import { instantText } from '../../text/figure-text.ts';
import { formatNumber } from '../../text/number.ts';

const SHORT: Readonly<Record<RunSummary['result'], string>> = {
  VALID: 'every rule was met',
  INVALID: 'a rule was not met: the figures are no result',
  INTERRUPTED: 'the run was broken off: the figures are of what was measured until then',
};

/** Name of the run and of what was measured; what a reader has to know stands right below, and nothing silences it. */
export function renderHead(summary: RunSummary): Html {
  const { benchmark, scenario, mode, sutName, startedAt, runId, round, division, longhaul } =
    summary;
  return html`<p class="kicker">Run report, longhaul ${longhaul}</p>
<h1>${benchmark}, ${scenario}: ${sutName}</h1>
<p class="kicker">${instantText(startedAt)} · mode ${mode} · round ${round} · division ${division} · run ${runId}</p>
${renderNotes(summary.notes)}`;
}

/** Marks and remarks of a run. */
export function renderNotes(notes: readonly string[]): Html {
  if (notes.length === 0) return html``;
  return html`<aside class="notes" aria-label="Please note"><strong>Please note</strong><ul>${notes.map((note) => html`<li>${note}</li>`)}</ul></aside>
`;
}

/** Result, its reasons, LoadGen's own verdict, and whether the generator was the limit. */
export function renderVerdict(summary: RunSummary): Html {
  const { result, verdict, loadgenVerdict } = summary;
  const tone = { VALID: 'good', INVALID: 'bad', INTERRUPTED: 'warn' }[result];
  return html`<section aria-labelledby="verdict"><h2 id="verdict">Verdict</h2>
<p class="verdict"><span class="${`badge ${tone}`}">${result}</span> ${SHORT[result]}</p>
${reasonList(verdict)}
<p>${loadgenText(loadgenVerdict)}</p>
${generatorText(summary)}
${accuracyText(summary)}${peakText(summary)}${thresholdList(summary)}
</section>
`;
}

/** Not where the reasons of the verdict have said it. */
function generatorText(summary: RunSummary): Html {
  const { verdict, scenario, round } = summary;
  if (verdict.reasons.some(({ rule }) => rule === 'generator-bound')) return html``;
  const hasSchedule = scenario === 'Server' || (scenario === 'MultiStream' && round === 'v0.5');
  const { kind, text } = generatorFinding({ ...summary, hasSchedule });
  return html`<p${kind === 'bound' ? html` class="bad"` : null}>LoadGen: ${text}.</p>`;
}

function peakText({ peakTargetQps }: RunSummary): Html {
  if (peakTargetQps === null) return html``;
  return html`<p>Peak that LoadGen's own search found: ${formatNumber(peakTargetQps)} queries/s keep the latency bound.</p>
`;
}

/** The user's own conditions, which are in no verdict. */
function thresholdList({ thresholds }: RunSummary): Html {
  if (thresholds.length === 0) return html``;
  const items = thresholds.map(
    ({ text, isMet, seenText }) =>
      html`<li><strong class="${isMet ? 'good' : 'bad'}">${isMet ? 'met' : 'NOT met'}</strong> <code>${text}</code>: seen ${seenText}</li>`,
  );
  return html`<p>Thresholds of this run:</p><ul class="plain">${items}</ul>
`;
}

function accuracyText({ accuracy }: RunSummary): Html {
  if (accuracy === null) return html``;
  const { text, isMet } = accuracy;
  return html`<p>Accuracy: ${text} <strong class="${isMet ? 'good' : 'bad'}">${isMet ? 'target met' : 'target NOT met'}</strong></p>
`;
}

function loadgenText({ isValid, reasons }: Verdict): string {
  if (isValid) return "LoadGen's own verdict, as in its logs: VALID.";
  const rules = reasons.map(({ rule }) => rule).join(', ');
  return `LoadGen's own verdict, as in its logs: INVALID${rules === '' ? '' : ` (${rules})`}.`;
}

function reasonList({ reasons }: RunSummary['verdict']): Html {
  if (reasons.length === 0) return html``;
  const given = new Set<string>();
  const items = reasons.map((reason) => {
    const { rule, text, needed, seen } = reason;
    const remedy = remedyOf(reason);
    // Two reasons may have one remedy.
    const isSaid = remedy === '' || given.has(remedy);
    given.add(remedy);
    return html`<li><strong>${rule}</strong> ${text}<dl><div><dt>Needed</dt><dd>${needed}</dd></div><div><dt>Seen</dt><dd>${seen}</dd></div>${isSaid ? null : html`<div><dt>What changes it</dt><dd>${remedy}</dd></div>`}</dl></li>\n`;
  });
  return html`<ul class="reasons">${items}</ul>`;
}

/** Older summaries know only LoadGen's name of the setting. */
function remedyOf({ advice, key }: RunSummary['verdict']['reasons'][number]): string {
  return advice ?? (key === null ? '' : `LoadGen's setting ${key}`);
}
