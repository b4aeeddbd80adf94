import type { RunProgress } from '../../loadgen/engine/test-outcome.ts';

/** How far a phase is. */
export interface ProgressEstimate {
  /** 0 to 1; null where nothing tells. */
  readonly share: number | null;
  /** In seconds; null where nothing tells. */
  readonly remainingS: number | null;
}

/**
 * Estimates how far a phase is. Server ends by its schedule, streams by time and count, all else by the samples of its
 * sets, of which each is taken to last as long as those before.
 */
export function estimateProgress(progress: RunProgress): ProgressEstimate {
  const inSet = shareOfSet(progress);
  const { setIndex, setCount, hasEnded, elapsedNs, phase } = progress;
  const isLast = setIndex + 1 >= setCount;
  if (hasEnded && isLast) return { share: 1, remainingS: 0 };
  if (Number.isNaN(inSet)) return { share: null, remainingS: null };
  const share = Math.min(1, phase === 'accuracy' ? (setIndex + inSet) / setCount : inSet);
  const setsLeft = phase === 'accuracy' ? setCount - setIndex - inSet : 1 - inSet;
  const elapsedS = elapsedNs / 1e9;
  return { share, remainingS: inSet > 0 ? (elapsedS / inSet) * setsLeft : null };
}

/** 0 to 1; NaN where nothing tells. */
function shareOfSet(progress: RunProgress): number {
  const { goal, elapsedNs, issuedQueries, generatedQueries, completedSamples, lostSamples } =
    progress;
  if (progress.hasEnded) return 1;
  const ends: number[] = [];
  if (goal.maxDurationNs > 0) ends.push(elapsedNs / goal.maxDurationNs);
  if (goal.maxQueryCount > 0) ends.push(issuedQueries / goal.maxQueryCount);
  if (goal.lastDueNs > 0) {
    ends.push(elapsedNs / goal.lastDueNs);
  } else if (goal.minQueryCount > 0) {
    const inTime = goal.minDurationNs > 0 ? elapsedNs / goal.minDurationNs : 1;
    ends.push(Math.min(inTime, issuedQueries / goal.minQueryCount));
  } else {
    const samples = generatedQueries * goal.samplesPerQuery;
    ends.push((completedSamples + lostSamples) / samples);
  }
  return Math.min(1, Math.max(...ends));
}
