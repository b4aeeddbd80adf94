import { z } from 'zod';
import {
  expectedQueries,
  type RateStep,
  stepRateText,
} from '../../loadgen/schedule/arrivals/arrivals.ts';
import type { SampleRecords } from '../records/sample-records.ts';
import { ExactDistribution } from './exact-distribution.ts';
import { figuresBy, type RowGroups } from './figures-of-records.ts';

/** Share of a step's due queries that must complete within it for the SUT to keep up. */
const KEPT_UP_SHARE = 0.95;

const ns = z.number().describe('ns');

/** Figures of one step of a run's arrivals; null if not measured. */
export const STEP_FIGURES = z.strictObject({
  rate: z.string().describe('queries per second: 100, or 10-100 where it changes evenly'),
  fromNs: ns,
  toNs: ns,
  offeredQps: z.number().describe('mean rate that the step asks for'),
  // Issued queries that were due in the step: count, and per second.
  dueQueries: z.number(),
  dueQps: z.number(),
  completedQps: z.number().describe('samples completed while the step lasted, per second'),
  p50Ns: ns.nullable().describe('of the queries that were due in the step'),
  p99Ns: ns.nullable(),
  maxNs: ns.nullable(),
  lagP99Ns: ns.nullable().describe('dispatch lag: issued - scheduled'),
  // Queries due in the step that never completed.
  lost: z.number(),
  isKeptUp: z
    .boolean()
    .nullable()
    .describe(
      'no sample lost, and at least 95 % of those due completed during the step; null: none was due',
    ),
});

export type StepFigures = Readonly<z.infer<typeof STEP_FIGURES>>;

/** Figures of each step by the records of its queries (Server: one sample each). */
export function stepFigures(records: SampleRecords, steps: readonly RateStep[]): StepFigures[] {
  const { scheduledNs, completedNs } = records;
  const ends = endsOf(steps);
  const byStep: RowGroups = {
    groups: steps.map((step) => ({ name: stepRateText(step) })),
    of: (row) => stepAt(ends, scheduledNs[row] as number),
  };
  const groups = figuresBy(records, byStep, () => new ExactDistribution());
  const completed = new Float64Array(steps.length);
  for (const doneNs of completedNs) {
    // A completion after the last step belongs to no step.
    if (!(doneNs <= (ends.at(-1) as number))) continue;
    const step = stepAt(ends, doneNs);
    completed[step] = (completed[step] as number) + 1;
  }
  return groups.map((group, i) => {
    const step = steps[i] as RateStep;
    const seconds = step.durationNs / 1e9;
    const figures = group.close('Server');
    const { queries: dueQueries = 0, lost = 0, p50, p99, max, lag_p99: lagP99 } = figures;
    return {
      rate: stepRateText(step),
      fromNs: ends[i - 1] ?? 0,
      toNs: ends[i] as number,
      offeredQps: expectedQueries(step) / seconds,
      dueQueries,
      dueQps: dueQueries / seconds,
      completedQps: (completed[i] as number) / seconds,
      p50Ns: p50 ?? null,
      p99Ns: p99 ?? null,
      maxNs: max ?? null,
      lagP99Ns: lagP99 ?? null,
      lost,
      isKeptUp:
        dueQueries === 0
          ? null
          : lost === 0 && (completed[i] as number) >= KEPT_UP_SHARE * dueQueries,
    };
  });
}

/** End of each step, in ns since the start. */
function endsOf(steps: readonly RateStep[]): number[] {
  let atNs = 0;
  return steps.map(({ durationNs }) => {
    atNs += durationNs;
    return atNs;
  });
}

/** Number of the step at a time; after the last step, the last. */
function stepAt(ends: readonly number[], ns: number): number {
  let low = 0;
  let high = ends.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ns < (ends[middle] as number)) high = middle;
    else low = middle + 1;
  }
  return low;
}
