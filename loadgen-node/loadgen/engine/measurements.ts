import type { RecordedGaps, RecordedTokens } from '../recorder/recording.ts';
import type { SampleRecorder } from '../recorder/sample-recorder.ts';
import { gapHistogram } from '../recorder/token-gaps.ts';
import type { Measurements } from '../results/measurements.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';

/** Times and counts of one set, from its records. */
export function measurementsOf(
  recorder: SampleRecorder,
  { scenario, useTokenLatencies, arrivalIntervalNs }: EffectiveSettings,
): Measurements {
  const sampleLatenciesNs = recorder.completedLatenciesNs();
  let maxLatencyNs = 0;
  for (const latencyNs of sampleLatenciesNs) maxLatencyNs = Math.max(maxLatencyNs, latencyNs);
  const final = recorder.finalQuery();
  return {
    queryCount: recorder.issuedQueries,
    sampleLatenciesNs,
    queryLatenciesNs:
      scenario === 'MultiStream' ? recorder.completedQueryLatenciesNs() : new Float64Array(0),
    maxLatencyS: maxLatencyNs / 1e9,
    finalQuery: {
      scheduledS: final.scheduledNs / 1e9,
      issuedS: final.issuedNs / 1e9,
      allDoneS: final.doneNs / 1e9,
    },
    lastDoneS: recorder.lastCompletionNs / 1e9,
    tokens: useTokenLatencies ? recorder.tokens() : null,
    intervalsTaken: recorder.intervalsTaken(arrivalIntervalNs),
  };
}

/** Measurements of a run that went on: the times of both parts add up, pauses between them left out. */
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
    tokens: joinTokens(first.tokens, next.tokens),
    intervalsTaken:
      first.intervalsTaken && next.intervalsTaken
        ? joinTimes(first.intervalsTaken, next.intervalsTaken)
        : null,
  };
}

/** Tokens of two parts; null where one of them has none. */
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
    counts: Uint32Array.from(
      { length: first.counts.length + next.counts.length },
      (_, i) => first.counts[i] ?? (next.counts[i - first.counts.length] as number),
    ),
  };
}

function joinGaps(first: RecordedGaps | null, next: RecordedGaps | null): RecordedGaps | null {
  if (first === null || next === null) return null;
  const histogram = gapHistogram();
  histogram.addAll(first.histogram);
  histogram.addAll(next.histogram);
  return { histogram, longestNs: joinTimes(first.longestNs, next.longestNs) };
}

/** One after the other. */
export function joinTimes(first: Float64Array, next: Float64Array): Float64Array {
  const both = new Float64Array(first.length + next.length);
  both.set(first);
  both.set(next, first.length);
  return both;
}
