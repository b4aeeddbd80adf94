import { z } from 'zod';
import type { Scenario } from '../../../shared/domain/scenario.ts';
import {
  expectedQueries,
  type RateStep,
  stepRateText,
} from '../../loadgen/schedule/arrivals/arrivals.ts';
import type { QueryBound } from '../../loadgen/settings/query-bounds.ts';
import { forEachStretch, type SampleRecords } from '../records/sample-records.ts';
import type { RunFigures } from './figure-names.ts';
import { ExactDistribution, Figures, type FinalQuery, hasQueryLatency } from './figures.ts';

/** Settings of the run that its figures depend on. */
interface FigureContext {
  readonly scenario: Scenario;
  /** Those of Server; none in other scenarios. */
  readonly bounds: readonly QueryBound[];
  /** Responses that broke the contract; they are in no record. Default: 0. */
  readonly contractErrors?: number;
}

/**
 * All figures of a run from its records alone, by LoadGen's rules (loadgen/results): latencies, percentiles and rates are
 * to the bit those of the run's own summary; of a run in several parts those of all its parts together.
 *
 * `completed_qps`: Server and Offline as LoadGen says; SingleStream: "QPS w/ loadgen overhead"; MultiStream: samples by the
 * time until the last query was done.
 */
export function figuresOf(
  records: SampleRecords,
  { scenario, bounds, contractErrors }: FigureContext,
): RunFigures {
  const { rowCount, part } = records;
  const make = () => new ExactDistribution(rowCount);
  const figures = new Figures(make, bounds);
  forEachStretch(part, { begin: 0, end: rowCount }, (begin, end) =>
    addPart(figures, records, begin, end),
  );
  if (records.tokenGaps !== null) figures.gaps(records.tokenGaps);
  return figures.close(scenario, contractErrors);
}

/** Adds the rows of one part, from `begin` to before `end`. */
function addPart(
  figures: Figures<ExactDistribution>,
  records: SampleRecords,
  begin: number,
  end: number,
): void {
  const { query, scheduledNs, issuedNs, completedNs, tokenCount, firstTokenNs } = records;
  const { longestGapNs } = records;
  let queryCount = 0;
  let lastCompletionNs = 0;
  forEachStretch(query, { begin, end }, (first, next) => {
    const dueNs = scheduledNs[first] as number;
    figures.issued((issuedNs[first] as number) - dueNs, next - first);
    queryCount += 1;
    for (let row = first; row < next; row += 1) {
      const doneNs = completedNs[row] as number;
      if (Number.isNaN(doneNs)) continue;
      const latencyNs = doneNs - dueNs;
      figures.completed(latencyNs);
      lastCompletionNs = Math.max(lastCompletionNs, doneNs);
      if (tokenCount === null) continue;
      const firstNs = firstTokenNs === null ? null : (firstTokenNs[row] as number) - dueNs;
      figures.tokens(tokenCount[row] as number, latencyNs, firstNs);
      const gapNs = longestGapNs?.[row] ?? Number.NaN;
      if (!Number.isNaN(gapNs)) figures.longestGap(gapNs);
    }
  });
  figures.endPart(finalQuery(records, { begin, end, query: queryCount - 1 }, lastCompletionNs));
}

/** LoadGen's final query of a part is number "issued queries - 1" (recorder: `finalQuery`). */
function finalQuery(
  { query: queries, scheduledNs, issuedNs, completedNs }: SampleRecords,
  { begin, end, query }: { begin: number; end: number; query: number },
  lastCompletionNs: number,
): FinalQuery {
  let row = end - 1;
  while (row > begin && (queries[row] as number) > query) row -= 1;
  if (queries[row] !== query) {
    return {
      ...{ scheduledNs: Number.NaN, issuedNs: 0, doneNs: lastCompletionNs },
      lastDoneNs: lastCompletionNs,
    };
  }
  const dueNs = scheduledNs[row] as number;
  const wasIssuedNs = issuedNs[row] as number;
  let doneNs = 0;
  for (; row >= begin && queries[row] === query; row -= 1) {
    doneNs = Math.max(doneNs, completedNs[row] as number);
  }
  return {
    scheduledNs: dueNs,
    issuedNs: wasIssuedNs,
    doneNs: Number.isNaN(doneNs) ? lastCompletionNs : doneNs,
    lastDoneNs: lastCompletionNs,
  };
}

