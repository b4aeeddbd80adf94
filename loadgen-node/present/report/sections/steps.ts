import type { RunSummary } from '../../../observe/summary/run-summary.ts';
import { renderTable } from '../../charts/figure.ts';
import { type Html, html } from '../../html/html.ts';
import { STEP_TITLES, stepCells, stepVerdict } from '../../text/step-text.ts';

/** What became of each step of the arrivals; empty for a run without steps. */
export function renderSteps({ loadTest }: RunSummary): Html | null {
  const steps = loadTest?.steps ?? null;
  if (steps === null) return null;
  const table = renderTable(
    STEP_TITLES.map((title) => ({ title, isNumber: true })),
    steps.map(stepCells),
  );
  return html`<h3>Steps of the arrivals</h3>
<p>${stepVerdict(steps)}</p>
<div class="scroll" tabindex="0" role="group" aria-label="Steps of the arrivals">${table}</div>
`;
}
