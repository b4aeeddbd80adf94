import { z } from 'zod';
import type {
  PerformanceOutcome,
  PhaseCounts,
  SetProgress,
  VerdictReason,
} from '../../loadgen/engine/test-outcome.ts';
import {
  BOUND_NAMES,
  type BoundName,
  type BoundTimes,
} from '../../loadgen/settings/query-bounds.ts';
import {
  GOODPUT,
  type Goodput,
  LATENCY_FIGURE,
  TOKEN_FIGURES,
} from '../../present/curve/load-point.ts';

/**
 * Kinds of probes. `unloaded`: one query at a time, whatever the load says. `screening`: short, ended as soon as it is decided.
 * `full`: as the round's rule asks for; its verdict is what counts.
 */
const PROBE_KINDS = ['unloaded', 'screening', 'full'] as const;
export type ProbeKind = (typeof PROBE_KINDS)[number];

/**
 * A search for the largest load of which at most `1 - percentile` of the queries are late: above each bound alone, where there
 * are two. `boundNs` is also the measure of how long a queue takes to show.
 */
export interface LoadSearch extends BoundTimes {
  /**
   * `rate`: queries per second, any number above 0 (Server). `streams`: whole numbers (MultiStream
   * of round v0.5).
   */
  readonly kind: 'rate' | 'streams';
  /**
   * A load to begin with; undefined: the unloaded latency gives one. It need not keep the bound.
   */
  readonly startLoad: number | undefined;
  /** No probe goes above: what LoadGen can plan, or the user wants. */
  readonly loadMax: number;
  /** Screenings go on until the interval's half width is this share of the estimate, 0 to 1. */
  readonly precision: number;
  /** How sure the interval is, 0 to 1. */
  readonly confidence: number;
  /** Time of all screenings together in ns, after which the interval stays as wide as it is. */
  readonly screeningNsMax: number;
  /** How the value is confirmed. */
  readonly full: FullRunRule;
}

/** A search in its file. */
export const LOAD_SEARCH = z.strictObject({
  kind: z.enum(['rate', 'streams']),
  boundNs: z.number(),
  tpotNs: z.number().optional(),
  percentile: z.number().gt(0).lt(1),
  startLoad: z.number().optional(),
  loadMax: z.number(),
  precision: z.number(),
  confidence: z.number(),
  screeningNsMax: z.number(),
  full: z.strictObject({
    runs: z.int(),
    minDurationNs: z.number(),
    durationNsMax: z.number().optional(),
    minQueryCount: z.number(),
    hasEarlyStopping: z.boolean(),
    loadsMax: z.int(),
  }),
});

/** The round's rule for the runs that count. */
export interface FullRunRule {
  /**
   * VALID runs at one load that make it the value: v0.5 5, else 1. 0: no confirmation, the
   * estimate is the value.
   */
  readonly runs: number;
  readonly minDurationNs: number;
  /** Longer than asked for it is made up to this; default: no limit. */
  readonly durationNsMax?: number | undefined;
  readonly minQueryCount: number;
  /** False: round v0.5, where the percentile alone decides. */
  readonly hasEarlyStopping: boolean;
  /** Loads that are tried at most. */
  readonly loadsMax: number;
}

/** Queries of a probe against one bound. */
const PROBE_BOUND = z.strictObject({
  name: z.enum(BOUND_NAMES),
  overQueries: z.int().min(0),
  /**
   * Variance of the share above the bound, as a multiple of what independent queries would have; 1
   * or more.
   */
  varianceFactor: z.number().min(1),
  /** Interval of the share above the bound, 0 to 1, at 95 %. */
  shareLow: z.number().min(0).max(1),
  shareHigh: z.number().min(0).max(1),
  /** The bounded time at the percentile, in ns. */
  percentileNs: z.number(),
  /** Where this time went, in words; absent: the probe's own words tell it, or nothing is known. */
  explanation: z.exactOptional(z.string()),
});

