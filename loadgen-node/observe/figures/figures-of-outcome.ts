import type { PerformanceOutcome } from '../../loadgen/engine/test-outcome.ts';
import type { LatencyStatistics } from '../../loadgen/results/latency-statistics.ts';
import { boundsOfLanes } from '../../loadgen/settings/lanes.ts';
import type { Distribution } from './distribution.ts';
import type { RunFigures } from './figure-names.ts';
import { distributionOf } from './latency-histogram.ts';
import { namedFigures } from './named-figures.ts';

/** Figures of a performance run from LoadGen's results, for a run without records. */
export function figuresOfOutcome(performance: PerformanceOutcome): RunFigures {
  const { summary, counts, dispatchLag, durationNs } = performance;
  const { scenario, completedSampleCount, tokens, rates, lanes } = summary;
  const { issuedQueries, issuedSamples, completedSamples, contractErrors } = counts;
  const answered = hasLatency(performance);
  const late = boundsOfLanes(lanes).filter(({ name }) => name === 'latency');
  const ofStatistics = (statistics: LatencyStatistics | null | undefined): Distribution | null =>
    statistics ? logged(statistics, completedSampleCount) : null;
  return namedFigures({
    scenario,
    rates,
    contractErrors,
    answeredPerSecond: summary.answeredPerSecond,
    queries: issuedQueries,
    samples: issuedSamples,
    completedSamples,
    latency: logged(
      summary.queryLatency ?? summary.sampleLatency,
      answered ? completedSampleCount : 0,
    ),
    lag: logged(dispatchLag, issuedQueries),
    tokens: tokens && {
      tokenCount: tokens.tokenCount,
      perSecond: tokens.completed,
      first: ofStatistics(tokens.firstToken),
      perOutput: ofStatistics(tokens.perOutputToken),
      gaps: tokens.gaps && distributionOf(tokens.gaps.histogram),
      longestGap: tokens.gaps && logged(tokens.gaps.longest, tokens.gaps.sampleCount),
    },
    multiStreamRate: completedSamples / (durationNs / 1e9),
    overlatency: late.length === 0 ? null : late.reduce((sum, one) => sum + one.aboveCount, 0),
    good: tokens?.good ?? null,
  });
}

/**
 * False if no sample completed: the zeros of its statistics are not latencies, and negative rates
 * are not rates.
 */
export function hasLatency({ summary, counts }: PerformanceOutcome): boolean {
  const { queryLatency, completedSampleCount } = summary;
  return (queryLatency === null ? completedSampleCount : counts.completedQueries) > 0;
}

/** LoadGen's statistics as a Distribution. NaN, not 0, without values. */
function logged(statistics: LatencyStatistics, count: number): Distribution {
  const { percentiles } = statistics;
  const { minNs, meanNs, maxNs } = count > 0 ? statistics : NOTHING;
  const known = new Map(percentiles.map(({ percentile, valueNs }) => [percentile, valueNs]));
  const percentileNs = (percentile: number): number =>
    (count > 0 ? known.get(percentile) : undefined) ?? Number.NaN;
  return { minNs, meanNs, maxNs, percentileNs };
}

const NOTHING = { minNs: Number.NaN, meanNs: Number.NaN, maxNs: Number.NaN };
