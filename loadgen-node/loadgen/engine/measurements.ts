import {
  type RecordedColumns,
  type RecordedGaps,
  type RecordedTokens,
  tokenTimes,
} from '../recorder/recording.ts';
import { gapHistogram } from '../recorder/token-gaps.ts';
import type { LaneTimes, Measurements } from '../results/measurements.ts';
import type { QueryPlan } from '../schedule/query-plan.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import { type Lane, laneOf } from '../settings/lanes.ts';
import type { BoundName } from '../settings/query-bounds.ts';
import type { IssuedSet } from './test-context.ts';

type RecordedSet = Pick<IssuedSet, 'plan' | 'recorder'>;

/** Times and counts of one set, computed from its records. */
export function measurementsOf(issued: RecordedSet, settings: EffectiveSettings): Measurements {
  const { recorder } = issued;
  const { scenario, arrivalIntervalNs } = settings;
  const times = completedTimes(issued, settings);
  let maxLatencyNs = 0;
  for (const latencyNs of times.sampleLatenciesNs) maxLatencyNs = Math.max(maxLatencyNs, latencyNs);
  const final = recorder.finalQuery();
  return {
    ...times,
    queryCount: recorder.issuedQueries,
    queryLatenciesNs:
      scenario === 'MultiStream' ? recorder.completedQueryLatenciesNs() : new Float64Array(0),
    maxLatencyS: maxLatencyNs / 1e9,
    finalQuery: {
      scheduledS: final.scheduledNs / 1e9,
      issuedS: final.issuedNs / 1e9,
      allDoneS: final.doneNs / 1e9,
    },
    lastDoneS: recorder.lastCompletionNs / 1e9,
    intervalsTaken: recorder.intervalsTaken(arrivalIntervalNs),
  };
}

/**
 * Latencies of the completed samples since their due time, of all samples and by lane.
 * @param isFromIssue Count from the issue of the query instead.
 */
export function completedTimes(
  { plan, recorder }: RecordedSet,
  { useTokenLatencies, lanes }: EffectiveSettings,
  isFromIssue = false,
): Pick<Measurements, 'sampleLatenciesNs' | 'ofLanes' | 'tokens'> {
  return {
    sampleLatenciesNs: recorder.completedLatenciesNs(isFromIssue),
    tokens: useTokenLatencies ? recorder.tokens(isFromIssue) : null,
    ofLanes:
      lanes.length > 1 ? timesOfLanes(recorder.columns(), plan, lanes, isFromIssue) : undefined,
  };
}

function timesOfLanes(
  columns: RecordedColumns,
  { sampleIndices }: QueryPlan,
  lanes: readonly Lane[],
  isFromIssue: boolean,
): LaneTimes[] {
  const { isCompleted, latencyNs, firstTokenNs, tokenCounts, samplesPerQuery } = columns;
  const samplesOf = new Map(lanes.map((lane) => [lane, [] as number[]]));
  sampleIndices.forEach((index, sample) => {
    if (isCompleted(sample)) samplesOf.get(laneOf(lanes, index))?.push(sample);
  });
  return [...samplesOf.values()].map((samples) => {
    const counts = Uint32Array.from(samples, (sample) => tokenCounts?.[sample] ?? 0);
    const times = samples.map((sample, i) => {
      const firstNs = firstTokenNs?.[sample] ?? Number.NaN;
      const query = Math.floor(sample / samplesPerQuery);
      const sinceNs = isFromIssue ? columns.issuedNs[query] : columns.scheduledNs[query];
      const lagNs = (sinceNs as number) - (columns.scheduledNs[query] as number);
      const one = tokenTimes(latencyNs[sample] as number, firstNs, counts[i] as number);
      return { latency: one.latency - lagNs, ttft: one.ttft - lagNs, tpot: one.tpot };
    });
    const of = (name: BoundName) => Float64Array.from(times, (one) => one[name]);
    return { latency: of('latency'), ttft: of('ttft'), tpot: of('tpot'), counts };
  });
}

/**
 * Joins measurements of an extended run: durations of both parts add up, without the pause between
 * them.
 */
export function joinMeasurements(first: Measurements, next: Measurements): Measurements {
  return {
    queryCount: first.queryCount + next.queryCount,
    sampleLatenciesNs: joinTimes(first.sampleLatenciesNs, next.sampleLatenciesNs),
    queryLatenciesNs: joinTimes(first.queryLatenciesNs, next.queryLatenciesNs),
    maxLatencyS: Math.max(first.maxLatencyS, next.maxLatencyS),
    finalQuery: {
      scheduledS: first.finalQuery.scheduledS + next.finalQuery.scheduledS,
      issuedS: first.finalQuery.issuedS + next.finalQuery.issuedS,
      allDoneS: first.finalQuery.allDoneS + next.finalQuery.allDoneS,
    },
    lastDoneS: first.lastDoneS + next.lastDoneS,
    ofLanes: first.ofLanes?.map((one, i) => joinLane(one, next.ofLanes?.[i] as LaneTimes)),
    tokens: joinTokens(first.tokens, next.tokens),
    intervalsTaken:
      first.intervalsTaken && next.intervalsTaken
        ? joinTimes(first.intervalsTaken, next.intervalsTaken)
        : null,
  };
}

/** Tokens of both parts joined; null if one part has none. */
export function joinTokens(
  first: RecordedTokens | null,
  next: RecordedTokens | null,
): RecordedTokens | null {
  if (first === null || next === null) return null;
  return {
    tokenCount: first.tokenCount + next.tokenCount,
    firstTokenNs: joinTimes(first.firstTokenNs, next.firstTokenNs),
    perOutputTokenNs: joinTimes(first.perOutputTokenNs, next.perOutputTokenNs),
    gaps: joinGaps(first.gaps, next.gaps),
    counts: joinCounts(first.counts, next.counts),
  };
}

function joinCounts(first: Uint32Array, next: Uint32Array): Uint32Array {
  const both = new Uint32Array(first.length + next.length);
  both.set(first);
  both.set(next, first.length);
  return both;
}

function joinLane(first: LaneTimes, next: LaneTimes): LaneTimes {
  return {
    latency: joinTimes(first.latency, next.latency),
    ttft: joinTimes(first.ttft, next.ttft),
    tpot: joinTimes(first.tpot, next.tpot),
    counts: joinCounts(first.counts, next.counts),
  };
}

function joinGaps(first: RecordedGaps | null, next: RecordedGaps | null): RecordedGaps | null {
  if (first === null || next === null) return null;
  const histogram = gapHistogram();
  histogram.addAll(first.histogram);
  histogram.addAll(next.histogram);
  return { histogram, longestNs: joinTimes(first.longestNs, next.longestNs) };
}

/** Concatenates two arrays. */
export function joinTimes(first: Float64Array, next: Float64Array): Float64Array {
  const both = new Float64Array(first.length + next.length);
  both.set(first);
  both.set(next, first.length);
  return both;
}
