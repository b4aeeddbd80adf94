import type { PerformanceOutcome } from '../../loadgen/engine/test-outcome.ts';
import type { LatencyStatistics } from '../../loadgen/results/latency-statistics.ts';
import type { Distribution } from './distribution.ts';
import type { RunFigures } from './figure-names.ts';
import { namedFigures } from './figures.ts';

/** Figures of a performance run by their names, as LoadGen's results have them: for a run of which no records are left. */
export function figuresOfOutcome(performance: PerformanceOutcome): RunFigures {
  const { summary, counts, dispatchLag, durationNs } = performance;
  const { scenario, completedSampleCount, tokens, rates, overlatencyCount } = summary;
  const { issuedQueries, issuedSamples, completedSamples, contractErrors } = counts;
  const answered = hasLatency(performance);
  const distributionOf = (statistics: LatencyStatistics | null | undefined): Distribution | null =>
    statistics ? new LoggedDistribution(statistics, completedSampleCount) : null;
  return namedFigures({
    ...{ scenario, rates, contractErrors },
    queries: issuedQueries,
    samples: issuedSamples,
    completedSamples,
    latency: new LoggedDistribution(
      summary.queryLatency ?? summary.sampleLatency,
      answered ? completedSampleCount : 0,
    ),
    lag: new LoggedDistribution(dispatchLag, issuedQueries),
    tokens: tokens && {
      perSecond: tokens.completed,
      first: distributionOf(tokens.firstToken),
      perOutput: distributionOf(tokens.perOutputToken),
    },
    multiStreamRate: completedSamples / (durationNs / 1e9),
    // A token model has bounds for its tokens, and none for the whole latency.
    overlatency: scenario === 'Server' && tokens === null ? overlatencyCount : null,
  });
}

/** False where nothing completed: the zeros of its statistics are no latencies, and rates below zero no rates. */
export function hasLatency({ summary, counts }: PerformanceOutcome): boolean {
  const { queryLatency, completedSampleCount } = summary;
  return (queryLatency === null ? completedSampleCount : counts.completedQueries) > 0;
}

/** Statistics of LoadGen's results; they have the percentiles that logs show, which are those of the figures. */
class LoggedDistribution implements Distribution {
  readonly count: number;
  readonly minNs: number;
  readonly meanNs: number;
  readonly maxNs: number;
  readonly #percentiles: LatencyStatistics['percentiles'];

  /** @param count 0: its zeros stand for nothing. */
  constructor({ minNs, meanNs, maxNs, percentiles }: LatencyStatistics, count: number) {
    const isKnown = count > 0;
    this.count = count;
    this.minNs = isKnown ? minNs : Number.NaN;
    this.meanNs = isKnown ? meanNs : Number.NaN;
    this.maxNs = isKnown ? maxNs : Number.NaN;
    this.#percentiles = isKnown ? percentiles : [];
  }

  percentileNs(percentile: number): number {
    return this.#percentiles.find((one) => one.percentile === percentile)?.valueNs ?? Number.NaN;
  }
}