/** A probe that was made. A search goes on from its probes alone. */
export const PEAK_PROBE = z.strictObject({
  number: z.int().min(0),
  kind: z.enum(PROBE_KINDS),
  load: z.number().positive(),
  /**
   * Verdict on the bound. `keeps`, `misses`: decided. `undecided`: as many queries as it was allowed did not decide.
   * `lost`: samples were lost. `generator-bound`: LoadGen itself was too slow. `invalid`: a full run that is INVALID for a reason
   * that no lighter load changes.
   */
  verdict: z.enum(['keeps', 'misses', 'undecided', 'lost', 'generator-bound', 'invalid']),
  /** In words. */
  why: z.string(),
  /** Queries that the figures are made from. */
  queries: z.int().min(0),
  /** As the search has them: one on the latency, or those on the first token and on each one after it. */
  bounds: z.array(PROBE_BOUND).min(1).max(2),
  /** Mean latency in ns. */
  meanNs: z.number(),
  /** Percentiles with their intervals, for the curve. */
  latencies: z.array(LATENCY_FIGURE),
  /** Null: no token model. */
  tokens: TOKEN_FIGURES.nullable(),
  /** Of the whole probe; null where there is none, as of one query at a time. */
  goodput: GOODPUT.nullable(),
  /** p99 of LoadGen's own lateness. */
  lagP99Ns: z.number(),
  lostSamples: z.int().min(0),
  /** Completed. */
  samplesPerSecond: z.number().min(0),
  /** Server: by the schedule that was drawn; null elsewhere. */
  scheduledPerSecond: z.number().min(0).nullable(),
  /**
   * Full run: share by which the load was surely above what the SUT completes, since the queue grew
   * all through it; else null.
   */
  growth: z.number().nullable(),
  durationNs: z.number().min(0),
  /** The limit in words; null if unknown. */
  explanation: z.string().nullable(),
  folder: z.string().nullable(),
  /** Work of the SUT for others meanwhile, where it was much; absent: nothing that is known of. */
  others: z.exactOptional(z.string()),
});
export type PeakProbe = z.infer<typeof PEAK_PROBE>;
export type ProbeBound = PeakProbe['bounds'][number];

/** Why a screening ended whose load is far too heavy. */
export const BACKLOG_GREW = 'queries came faster than they were answered';

/** Largest share above a bound, of the bounds of a probe with queries; half a query where none is. */
export function worstShare({ bounds, queries }: PeakProbe): number {
  return Math.max(0.5, ...bounds.map(({ overQueries }) => overQueries)) / queries;
}

/** True where no more queries are above any bound than may be. */
export function isWithinBounds(
  { percentile }: LoadSearch,
  { bounds, queries }: PeakProbe,
): boolean {
  return bounds.every(({ overQueries }) => overQueries <= (1 - percentile) * queries);
}

/** An interval, ends included. */
export interface LoadInterval {
  readonly low: number;
  readonly high: number;
}

/**
 * How a search ended. `found`: the value is confirmed (or needs no confirmation). `none`: no load keeps the bound.
 * `unconfirmed`: full runs did not confirm a value. `open`: no load missed the bound up to `loadMax`; the value is the highest that was tried.
 */
export type PeakEnding = 'found' | 'none' | 'unconfirmed' | 'open';

/** Who sets the limit. `others`: the SUT answered others as well, so that its own limit is not seen. */
export type PeakLimit =
  | 'others'
  | 'sut'
  | 'lost-samples'
  | 'generator'
  | 'load-max'
  | 'unloaded-latency';

