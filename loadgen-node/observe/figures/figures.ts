import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { PerformanceOutcome } from '../../loadgen/engine/test-outcome.ts';
import type { LogHistogram } from '../../loadgen/recorder/log-histogram.ts';
import { tokenTimes } from '../../loadgen/recorder/recording.ts';
import {
  countAbove,
  type LatencyStatistics,
  latencyStatistics,
  percentileOf,
} from '../../loadgen/results/latency-statistics.ts';
import { answeredRate, runRates } from '../../loadgen/results/summarize.ts';
import { boundNsOn, keepsBounds, type QueryBound } from '../../loadgen/settings/query-bounds.ts';
import type { Distribution, GrowingDistribution } from './distribution.ts';
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
import { distributionOf } from './latency-histogram.ts';

/** Times of LoadGen's final query of a part (recorder: `finalQuery`), in ns since its start. */
export interface FinalQuery {
  /** NaN: with several issue threads it is one that was not issued. */
  readonly scheduledNs: number;
  readonly issuedNs: number;
  readonly doneNs: number;
  /** The last completion of the part, also of another query. */
  readonly lastDoneNs: number;
}

/**
 * True where a latency is that of a whole query, which its last sample ends; elsewhere each sample
 * has its own.
 */
export function hasQueryLatency(scenario: Scenario): boolean {
  return scenario === 'MultiStream';
}

/**
 * Figures of a run, or of a stretch of it, from its queries and samples one by one: while they happen, in buckets, or
 * exact from records. Latency is completed - scheduled of what completed, lag is issued - scheduled of each query.
 * A scenario with several samples per query and a latency per query has one query outstanding, whose samples follow its issue.
 *
 * Hot path where it is fed live: `issued` and `completed` are a few stores.
 */
export class Figures<D extends GrowingDistribution> {
  /** Of each completed sample. */
  readonly sampleLatency: D;
  readonly lag: D;
  /**
   * Of each query whose samples all completed, the largest of them; null before the first query of
   * several samples.
   */
  #queryLatency: D | null = null;
  readonly #make: () => D;
  /** On the latency; NaN: there is none. */
  readonly #latencyBoundNs: number;
  readonly #tokenBounds: readonly QueryBound[];
  #overlatency = 0;
  #goodSamples = 0;
  #goodTokens = 0;
  #issuedSamples = 0;
  /** Samples of the query at hand that have not completed. */
  #missing = 0;
  #largestNs = 0;
  #tokenCount: number | null = null;
  #firstToken: D | null = null;
  #perOutputToken: D | null = null;
  #gaps: LogHistogram | null = null;
  #longestGap: D | null = null;
  readonly #final = { scheduledS: 0, issuedS: 0, allDoneS: 0, lastDoneS: 0 };

  /**
   * @param make Makes a distribution that has no values.
   * @param bounds Server: those of the lane of these queries. Default: there are none.
   */
  constructor(make: () => D, bounds: readonly QueryBound[] = []) {
    this.#make = make;
    this.#tokenBounds = bounds.filter(({ name }) => name !== 'latency');
    this.#latencyBoundNs = boundNsOn('latency', bounds) ?? Number.NaN;
    this.sampleLatency = make();
    this.lag = make();
  }

  /** A query goes out. */
  issued(lagNs: number, samples: number): void {
    this.lag.add(lagNs);
    this.#issuedSamples += samples;
    if (samples > 1) this.#queryLatency ??= this.#make();
    this.#missing = samples;
    this.#largestNs = Number.NEGATIVE_INFINITY;
  }

