import type { PerformanceOutcome } from '../../loadgen/engine/test-outcome.ts';
import type { LatencyStatistics } from '../../loadgen/results/latency-statistics.ts';
import type { PerformanceSummary } from '../../loadgen/results/performance-summary.ts';
import { finiteFigures, type RunFigures } from './figure-names.ts';

/**
 * Figures of a performance run by their names, as its outcome has them: for a run of which no records are left. One that
 * the run does not know is absent.
 */
export function figuresOfOutcome(performance: PerformanceOutcome): RunFigures {
  const { summary, counts } = performance;
  const { lostSamples, contractErrors, issuedQueries, issuedSamples } = counts;
  return finiteFigures({
    ...latencyFigures(performance),
    ...lagFigures(performance),
    ...tokenFigures(summary),
    ...serverFigures(summary),
    completed_qps: completedPerSecond(performance),
    queries: issuedQueries,
    samples: issuedSamples,
    lost: lostSamples,
    errors: lostSamples + contractErrors,
  });
}

/** False where nothing completed: the zeros of its statistics are no latencies, and rates below zero no rates. */
export function hasLatency({ summary, counts }: PerformanceOutcome): boolean {
  const { queryLatency, completedSampleCount } = summary;
  return (queryLatency === null ? completedSampleCount : counts.completedQueries) > 0;
}

function latencyFigures(performance: PerformanceOutcome): RunFigures {
  if (!hasLatency(performance)) return {};
  const { queryLatency, sampleLatency } = performance.summary;
  const latency = queryLatency ?? sampleLatency;
  return {
    min: latency.minNs,
    mean: latency.meanNs,
    ...{ p50: at(latency, 0.5), p90: at(latency, 0.9), p95: at(latency, 0.95) },
    ...{ p97: at(latency, 0.97), p99: at(latency, 0.99), 'p99.9': at(latency, 0.999) },
    max: latency.maxNs,
  };
}

function lagFigures({ dispatchLag, counts }: PerformanceOutcome): RunFigures {
  if (counts.issuedQueries === 0) return {};
  return {
    lag_p50: at(dispatchLag, 0.5),
    lag_p99: at(dispatchLag, 0.99),
    lag_max: dispatchLag.maxNs,
  };
}

/** Every statistic has the percentiles that logs show, which are those of the figures. */
function at({ percentiles }: LatencyStatistics, percentile: number): number {
  return percentiles.find((one) => one.percentile === percentile)?.valueNs ?? Number.NaN;
}

/** A token model has bounds for its tokens, and none for the whole latency. */
function serverFigures({
  scenario,
  rates,
  overlatencyCount,
  completedSampleCount,
  tokens,
}: PerformanceSummary): RunFigures {
  // LoadGen's rates of nothing are below 0.
  if (scenario !== 'Server' || completedSampleCount === 0) return {};
  return {
    scheduled_qps: rates.scheduled,
    ...(tokens === null && { overlatency: overlatencyCount / completedSampleCount }),
  };
}

/** LoadGen's own rate; NaN where nothing completed. LoadGen has none for MultiStream, where it is the samples over the time of the phase. */
function completedPerSecond({ summary, counts, durationNs }: PerformanceOutcome): number {
  const { scenario, rates, completedSampleCount } = summary;
  if (completedSampleCount === 0) return Number.NaN;
  if (scenario === 'Server' || scenario === 'Offline') return rates.completed;
  if (scenario === 'SingleStream') return rates.withOverhead;
  return counts.completedSamples / (durationNs / 1e9);
}

function tokenFigures({ tokens, completedSampleCount }: PerformanceSummary): RunFigures {
  if (tokens === null || completedSampleCount === 0) return {};
  const { firstToken, perOutputToken, completed } = tokens;
  const total = { tokens_per_second: completed };
  if (firstToken === null || perOutputToken === null) return total;
  return {
    ...{ ttft_p50: at(firstToken, 0.5), ttft_p99: at(firstToken, 0.99) },
    ...{ tpot_p50: at(perOutputToken, 0.5), tpot_p99: at(perOutputToken, 0.99) },
    ...total,
  };
}
