import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { LogHistogram } from '../../loadgen/recorder/log-histogram.ts';
import { tokenTimes } from '../../loadgen/recorder/recording.ts';
import { gapHistogram } from '../../loadgen/recorder/token-gaps.ts';
import { answeredRate, runRates } from '../../loadgen/results/summarize.ts';
import { boundNsOn, keepsBounds, type QueryBound } from '../../loadgen/settings/query-bounds.ts';
import type { GrowingDistribution } from './distribution.ts';
import type { RunFigures } from './figure-names.ts';
import { distributionOf } from './latency-histogram.ts';
import { namedFigures } from './named-figures.ts';

/**
 * End of a part of a run, in ns since its start: times of LoadGen's final query (recorder:
 * `finalQuery`), and the last completion.
 */
export interface PartEnd {
  /** NaN if the final query was not issued, which can happen with several issue threads. */
  readonly scheduledNs: number;
  readonly issuedNs: number;
  readonly doneNs: number;
  /** Last completion of the part, of any query. */
  readonly lastDoneNs: number;
}

/**
 * True if a latency is that of a whole query, which ends with its last sample; otherwise each
 * sample has its own.
 */
export function hasQueryLatency(scenario: Scenario): boolean {
  return scenario === 'MultiStream';
}

/** A query while its samples are counted. */
interface CountedQuery {
  lagNs: number;
  /** Samples not completed yet. */
  missing: number;
  /** Latency of the last sample. */
  largestNs: number;
}

/**
 * Figures of a run, or of a group of its samples, from single queries and samples: live in buckets,
 * or exact from records. Latency is completed - scheduled of completed samples; lag is issued -
 * scheduled of each query. A scenario with several samples and one latency per query has one
 * outstanding query, whose samples follow its issue.
 *
 * Hot path for live use: `issued` and `completed` are a few stores.
 */
export class Figures<D extends GrowingDistribution<D>> {
  /** Latency of each completed sample. */
  readonly sampleLatency: D;
  readonly lag: D;
  /**
   * Largest sample latency of each query with all samples completed; null before the first query of
   * several samples.
   */
  #queryLatency: D | null = null;
  readonly #make: () => D;
  /** Bound on the latency; NaN without one. */
  readonly #latencyBoundNs: number;
  readonly #tokenBounds: readonly QueryBound[];
  #overlatency = 0;
  #goodSamples = 0;
  #goodTokens = 0;
  #issuedSamples = 0;
  /** Reused for each whole query; a split query has its own object. */
  readonly #whole: CountedQuery = { lagNs: 0, missing: 0, largestNs: 0 };
  #atHand: CountedQuery = this.#whole;
  /**
   * Queries with samples in several groups, by number; added to `lag` and `#queryLatency` only when
   * figures are closed.
   */
  readonly #split: Map<number, CountedQuery> = new Map();
  #tokenCount: number | null = null;
  #firstToken: D | null = null;
  #perOutputToken: D | null = null;
  #gaps: LogHistogram | null = null;
  #longestGap: D | null = null;
  /** Ends by part number. */
  readonly #parts: Map<number, PartEnd> = new Map();

  /**
   * @param make Makes an empty distribution.
   * @param bounds Server: bounds of these queries' lane. Default: none.
   */
  constructor(make: () => D, bounds: readonly QueryBound[] = []) {
    this.#make = make;
    this.#tokenBounds = bounds.filter(({ name }) => name !== 'latency');
    this.#latencyBoundNs = boundNsOn('latency', bounds) ?? Number.NaN;
    this.sampleLatency = make();
    this.lag = make();
  }

  /** Adds an issued query. */
  issued(lagNs: number, samples: number): void {
    this.lag.add(lagNs);
    this.#issuedSamples += samples;
    if (samples > 1) this.#queryLatency ??= this.#make();
    this.#whole.missing = samples;
    this.#whole.largestNs = Number.NEGATIVE_INFINITY;
    this.#atHand = this.#whole;
  }

  /**
   * Adds an issued query that has other samples in other groups. Adding the groups' figures makes
   * it one query again.
   * @param query Its number in the run.
   * @param samples Its samples in this group.
   */
  issuedInPart(query: number, lagNs: number, samples: number): void {
    this.#issuedSamples += samples;
    this.#queryLatency ??= this.#make();
    this.#atHand = { lagNs, missing: samples, largestNs: Number.NEGATIVE_INFINITY };
    this.#split.set(query, this.#atHand);
  }

