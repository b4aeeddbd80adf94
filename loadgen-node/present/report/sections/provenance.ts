import { grouped } from '../../../../shared/base/figures/figure-text.ts';
import type { RunSummary } from '../../../observe/summary/run-summary.ts';
import { renderTable } from '../../charts/figure.ts';
import { type Html, html } from '../../html/html.ts';

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
  return html`<section aria-labelledby="audit"><h2 id="audit">Audit</h2>
${
  rows.length === 0
    ? html`<p>There is no audit of this run.</p>`
    : html`<p>Rules of the division ${division}, ${ends}.</p><div class="scroll" tabindex="0" role="group" aria-label="Audit">${renderTable(
        ['Rule', 'Verdict', 'Evidence'].map((title) => ({ title, isNumber: false })),
        rows,
      )}</div>`
}</section>
`;
}

/** Every setting with where it came from. */
export function renderSettings({ settings }: RunSummary): Html {
  const rows = settings.map(({ key, value, source }) => [key, value, source]);
  return html`<section class="settings" aria-labelledby="settings"><h2 id="settings">Settings</h2>
${renderTable(
  ['Setting', 'Value', 'Source'].map((title) => ({ title, isNumber: false })),
  rows,
)}</section>
`;
}

/** From what the figures can be derived again. */
export function recordsText({ records }: RunSummary): string {
  if (records === null) return 'This run kept no records.';
  const parts = records.parts.length === 1 ? '' : `, parts ${records.parts.join(', ')}`;
  return `All figures follow from the ${grouped(records.rows)} records in ${records.file}${parts}.`;
}
