import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { runRates } from '../../loadgen/results/summarize.ts';
import type { Distribution } from './distribution.ts';
import {
  type FigureName,
  GAP_PERCENTILES,
  LAG_PERCENTILES,
  LATENCY_PERCENTILES,
  LONGEST_GAP_PERCENTILES,
  type PercentileFigures,
  possibleFigures,
  type RunFigures,
  TPOT_PERCENTILES,
  TTFT_PERCENTILES,
} from './figure-names.ts';

/**
 * Counts, rates and distributions of a run, as input for {@link namedFigures}. Rates are per
 * second.
 */
export interface MeasuredFigures {
  readonly scenario: Scenario;
  readonly queries: number;
  readonly samples: number;
  readonly completedSamples: number;
  readonly contractErrors: number;
  /** Latencies of the scenario (queries or samples). */
  readonly latency: Distribution;
  readonly lag: Distribution;
  /** Token models; `first` and `perOutput` are null if tokens are not timed. */
  readonly tokens: {
    readonly tokenCount: number;
    readonly perSecond: number;
    readonly first: Distribution | null;
    readonly perOutput: Distribution | null;
    /** Null if times between tokens are not measured. */
    readonly gaps: Distribution | null;
    readonly longestGap: Distribution | null;
  } | null;
  readonly rates: ReturnType<typeof runRates>;
  readonly answeredPerSecond: number;
  /** Completed samples per second in MultiStream, a rate that LoadGen lacks. */
  readonly multiStreamRate: number;
  /** Server: completed samples above the latency bound; null without a bound. */
  readonly overlatency: number | null;
  /** Server with a token model: samples that keep both bounds, and their tokens; null elsewhere. */
  readonly good: { readonly samples: number; readonly tokenCount: number } | null;
}

/**
 * Figures by name. A figure that the scenario lacks, or that was not measured, is absent, never 0.
 */
export function namedFigures(measured: MeasuredFigures): RunFigures {
  const { scenario, queries, samples, completedSamples, contractErrors } = measured;
  const { latency, lag, rates, overlatency, tokens } = measured;
  const completedRates = {
    Server: rates.completed,
    Offline: rates.completed,
    SingleStream: rates.withOverhead,
    MultiStream: measured.multiStreamRate,
  };
  const lost = samples - completedSamples;
  return possibleFigures({
    ...latencyFigures(latency),
    ...lagFigures(lag),
    // Without completed samples LoadGen's rates are negative.
    ...(completedSamples > 0 && {
      ...(scenario === 'Server' && {
        scheduled_qps: rates.scheduled,
        answered_qps: measured.answeredPerSecond,
      }),
      completed_qps: completedRates[scenario],
      ...(overlatency !== null && { overlatency: overlatency / completedSamples }),
      ...goodputFigures(measured),
      ...(tokens && {
        tokens_per_second: tokens.perSecond,
        ...(tokens.first && percentilesOf(tokens.first, TTFT_PERCENTILES)),
        ...(tokens.perOutput && percentilesOf(tokens.perOutput, TPOT_PERCENTILES)),
        ...(tokens.gaps && {
          ...percentilesOf(tokens.gaps, GAP_PERCENTILES),
          itl_max: tokens.gaps.maxNs,
        }),
        ...(tokens.longestGap && percentilesOf(tokens.longestGap, LONGEST_GAP_PERCENTILES)),
      }),
    }),
    queries,
    samples,
    lost,
    errors: lost + contractErrors,
  });
}

/** Goodput by Server's bounds, on latency or on tokens; empty without bounds. */
function goodputFigures(measured: MeasuredFigures) {
  const { overlatency, good, completedSamples, samples, tokens, scenario, answeredPerSecond } =
    measured;
  if (scenario !== 'Server') return {};
  const count =
    good?.samples ?? (overlatency === null ? Number.NaN : completedSamples - overlatency);
  return {
    goodput: count / samples,
    goodput_qps: (answeredPerSecond * count) / completedSamples,
    ...(good !== null &&
      tokens !== null && {
        goodput_tokens_per_second: (tokens.perSecond * good.tokenCount) / tokens.tokenCount,
      }),
  };
}

/** NaN without values. */
export function latencyFigures(latency: Distribution) {
  return {
    min: latency.minNs,
    mean: latency.meanNs,
    ...percentilesOf(latency, LATENCY_PERCENTILES),
    max: latency.maxNs,
  };
}

/** NaN without values. */
export function lagFigures(lag: Distribution) {
  return { ...percentilesOf(lag, LAG_PERCENTILES), lag_max: lag.maxNs };
}

function percentilesOf<N extends FigureName>(
  distribution: Distribution,
  figures: PercentileFigures<N>,
): Record<N, number> {
  const values = figures.map(([name, percentile]) => [name, distribution.percentileNs(percentile)]);
  return Object.fromEntries(values) as Record<N, number>;
}