  /** Adds a completed sample; with several samples per query, one of the last issued query. */
  completed(latencyNs: number): void {
    this.sampleLatency.add(latencyNs);
    if (latencyNs > this.#latencyBoundNs) this.#overlatency += 1;
    if (this.#queryLatency === null) return;
    const query = this.#atHand;
    if (latencyNs > query.largestNs) query.largestNs = latencyNs;
    query.missing -= 1;
    if (query.missing === 0 && query === this.#whole) this.#queryLatency.add(query.largestNs);
  }

  /**
   * Adds the output tokens of a completed sample.
   * @param firstTokenNs First token - scheduled; NaN if none came, null if not timed.
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

  /** Adds the longest time between two tokens of a completed sample. */
  longestGap(ns: number): void {
    this.#longestGap ??= this.#make();
    this.#longestGap.add(ns);
  }

  /** Adds the times between the tokens of all samples. */
  gaps(histogram: LogHistogram): void {
    this.#gaps ??= gapHistogram();
    this.#gaps.addAll(histogram);
  }

  /**
   * Ends a part of a run: rates use the sum of all parts' times, without pauses between them. In a
   * group these are times of the whole part, so that rates of groups add up; for a known part the
   * latest times count.
   */
  endPart(part: number, end: PartEnd): void {
    const known = this.#parts.get(part) ?? end;
    this.#parts.set(part, {
      scheduledNs: Math.max(known.scheduledNs, end.scheduledNs),
      issuedNs: Math.max(known.issuedNs, end.issuedNs),
      doneNs: Math.max(known.doneNs, end.doneNs),
      lastDoneNs: Math.max(known.lastDoneNs, end.lastDoneNs),
    });
  }

  /**
   * Adds another group of the same run: the result equals figures of both groups' samples, bit for
   * bit.
   */
  add(other: Figures<D>): this {
    this.sampleLatency.addAll(other.sampleLatency);
    this.lag.addAll(other.lag);
    this.#queryLatency = this.#sumOf(this.#queryLatency, other.#queryLatency);
    this.#firstToken = this.#sumOf(this.#firstToken, other.#firstToken);
    this.#perOutputToken = this.#sumOf(this.#perOutputToken, other.#perOutputToken);
    this.#longestGap = this.#sumOf(this.#longestGap, other.#longestGap);
    this.#overlatency += other.#overlatency;
    this.#goodSamples += other.#goodSamples;
    this.#goodTokens += other.#goodTokens;
    this.#issuedSamples += other.#issuedSamples;
    if (other.#tokenCount !== null) this.#tokenCount = (this.#tokenCount ?? 0) + other.#tokenCount;
    if (other.#gaps !== null) this.gaps(other.#gaps);
    for (const [part, end] of other.#parts) this.endPart(part, end);
    for (const [number, { lagNs, missing, largestNs }] of other.#split) {
      const own = this.#split.get(number) ?? { lagNs, missing: 0, largestNs };
      own.missing += missing;
      own.largestNs = Math.max(own.largestNs, largestNs);
      this.#split.set(number, own);
    }
    return this;
  }

  #sumOf(own: D | null, other: D | null): D | null {
    if (other === null) return own;
    const sum = own ?? this.#make();
    sum.addAll(other);
    return sum;
  }

  /** The distribution with the split queries added. */
  #withSplit(distribution: D, read: (query: CountedQuery) => number | null): D {
    if (this.#split.size === 0) return distribution;
    const all = this.#make();
    all.addAll(distribution);
    for (const query of this.#split.values()) {
      const value = read(query);
      if (value !== null) all.add(value);
    }
    return all;
  }

  /** The latencies that a scenario's figures use. */
  latencyOf(scenario: Scenario): D {
    if (!hasQueryLatency(scenario) || this.#queryLatency === null) return this.sampleLatency;
    return this.#withSplit(this.#queryLatency, ({ missing, largestNs }) =>
      missing === 0 ? largestNs : null,
    );
  }

  /** Starts a new window: forgets all counts, except the current query. */
  clear(): void {
    this.sampleLatency.clear();
    this.#queryLatency?.clear();
    this.lag.clear();
  }

  /**
   * Figures of everything added; without {@link endPart} there are no rates.
   * @param contractErrors Responses that broke the contract; not samples.
   */
  close(scenario: Scenario, contractErrors = 0): RunFigures {
    const completedSamples = this.sampleLatency.count;
    const maxLatencyS = this.sampleLatency.maxNs / 1e9;
    const lag = this.#withSplit(this.lag, ({ lagNs }) => lagNs);
    const finalQuery = { scheduledS: 0, issuedS: 0, allDoneS: 0 };
    let lastDoneS = 0;
    for (const { scheduledNs, issuedNs, doneNs, lastDoneNs } of this.#parts.values()) {
      finalQuery.scheduledS += scheduledNs / 1e9;
      finalQuery.issuedS += issuedNs / 1e9;
      finalQuery.allDoneS += doneNs / 1e9;
      lastDoneS += lastDoneNs / 1e9;
    }
    const { allDoneS } = finalQuery;
    const hasBound = scenario === 'Server' && !Number.isNaN(this.#latencyBoundNs);
    return namedFigures({
      scenario,
      contractErrors,
      completedSamples,
      latency: this.latencyOf(scenario),
      lag,
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
      rates: runRates(scenario, { completedSamples, maxLatencyS, finalQuery }),
      answeredPerSecond: answeredRate(completedSamples, lastDoneS),
      multiStreamRate: completedSamples / allDoneS,
      overlatency: hasBound ? this.#overlatency : null,
      good:
        this.#tokenBounds.length === 0
          ? null
          : { samples: this.#goodSamples, tokenCount: this.#goodTokens },
      queries: lag.count,
      samples: this.#issuedSamples,
    });
  }
}