  /** A sample completed; of several ones per query one of the query that was issued last. */
  completed(latencyNs: number): void {
    this.sampleLatency.add(latencyNs);
    if (latencyNs > this.#latencyBoundNs) this.#overlatency += 1;
    if (this.#queryLatency === null) return;
    if (latencyNs > this.#largestNs) this.#largestNs = latencyNs;
    this.#missing -= 1;
    if (this.#missing === 0) this.#queryLatency.add(this.#largestNs);
  }

  /**
   * Output tokens of a sample that completed.
   * @param firstTokenNs First token - scheduled, NaN where it did not come; null where it is not timed.
   */
  tokens(count: number, latencyNs: number, firstTokenNs: number | null): void {
    this.#tokenCount = (this.#tokenCount ?? 0) + count;
    if (firstTokenNs === null) return;
    const times = tokenTimes(latencyNs, firstTokenNs, count);
    this.#firstToken ??= this.#make();
    this.#perOutputToken ??= this.#make();
    this.#firstToken.add(times.ttft);
    this.#perOutputToken.add(times.tpot);
    if (!keepsBounds(this.#tokenBounds, times)) return;
    this.#goodSamples += 1;
    this.#goodTokens += count;
  }

  /** Longest time between two tokens of a sample that completed. */
  longestGap(ns: number): void {
    this.#longestGap ??= this.#make();
    this.#longestGap.add(ns);
  }

  /** Times between the tokens of all samples. @param histogram Kept, not copied. */
  gaps(histogram: LogHistogram): void {
    this.#gaps = histogram;
  }

  /** A part of a run is over: rates count the times of all parts, pauses between them left out. */
  endPart({ scheduledNs, issuedNs, doneNs, lastDoneNs }: FinalQuery): void {
    this.#final.lastDoneS += lastDoneNs / 1e9;
    this.#final.scheduledS += scheduledNs / 1e9;
    this.#final.issuedS += issuedNs / 1e9;
    this.#final.allDoneS += doneNs / 1e9;
  }

  /** The latencies that the figures of a scenario are of. */
  latencyOf(scenario: Scenario): D {
    return (hasQueryLatency(scenario) ? this.#queryLatency : null) ?? this.sampleLatency;
  }

  /** A new window begins: what was counted is forgotten, the query at hand is not. */
  clear(): void {
    this.sampleLatency.clear();
    this.#queryLatency?.clear();
    this.lag.clear();
  }

  /**
   * Figures of all that was added; without {@link endPart} there are no rates.
   * @param contractErrors Responses that broke the contract; they are no samples.
   */
  close(scenario: Scenario, contractErrors = 0): RunFigures {
    const completedSamples = this.sampleLatency.count;
    const maxLatencyS = this.sampleLatency.maxNs / 1e9;
    const { allDoneS } = this.#final;
    const hasBound = scenario === 'Server' && !Number.isNaN(this.#latencyBoundNs);
    return namedFigures({
      ...{ scenario, contractErrors, completedSamples },
      latency: this.latencyOf(scenario),
      lag: this.lag,
      tokens:
        this.#tokenCount === null
          ? null
          : {
              tokenCount: this.#tokenCount,
              perSecond: this.#tokenCount / (scenario === 'Offline' ? maxLatencyS : allDoneS),
              first: this.#firstToken,
              perOutput: this.#perOutputToken,
              gaps: this.#gaps && distributionOf(this.#gaps),
              longestGap: this.#longestGap,
            },
      rates: runRates(scenario, { completedSamples, maxLatencyS, finalQuery: this.#final }),
      answeredPerSecond: answeredRate(completedSamples, this.#final.lastDoneS),
      multiStreamRate: completedSamples / allDoneS,
      overlatency: hasBound ? this.#overlatency : null,
      good:
        this.#tokenBounds.length === 0
          ? null
          : { samples: this.#goodSamples, tokenCount: this.#goodTokens },
      queries: this.lag.count,
      samples: this.#issuedSamples,
    });
  }
}

/**
 * Counts, rates and distributions of a run, as {@link namedFigures} takes them. Rates are per
 * second.
 */
interface MeasuredFigures {
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
function namedFigures(measured: MeasuredFigures): RunFigures {
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
    ...{ queries, samples, lost, errors: lost + contractErrors },
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

/** All values, 8 bytes each; figures are exact, to the bit those of LoadGen's results. */
export class ExactDistribution implements GrowingDistribution {
  #values: Float64Array;
  #count = 0;
  #isSorted = true;

  /**
   * @param expectedCount A good guess saves the copies of growing; memory that is not filled stays
   *   untouched.
   */
  constructor(expectedCount = 0) {
    this.#values = new Float64Array(Math.max(16, expectedCount));
  }

  get count(): number {
    return this.#count;
  }

  get minNs(): number {
    return this.sorted()[0] ?? Number.NaN;
  }

  /** Truncated to whole ns, as LoadGen does. */
  get meanNs(): number {
    return this.#count === 0 ? Number.NaN : latencyStatistics(this.sorted()).meanNs;
  }

  get maxNs(): number {
    return this.sorted().at(-1) ?? Number.NaN;
  }

  add(ns: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Float64Array(this.#count * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#count] = ns;
    this.#count += 1;
    this.#isSorted = false;
  }

  clear(): void {
    this.#count = 0;
  }

  percentileNs(percentile: number): number {
    return this.#count === 0 ? Number.NaN : percentileOf(this.sorted(), percentile);
  }

  /** Number of values above a limit. */
  countAbove(limitNs: number): number {
    return countAbove(this.sorted(), limitNs);
  }

  /** The values, sorted, where they lie. */
  sorted(): Float64Array {
    const values = this.#values.subarray(0, this.#count);
    if (!this.#isSorted) values.sort();
    this.#isSorted = true;
    return values;
  }
}

/**
 * Figures of a performance run by their names, as LoadGen's results have them: for a run of which
 * no records are left.
 */
export function figuresOfOutcome(performance: PerformanceOutcome): RunFigures {
  const { summary, counts, dispatchLag, durationNs } = performance;
  const { scenario, completedSampleCount, tokens, rates, bounds } = summary;
  const { issuedQueries, issuedSamples, completedSamples, contractErrors } = counts;
  const answered = hasLatency(performance);
  const ofStatistics = (statistics: LatencyStatistics | null | undefined): Distribution | null =>
    statistics ? logged(statistics, completedSampleCount) : null;
  return namedFigures({
    ...{ scenario, rates, contractErrors, answeredPerSecond: summary.answeredPerSecond },
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
    overlatency: bounds.find(({ name }) => name === 'latency')?.aboveCount ?? null,
    good: tokens?.good ?? null,
  });
}

/**
 * False where no sample completed: the zeros of its statistics are no latencies, and rates below zero
 * no rates.
 */
export function hasLatency({ summary, counts }: PerformanceOutcome): boolean {
  const { queryLatency, completedSampleCount } = summary;
  return (queryLatency === null ? completedSampleCount : counts.completedQueries) > 0;
}

/**
 * Statistics of LoadGen's results, with the percentiles that logs show; NaN in place of their zeros
 * without values.
 */
function logged(statistics: LatencyStatistics, count: number): Distribution {
  const { percentiles } = statistics;
  const { minNs, meanNs, maxNs } = count > 0 ? statistics : NOTHING;
  const known = new Map(percentiles.map(({ percentile, valueNs }) => [percentile, valueNs]));
  const percentileNs = (percentile: number): number =>
    (count > 0 ? known.get(percentile) : undefined) ?? Number.NaN;
  return { minNs, meanNs, maxNs, percentileNs };
}

const NOTHING = { minNs: Number.NaN, meanNs: Number.NaN, maxNs: Number.NaN };