/**
 * The latencies that the figures are of, a row each: samples, or whole queries ({@link hasQueryLatency}), in the order of the
 * records. Times are ns since the start of the first part; parts follow one another.
 * @param parts Those that count; null: all of them.
 */
export function latencyTable(
  records: SampleRecords,
  scenario: Scenario,
  parts: readonly number[] | null,
) {
  const { rowCount, part, query } = records;
  const wanted = parts === null ? null : new Set(parts);
  const isOfQueries = hasQueryLatency(scenario);
  const scheduledNs = new Float64Array(rowCount);
  const latencyNs = new Float64Array(rowCount);
  const lagNs = new Float64Array(rowCount);
  const completedSamples = new Uint32Array(rowCount);
  const node = new Int16Array(rowCount);
  let count = 0;
  /** Where the part at hand begins. */
  let offsetNs = 0;
  let endNs = 0;
  let before = -1;
  for (let row = 0; row < rowCount; row += 1) {
    if (wanted !== null && !wanted.has(part[row] as number)) continue;
    const isOfPart = before >= 0 && part[row] === part[before];
    if (!isOfPart) offsetNs = endNs;
    const joins = isOfPart && isOfQueries && query[row] === query[before];
    before = row;
    const dueNs = records.scheduledNs[row] as number;
    const issuedNs = records.issuedNs[row] as number;
    const completedNs = records.completedNs[row] as number;
    const isLost = Number.isNaN(completedNs);
    endNs = Math.max(endNs, offsetNs + (isLost ? issuedNs : completedNs));
    if (!joins) {
      scheduledNs[count] = offsetNs + dueNs;
      lagNs[count] = issuedNs - dueNs;
      latencyNs[count] = completedNs - dueNs;
      node[count] = records.node[row] as number;
      count += 1;
    }
    const own = count - 1;
    // Math.max gives NaN where one of them is: a query with a lost sample has no latency.
    latencyNs[own] = Math.max(latencyNs[own] as number, completedNs - dueNs);
    if (!isLost) completedSamples[own] = (completedSamples[own] as number) + 1;
  }
  return {
    count,
    scheduledNs: scheduledNs.subarray(0, count),
    /** Completed - scheduled; NaN: a sample of it was lost. */
    latencyNs: latencyNs.subarray(0, count),
    /** Issued - scheduled. */
    lagNs: lagNs.subarray(0, count),
    /** Samples of the row that completed. */
    completedSamples: completedSamples.subarray(0, count),
    /** Node that answered its first sample; -1 where it is not known. */
    node: node.subarray(0, count),
    /** End of the last part: the last completion or issue. */
    endNs,
  };
}

export type LatencyTable = Readonly<ReturnType<typeof latencyTable>>;

/** The values that are numbers, sorted, as a copy. */
export function sortedNumbers(values: Float64Array): Float64Array {
  const sorted = values.slice().sort(); // NaN is sorted to the end.
  let count = sorted.length;
  while (count > 0 && Number.isNaN(sorted[count - 1])) count -= 1;
  return sorted.subarray(0, count);
}

/** Share of what was due in a step that must be completed in it for the SUT to have kept up. */
const KEPT_UP_SHARE = 0.95;

const ns = z.number().describe('ns');

/** Figures of one step of a run's arrivals; null where not measured. */
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
  lagP99Ns: ns.nullable().describe('dispatch lag: issued - scheduled'),
  // Queries that were due in the step and never completed.
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
    // A completion after the last step is in no step.
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