/** A run of a search: at which load, and how long at most. */
export interface ProbeSpec {
  /** Server: queries per second. MultiStream of round v0.5: streams, that is samples per query. */
  readonly load: number;
  readonly kind: ProbeKind;
  /**
   * Number among the probes of the search, from 0: names its folder, and draws a schedule of its
   * own unless the probe is `full`.
   */
  readonly number: number;
  /** Name in the status line. Default: `probe` and its number. */
  readonly name?: string;
  /** So many queries at a time in a closed loop, in place of arrivals at the load. */
  readonly concurrency?: number;
  /** Of `full`: the shortest run, in ns. */
  readonly durationNsMin?: number;
  /** Unless `full`: most queries, 1 or more. */
  readonly queriesMax?: number;
  /** Unless `full`: when issuing ends at the latest, in ns since the first query. */
  readonly durationNsMax?: number;
  /**
   * Unless `full`: asked about ten times a second with what completed so far; true ends the run. Untouched by lost samples,
   * which end it by themselves.
   */
  readonly isDecided?: (seen: SetProgress) => boolean;
  /** True: lost samples do not end it. Default: false. */
  readonly goesOnAfterLoss?: boolean;
}

/** How a probe ended: the part of an engine's outcome that a search reads. */
export type ProbeEnd = Pick<
  PerformanceOutcome,
  'endCause' | 'durationNs' | 'isGeneratorBound' | 'generatorBoundReason'
> & {
  readonly counts: Pick<PhaseCounts, 'lostSamples' | 'issuedSamples'>;
  /** Text of the first fault or lost sample; null where there was none. */
  readonly faultText: string | null;
  /** Of a probe that ended by a stall: what became of the answers. */
  readonly silentText?: string;
};

/** A SUT of which no sample completes any more, as a sentence without its stop. @param what A probe, a point. */
export function silentSut({ silentText = 'stopped answering' }: ProbeEnd, what: string): string {
  return `the SUT ${silentText} during ${what}`;
}

/** Times of tokens, and how many come to an end per second. */
export interface ProbeTokens {
  readonly firstNs: Float64Array;
  readonly perOutputNs: Float64Array;
  readonly perSecond: number;
}

/** The bounded times of a probe's queries. */
export function boundedTimes(
  name: BoundName,
  { latenciesNs, tokens }: Pick<ProbeOutcome, 'latenciesNs' | 'tokens'>,
): Float64Array {
  if (name === 'latency') return latenciesNs;
  return (name === 'ttft' ? tokens?.firstNs : tokens?.perOutputNs) ?? new Float64Array();
}

/** Latencies, rates and verdict of a probe. */
export interface ProbeOutcome {
  /** Latency of each completed query, completed - scheduled, in ns, in the order of the queries. */
  readonly latenciesNs: Float64Array;
  /** Of the same queries, first token - scheduled and the mean time of the tokens after it; undefined: no token model. */
  readonly tokens?: ProbeTokens | undefined;
  /** Undefined: not known. */
  readonly goodput?: Goodput | undefined;
  readonly end: ProbeEnd;
  /** Completed samples per second, as the scenario counts them. */
  readonly samplesPerSecond: number;
  /**
   * Server: samples per second by the schedule that was drawn; null in other scenarios.
   */
  readonly scheduledPerSecond: number | null;
  /** p99 of LoadGen's own lateness, in ns. */
  readonly lagP99Ns: number;
  /** longhaul's verdict; meaningless for a screening that ended early. */
  readonly isValid: boolean;
  readonly reasons: readonly VerdictReason[];
  /** Which part of the latency grows at the tail, in words; undefined if unknown. */
  readonly explanation: string | undefined;
  /** The part of it about one bounded time, where it is about several. */
  readonly explanations?: Partial<Record<BoundName, string>>;
  /** Where its logs lie; undefined: it left none. */
  readonly folder: string | undefined;
  /** Work of the SUT for others meanwhile, in words; absent: too little to matter. */
  readonly others?: string;
}

/**
 * Runs one probe: over the network, in process, or under simulated time; the search knows no difference.
 * @throws MlperfError where the SUT is gone: the search ends and may be resumed.
 */
export type RunProbe = (spec: ProbeSpec) => Promise<ProbeOutcome>;

/** An interval for JSON, which knows no infinity: an open end is null. */
export function closedInterval(interval: LoadInterval | null) {
  const closed = (end: number): number | null => (Number.isFinite(end) ? end : null);
  return interval && { low: interval.low, high: closed(interval.high) };
}
