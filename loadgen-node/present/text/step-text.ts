import { tableLines } from '../../../shared/base/text/table-lines.ts';
import type { StepFigures } from '../../observe/figures/step-figures.ts';
import { timeOrDash } from './figure-text.ts';

/** Columns of the table of steps. */
export const STEP_TITLES = [
  ...['from', 'offered /s', 'due /s', 'completed /s'],
  ...['p50', 'p99', 'largest', 'lag p99', 'lost'],
];

/** One step as cells of a table, in the order of {@link STEP_TITLES}. */
export function stepCells(step: StepFigures): string[] {
  const { rate, fromNs, dueQps, completedQps, p50Ns, p99Ns, maxNs, lagP99Ns, lost } = step;
  return [
    `${Number((fromNs / 1e9).toFixed(3))} s`,
    rate,
    dueQps.toFixed(2),
    completedQps.toFixed(2),
    ...[p50Ns, p99Ns, maxNs, lagP99Ns].map(timeOrDash),
    String(lost),
  ];
}

/** The table of steps for people: a header and a line per step. */
export function stepTable(steps: readonly StepFigures[]): string[] {
  return tableLines([STEP_TITLES, ...steps.map(stepCells)], '   ', () => true);
}

/** How far the SUT kept up, in a sentence. */
export function stepVerdict(steps: readonly StepFigures[]): string {
  const first = steps.findIndex(({ isKeptUp }) => isKeptUp === false);
  const step = steps[first];
  if (step === undefined) {
    const isWhole = steps.every(({ isKeptUp }) => isKeptUp === true);
    return `The SUT kept up in every step${isWhole ? '' : ' in which queries were due'}.`;
  }
  const what =
    step.lost > 0
      ? `${step.lost} of ${step.dueQueries} queries were lost`
      : `${step.dueQps.toFixed(2)} queries/s were due and ${step.completedQps.toFixed(2)} were completed while it lasted`;
  return `Step ${first + 1} (${step.rate} queries/s) is the first that the SUT did not keep up with: ${what}.`;
}
