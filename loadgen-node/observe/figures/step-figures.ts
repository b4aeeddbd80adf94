import { z } from 'zod';
import {
  expectedQueries,
  type RateStep,
  stepRateText,
} from '../../loadgen/schedule/arrivals/arrivals.ts';
import type { SampleRecords } from '../records/sample-records.ts';
import { ExactDistribution } from './distribution.ts';
import { Figures } from './figures.ts';

/** Share of what was due in a step that must be completed in it for the SUT to have kept up. */
const KEPT_UP_SHARE = 0.95;

const ns = z.number().describe('ns');

/** What one step of a run's arrivals came to. Figures that nothing was seen of are null. */
export const STEP_FIGURES = z.strictObject({
  rate: z.string().describe('queries per second: 100, or 10-100 where it changes evenly'),
  fromNs: ns,
  toNs: ns,
  offeredQps: z.number().describe('mean rate that the step asks for'),
  // Queries that were due in the step and issued, and how many that is per second.
  dueQueries: z.number(),
  dueQps: z.number(),
  completedQps: z.number().describe('samples completed while the step lasted, per second'),
  p50Ns: ns.nullable().describe('of the queries that were due in the step'),
  p99Ns: ns.nullable(),
  maxNs: ns.nullable(),
  lagP99Ns: ns.nullable().describe("issued - scheduled: LoadGen's own lateness"),
  // Queries that were due in the step and never completed.
  lost: z.number(),
  isKeptUp: z
    .boolean()
    .nullable()
    .describe(
      'nothing lost, and at least 95 % of what was due completed while it lasted; null: nothing was due',
    ),
});

export type StepFigures = Readonly<z.infer<typeof STEP_FIGURES>>;

/** Figures of each step by the records of its queries (Server: one sample each). */
export function stepFigures(records: SampleRecords, steps: readonly RateStep[]): StepFigures[] {
  const { rowCount, scheduledNs, issuedNs, completedNs } = records;
  const ends = endsOf(steps);
  const figuresOfSteps = steps.map(() => new Figures(() => new ExactDistribution()));
  const completed = new Float64Array(steps.length);
  for (let row = 0; row < rowCount; row += 1) {
    const scheduled = scheduledNs[row] as number;
    const done = completedNs[row] as number;
    const figures = figuresOfSteps[stepAt(ends, scheduled)];
    figures?.issued((issuedNs[row] as number) - scheduled, 1);
    if (Number.isNaN(done)) continue;
    figures?.completed(done - scheduled);
    // What comes after the last step was completed in none.
    const end = stepAt(ends, done);
    if (done <= (ends.at(-1) as number)) completed[end] = (completed[end] as number) + 1;
  }
  return steps.map((step, i) => {
    const seconds = step.durationNs / 1e9;
    const figures = (figuresOfSteps[i] as (typeof figuresOfSteps)[number]).close('Server');
    const { queries: dueQueries = 0, lost = 0, p50, p99, max, lag_p99: lagP99 } = figures;
    return {
      rate: stepRateText(step),
      fromNs: i === 0 ? 0 : (ends[i - 1] as number),
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

/** When each step ends, in ns since the start. */
function endsOf(steps: readonly RateStep[]): number[] {
  let atNs = 0;
  return steps.map(({ durationNs }) => {
    atNs += durationNs;
    return atNs;
  });
}

/** Number of the step that an instant is in; behind the last it is the last. */
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
