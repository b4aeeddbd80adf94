import { FIGURE_NAMES, FIGURES, type FigureUnit } from '../figures/figure-names.ts';
import type { LatencySplit } from '../split/split-sums.ts';
import type { DerivedRun } from './derive-run.ts';
import type { RunSummary } from './run-summary.ts';

/** Below it two sums of fractions are the same: the order of additions, not the records, makes such a difference. */
const NOISE = 1e-12;
/** Times of the split are means, with fractions of ns. */
const NOISE_NS = 0.5;

/** A figure that does not follow from the records as the summary has it. */
export interface SummaryDifference {
  /** Name of the figure, or place in the split. */
  readonly what: string;
  readonly unit: FigureUnit;
  /** Null: it is not there. */
  readonly inSummary: number | null;
  readonly derived: number | null;
}

/** All figures, counts and times of the split that differ between a summary and what its records say. */
export function differencesOf(summary: RunSummary, derived: DerivedRun): SummaryDifference[] {
  const found: SummaryDifference[] = [];
  const hold = (
    what: string,
    unit: FigureUnit,
    said: number | undefined,
    seen: number | undefined,
  ) => {
    if (!isEqual(said, seen, unit)) {
      found.push({ what, unit, inSummary: said ?? null, derived: seen ?? null });
    }
  };
  for (const name of FIGURE_NAMES) {
    hold(name, FIGURES[name].unit, summary.figures[name], derived.figures[name]);
  }
  hold('rows', 'count', summary.records?.rows, derived.rowCount);
  hold('split: samples', 'count', summary.split?.sampleCount, derived.split?.sampleCount);
  for (const { part, ...seen } of timesOf(derived.split)) {
    const said = summary.split?.parts.find((one) => one.part === part);
    hold(`split: ${part}, mean`, 'ns', said?.meanNs, seen.meanNs);
    hold(`split: ${part}, typical`, 'ns', said?.typicalNs, seen.typicalNs);
    hold(`split: ${part}, tail`, 'ns', said?.tailNs, seen.tailNs);
  }
  return found;
}

function timesOf(split: LatencySplit | null): LatencySplit['parts'] {
  return split?.parts ?? [];
}

function isEqual(said: number | undefined, seen: number | undefined, unit: FigureUnit): boolean {
  if (said === undefined || seen === undefined) return said === seen;
  const noise = NOISE * Math.abs(said);
  return Math.abs(said - seen) <= (unit === 'ns' ? Math.max(noise, NOISE_NS) : noise);
}
