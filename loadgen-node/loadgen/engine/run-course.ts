import { keepsTokenBounds, type RecordedColumns, tokenTimes } from '../recorder/recording.ts';
import { type AnswerTimes, isPrompt, keepingUp } from '../results/queue-growth.ts';
import { lateSamplesOf } from '../results/standstill.ts';
import type { PerformanceSummary } from '../results/summarize.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import type { IssuedSet } from './test-context.ts';
import type { RunCourse } from './test-outcome.ts';

/** How a set went over its time. @param hasOneRate Its queries come at LoadGen's own arrivals. */
export function courseOf(
  { recorder }: IssuedSet,
  settings: EffectiveSettings,
  summary: PerformanceSummary,
  hasOneRate: boolean,
): RunCourse {
  const columns = recorder.columns();
  // All samples of a coalesced query are due at once.
  const isJudged = settings.scenario === 'Server' && columns.samplesPerQuery === 1;
  if (!isJudged || summary.completedSampleCount === 0) return NO_COURSE;
  const { isMet } = summary.validity.performance;
  const lastDueNs = columns.scheduledNs[columns.queryEnd - 1] ?? 0;
  if (isMet && isPrompt(summary.sampleLatency.maxNs, lastDueNs)) return NO_COURSE;
  const times = timesOf(columns);
  return {
    keepingUp: hasOneRate ? keepingUp(times) : null,
    late: isMet ? null : lateSamplesOf({ ...times, ...lateness(columns, settings, times.queries) }),
  };
}

const NO_COURSE: RunCourse = { keepingUp: null, late: null };

/** Of the queries that were answered, in the order of issue; `queries` are their numbers. How long others waited is not known. */
function timesOf(columns: RecordedColumns): AnswerTimes & { readonly queries: Uint32Array } {
  const { queryEnd, isCompleted, issuedNs, scheduledNs, latencyNs } = columns;
  const queries = new Uint32Array(queryEnd).map((_, query) => query).filter(isCompleted);
  // With one issue thread they are in order, and sorting 10^7 of them takes seconds.
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

/** Which of these queries are above their bound, or one of its two, and how late each went out. */
function lateness(
  { latencyNs, firstTokenNs, tokenCounts, issuedNs, scheduledNs }: RecordedColumns,
  settings: EffectiveSettings,
  queries: Uint32Array,
) {
  const { targetLatencyNs, serverTtftLatencyNs: ttftNs, serverTpotLatencyNs: tpotNs } = settings;
  const keeps = (query: number): boolean => {
    const ns = latencyNs[query] as number;
    if (!settings.useTokenLatencies) return ns <= targetLatencyNs;
    const times = tokenTimes(ns, firstTokenNs?.[query] ?? Number.NaN, tokenCounts?.[query] ?? 0);
    return keepsTokenBounds(times, { ttftNs, tpotNs });
  };
  return {
    isLate: (i: number): boolean => !keeps(queries[i] as number),
    lagsNs: Float64Array.from(
      queries,
      (query) => (issuedNs[query] as number) - (scheduledNs[query] as number),
    ),
  };
}

/**
 * The course of a run in several parts: a queue that grew in one of them grew; else the longest part tells most.
 * @param parts With the begin of each, in ns since that of the first.
 */
export function courseOfParts(
  parts: readonly (RunCourse & { readonly queries: number; readonly beginNs: number })[],
): RunCourse {
  const byLength = [...parts].sort((a, b) => b.queries - a.queries);
  const grown = byLength.find(({ keepingUp: kept }) => kept?.state === 'grew') ?? byLength[0];
  const late = parts.flatMap(({ late: one, beginNs }) =>
    one === null
      ? []
      : [
          {
            ...one,
            standstill: one.standstill && {
              ...one.standstill,
              fromNs: one.standstill.fromNs + beginNs,
            },
          },
        ],
  );
  const lateIn = ({ standstill }: (typeof late)[number]): number => standstill?.lateSamples ?? 0;
  const [worst = null] = late.sort((a, b) => lateIn(b) - lateIn(a));
  return { keepingUp: grown?.keepingUp ?? null, late: worst };
}
