import { tableLines } from '../../../shared/base/text.ts';
import type { StepFigures } from '../../observe/figures/step-figures.ts';
import type { RunSummary } from '../../observe/summary/run-summary.ts';
import { timeOrDash } from './figure-text.ts';

/** A table of a result for screen and page; all columns are figures. */
export interface ResultTable {
  /** Label of its lines on a screen. */
  readonly label: string;
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Meaning of the table, as a sentence. */
  readonly verdict: string;
}

/** The tables of a run. */
export function resultTables({ loadTest }: Pick<RunSummary, 'loadTest'>): ResultTable[] {
  const steps = loadTest?.steps ?? null;
  return steps === null ? [] : [stepTable(steps)];
}

/** A table for people, a line for each row. */
export function tableText({ columns, rows, verdict }: ResultTable): string[] {
  return [...tableLines([columns, ...rows], '   ', () => true), verdict];
}

/** The steps of the arrivals. */
export function stepTable(steps: readonly StepFigures[]): ResultTable {
  return {
    label: 'Steps',
    title: 'Steps of the arrivals',
    columns: [
      ...['from', 'offered /s', 'due /s', 'completed /s'],
      ...['p50', 'p99', 'largest', 'dispatch lag p99', 'lost'],
    ],
    rows: steps.map((step) => [
      `${Number((step.fromNs / 1e9).toFixed(3))} s`,
      step.rate,
      step.dueQps.toFixed(2),
      step.completedQps.toFixed(2),
      ...[step.p50Ns, step.p99Ns, step.maxNs, step.lagP99Ns].map(timeOrDash),
      String(step.lost),
    ]),
    verdict: stepVerdict(steps),
  };
}

/** How far the SUT kept up, as a sentence. */
function stepVerdict(steps: readonly StepFigures[]): string {
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
