import type { Verdict } from '../../../loadgen/engine/test-outcome.ts';
import { generatorFinding } from '../../../observe/health/generator-finding.ts';
import type { RunSummary } from '../../../observe/summary/run-summary.ts';
import { judged, noteBox, section } from '../../html/elements.ts';
import { type Html, html } from '../../html/html.ts';
import { formatNumber, instantText } from '../../text/figure-text.ts';

const RESULTS = {
  VALID: { tone: 'good', text: 'every rule was met' },
  INVALID: { tone: 'bad', text: 'a rule was not met: the figures are no result' },
  INTERRUPTED: {
    tone: 'warn',
    text: 'the run was broken off: the figures are of what was measured until then',
  },
} as const;

/** Name of the run and of what was measured; what a reader has to know stands right below, and nothing silences it. */
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

/** Not where the reasons of the verdict have said it. */
function generatorText(summary: RunSummary): Html | null {
  const { verdict, scenario, round } = summary;
  if (verdict.reasons.some(({ rule }) => rule === 'generator-bound')) return null;
  const hasSchedule = scenario === 'Server' || (scenario === 'MultiStream' && round === 'v0.5');
  const { kind, text } = generatorFinding({ ...summary, hasSchedule });
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
