import { type RecordedColumns, tokenTimes } from '../recorder/recording.ts';
import { type AnswerTimes, isPrompt, keepingUp } from '../results/queue-growth.ts';
import {
  type AnsweringParts,
  lateSamplesOf,
  type Standstill,
  standstillOf,
} from '../results/standstill.ts';
import type { PerformanceSummary } from '../results/summarize.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import { laneOf } from '../settings/lanes.ts';
import { keepsBounds } from '../settings/query-bounds.ts';
import type { IssuedSet } from './test-context.ts';
import type { RunCourse } from './test-outcome.ts';

/**
 * How latencies and the queue developed during a set.
 * @param hasOneRate True if queries arrive at LoadGen's own constant mean rate.
 * @param names Names of the SUT's parts; empty if unknown.
 */
export function courseOf(
  { plan, recorder }: IssuedSet,
  settings: EffectiveSettings,
  summary: PerformanceSummary,
  { hasOneRate, names }: { readonly hasOneRate: boolean; readonly names: readonly string[] },
): RunCourse {
  const columns = recorder.columns();
  // All samples of a coalesced query are due at the same time.
  const isJudged = settings.scenario === 'Server' && columns.samplesPerQuery === 1;
  if (!isJudged || summary.completedSampleCount === 0) return NO_COURSE;
  const { keepsBounds: isMet } = summary;
  const { maxNs, percentiles } = summary.sampleLatency;
  const lastDueNs = columns.scheduledNs[columns.queryEnd - 1] ?? 0;
  const longNs = Math.max(LONG_NS_MIN, LONG_BY_MEDIAN * (percentiles[0]?.valueNs ?? 0));
  const isEven = isMet && isPrompt(maxNs, lastDueNs);
  if (isEven && maxNs < longNs) return NO_COURSE;
  const times = timesOf(columns);
  const known = {
    ...times,
    ...lateness(columns, plan.sampleIndices, settings.lanes, times.queries),
  };
  const ofParts = partsOf(columns, times.queries, names);
  const standstill = isMet && maxNs >= longNs ? standstillOf(known, ofParts) : null;
  return {
    keepingUp: hasOneRate && !isEven ? keepingUp(times) : null,
    late: isMet ? null : lateSamplesOf(known, ofParts),
    keptStandstill: standstill !== null && standstill.longestNs >= longNs ? standstill : null,
  };
}

/**
 * Smallest length of a standstill worth reporting when the bound was kept: in ns, and as a multiple
 * of the median latency. A garbage collection takes some 10 ms now and then.
 */
const LONG_NS_MIN = 100e6;
const LONG_BY_MEDIAN = 10;

const NO_COURSE: RunCourse = { keepingUp: null, late: null, keptStandstill: null };

/** The SUT part that answered each query; a single part if the SUT has one or they are unknown. */
function partsOf(
  { service }: RecordedColumns,
  queries: Uint32Array,
  names: readonly string[],
): AnsweringParts {
  if (service === null || names.length < 2) return { names: [], partOf: () => -1 };
  return { names, partOf: (i) => service.nodeOf(queries[i] as number) };
}

/**
 * Times of the answered queries, in order of issue; `queries` are their numbers. The waiting time
 * of other queries is unknown.
 */
function timesOf(columns: RecordedColumns): AnswerTimes & { readonly queries: Uint32Array } {
  const { queryEnd, isCompleted, issuedNs, scheduledNs, latencyNs } = columns;
  const queries = new Uint32Array(queryEnd).map((_, query) => query).filter(isCompleted);
  // One issue thread issues in order; sorting 10^7 queries would take seconds.
  const isSorted = queries.every(
    (query, i) =>
      i === 0 || (issuedNs[query] as number) >= (issuedNs[queries[i - 1] as number] as number),
  );
  if (!isSorted) queries.sort((a, b) => (issuedNs[a] as number) - (issuedNs[b] as number));
  const times = new Float64Array(queries.length);
  const latencies = new Float64Array(queries.length);
  queries.forEach((query, i) => {
    const atNs = issuedNs[query] as number;
    times[i] = atNs;
    latencies[i] = (latencyNs[query] as number) - (atNs - (scheduledNs[query] as number));
  });
  return { queries, issuedNs: times, latenciesNs: latencies };
}

/** For each query the lane whose bound it misses, and how late it went out. */
function lateness(
  { latencyNs, firstTokenNs, tokenCounts, issuedNs, scheduledNs }: RecordedColumns,
  sampleIndices: Uint32Array,
  lanes: EffectiveSettings['lanes'],
  queries: Uint32Array,
) {
  const lateIn = (i: number): string | null => {
    const query = queries[i] as number;
    const ns = latencyNs[query] as number;
    const times = tokenTimes(ns, firstTokenNs?.[query] ?? Number.NaN, tokenCounts?.[query] ?? 0);
    const { name, bounds } = laneOf(lanes, sampleIndices[query] as number);
    return keepsBounds(bounds, times) ? null : name;
  };
  return {
    lateIn,
    lagsNs: Float64Array.from(
      queries,
      (query) => (issuedNs[query] as number) - (scheduledNs[query] as number),
    ),
  };
}

/**
 * Course of a run in several parts: a queue that grew in one part counts as grown; otherwise the
 * longest part stands for the run.
 * @param parts Each with its start, in ns since the start of the first.
 */
export function courseOfParts(
  parts: readonly (RunCourse & { readonly queries: number; readonly beginNs: number })[],
): RunCourse {
  const byLength = [...parts].sort((a, b) => b.queries - a.queries);
  const grown = byLength.find(({ keepingUp: kept }) => kept?.state === 'grew') ?? byLength[0];
  const late = parts.flatMap(({ late: one, beginNs }) =>
    one === null ? [] : [{ ...one, standstill: after(one.standstill, beginNs) }],
  );
  const lateIn = ({ standstill }: (typeof late)[number]): number => standstill?.lateSamples ?? 0;
  const [worst = null] = late.sort((a, b) => lateIn(b) - lateIn(a));
  const kept = parts.flatMap(({ keptStandstill, beginNs }) => after(keptStandstill, beginNs) ?? []);
  const [longest = null] = kept.sort((a, b) => b.longestNs - a.longestNs);
  return { keepingUp: grown?.keepingUp ?? null, late: worst, keptStandstill: longest };
}

/** A standstill of one part, shifted to the clock of the whole run. */
function after(standstill: Standstill | null, beginNs: number): Standstill | null {
  return standstill && { ...standstill, fromNs: standstill.fromNs + beginNs };
}
