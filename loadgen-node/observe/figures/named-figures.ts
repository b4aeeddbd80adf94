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
 * Counts, rates and distributions of a run, as {@link namedFigures} takes them. Rates are per
 * second.
 */
export interface MeasuredFigures {
  readonly scenario: Scenario;
  readonly queries: number;
  readonly samples: number;
  readonly completedSamples: number;
  readonly contractErrors: number;
  /** Of what the scenario has latencies of. */
  readonly latency: Distribution;
  readonly lag: Distribution;
  /** Token models; `first` and `perOutput` are null where tokens are not timed. */
  readonly tokens: {
    readonly tokenCount: number;
    readonly perSecond: number;
    readonly first: Distribution | null;
    readonly perOutput: Distribution | null;
    /** Null where times between tokens are not measured. */
    readonly gaps: Distribution | null;
    readonly longestGap: Distribution | null;
  } | null;
  readonly rates: ReturnType<typeof runRates>;
  readonly answeredPerSecond: number;
  /** Completed samples per second in MultiStream, for which LoadGen has no rate. */
  readonly multiStreamRate: number;
  /** Server: completed samples above the latency bound; null without a bound. */
  readonly overlatency: number | null;
  /** Server: completed samples of a token model within both bounds, and their tokens; null elsewhere. */
  readonly good: { readonly samples: number; readonly tokenCount: number } | null;
}

/**
 * Gives figures their names. A figure that the scenario does not have, or that was not measured, is absent, never
 * 0.
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
    // Without completed samples LoadGen's rates are below 0.
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

/** Goodput by the bounds of Server, on the latency or on tokens; none without them. */
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

/** NaN where there are no values. */
export function latencyFigures(latency: Distribution) {
  return {
    min: latency.minNs,
    mean: latency.meanNs,
    ...percentilesOf(latency, LATENCY_PERCENTILES),
    max: latency.maxNs,
  };
}

/** NaN where there are no values. */
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
