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
 * Kinds of probes. `unloaded`: one query at a time, whatever the load. `screening`: short, ends
 * when decided. `full`: by the round's rule; its verdict counts.
 */
const PROBE_KINDS = ['unloaded', 'screening', 'full'] as const;
export type ProbeKind = (typeof PROBE_KINDS)[number];

/**
 * A search for the largest load at which at most `1 - percentile` of the queries are late, for each
 * bound separately if there are two. `boundNs` is also the time scale on which a queue shows.
 */
export interface LoadSearch extends BoundTimes {
  /**
   * `rate`: queries per second, any number above 0 (Server). `streams`: whole numbers (MultiStream
   * of round v0.5).
   */
  readonly kind: 'rate' | 'streams';
  /** Start load; undefined: from the unloaded latency. It need not keep the bound. */
  readonly startLoad: number | undefined;
  /** Upper limit of all probes: what LoadGen can plan, or the user's limit. */
  readonly loadMax: number;
  /** Screenings continue until the interval's half width is this share of the estimate, 0 to 1. */
  readonly precision: number;
  /** Confidence of the interval, 0 to 1. */
  readonly confidence: number;
  /** Total time of all screenings in ns, after which the interval is not narrowed further. */
  readonly screeningNsMax: number;
  /** How to confirm the value. */
  readonly full: FullRunRule;
}

/** Stored form of a search. */
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

/** The round's rule for counting runs. */
export interface FullRunRule {
  /**
   * VALID runs at one load required to confirm the value: v0.5 5, else 1. 0: no confirmation, the
   * estimate is the value.
   */
  readonly runs: number;
  readonly minDurationNs: number;
  /** Longest extended duration; default: no limit. */
  readonly durationNsMax?: number | undefined;
  readonly minQueryCount: number;
  /** False for round v0.5, where the percentile alone decides. */
  readonly hasEarlyStopping: boolean;
  /** Most loads tried. */
  readonly loadsMax: number;
}

/** Queries of a probe against one bound. */
const PROBE_BOUND = z.strictObject({
  name: z.enum(BOUND_NAMES),
  overQueries: z.int().min(0),
  /** Variance of the share above the bound, relative to independent queries; at least 1. */
  varianceFactor: z.number().min(1),
  /** 95 % interval of the share above the bound, 0 to 1. */
  shareLow: z.number().min(0).max(1),
  shareHigh: z.number().min(0).max(1),
  /** The bounded time at the percentile, in ns. */
  percentileNs: z.number(),
  /** Where this time went; absent if the probe's own text explains it, or if unknown. */
  explanation: z.exactOptional(z.string()),
});

/** A completed probe. A search continues from its probes alone. */
export const PEAK_PROBE = z.strictObject({
  number: z.int().min(0),
  kind: z.enum(PROBE_KINDS),
  load: z.number().positive(),
  /**
   * Verdict on the bound. `keeps`, `misses`: decided. `undecided`: the allowed number of queries
   * did not decide. `lost`: samples were lost. `generator-bound`: LoadGen itself was too slow.
   * `invalid`: a full run that is INVALID for a reason independent of the load.
   */
  verdict: z.enum(['keeps', 'misses', 'undecided', 'lost', 'generator-bound', 'invalid']),
  /** Reason as text. */
  why: z.string(),
  /** Queries behind the figures. */
  queries: z.int().min(0),
  /** In the search's order: one on latency, or those on first token and time per output token. */
  bounds: z.array(PROBE_BOUND).min(1).max(2),
  /** Mean latency in ns. */
  meanNs: z.number(),
  /** Percentiles with their intervals, for the curve. */
  latencies: z.array(LATENCY_FIGURE),
  /** Null without a token model. */
  tokens: TOKEN_FIGURES.nullable(),
  /** Goodput of the whole probe; null if unknown, as for one query at a time. */
  goodput: GOODPUT.nullable(),
  /** p99 of LoadGen's dispatch lag. */
  lagP99Ns: z.number(),
  lostSamples: z.int().min(0),
  /** Completed samples per second. */
  samplesPerSecond: z.number().min(0),
  /** Server: rate of the drawn schedule; null elsewhere. */
  scheduledPerSecond: z.number().min(0).nullable(),
  /**
   * Full run whose queue grew all through: share by which the load certainly exceeded the SUT's
   * capacity; else null.
   */
  growth: z.number().nullable(),
  durationNs: z.number().min(0),
  /** The limit of the latency; null if unknown. */
  explanation: z.string().nullable(),
  folder: z.string().nullable(),
  /** Work of the SUT for other clients at the time, if it was much; absent otherwise. */
  others: z.exactOptional(z.string()),
});
export type PeakProbe = z.infer<typeof PEAK_PROBE>;
export type ProbeBound = PeakProbe['bounds'][number];

/** Reason of a screening that ended because its load is far too heavy. */
export const BACKLOG_GREW = 'queries came faster than they were answered';

/** Largest share above a bound among a probe's bounds; half a query if none is. */
export function worstShare({ bounds, queries }: PeakProbe): number {
  return Math.max(0.5, ...bounds.map(({ overQueries }) => overQueries)) / queries;
}

/** True if no bound is exceeded by more queries than allowed. */
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
 * How a search ended. `found`: the value is confirmed (or needs no confirmation). `none`: no load
 * keeps the bound. `unconfirmed`: full runs did not confirm a value. `open`: no load up to
 * `loadMax` missed the bound; the value is the highest one tried.
 */
export type PeakEnding = 'found' | 'none' | 'unconfirmed' | 'open';

/**
 * Cause of the limit. `others`: the SUT also served other clients, so its own limit is unknown.
 */
export type PeakLimit =
  | 'others'
  | 'sut'
  | 'lost-samples'
  | 'generator'
  | 'load-max'
  | 'unloaded-latency';

/** A run of a search: load and limits. */
export interface ProbeSpec {
  /** Server: queries per second. MultiStream of round v0.5: streams, that is samples per query. */
  readonly load: number;
  readonly kind: ProbeKind;
  /**
   * Number among the probes of the search, from 0: used in its folder name, and for its own
   * schedule unless `full`.
   */
  readonly number: number;
  /** Name in the status line. Default: `probe` and its number. */
  readonly name?: string;
  /** Number of concurrent queries in a closed loop, instead of arrivals at the load. */
  readonly concurrency?: number;
  /** For `full`: minimum duration, in ns. */
  readonly durationNsMin?: number;
  /** Unless `full`: most queries, at least 1. */
  readonly queriesMax?: number;
  /** Unless `full`: latest end of issuing, in ns since the first query. */
  readonly durationNsMax?: number;
  /**
   * Unless `full`: called about ten times a second with the progress; true ends the run. Not called
   * about lost samples, which end the run anyway.
   */
  readonly isDecided?: (seen: SetProgress) => boolean;
  /** True: lost samples do not end the run. Default: false. */
  readonly goesOnAfterLoss?: boolean;
}

/** How a probe ended: fields of an engine's outcome that a search uses. */
export type ProbeEnd = Pick<
  PerformanceOutcome,
  'endCause' | 'durationNs' | 'isGeneratorBound' | 'generatorBoundReason'
> & {
  readonly counts: Pick<PhaseCounts, 'lostSamples' | 'issuedSamples'>;
  /** Text of the first fault or lost sample; null if there was none. */
  readonly faultText: string | null;
  /** For a stall: what happened to the responses. */
  readonly silentText?: string;
};

/**
 * Sentence, without full stop, on a SUT that stopped completing samples. @param what A probe, a
 * point.
 */
export function silentSut({ silentText = 'stopped answering' }: ProbeEnd, what: string): string {
  return `the SUT ${silentText} during ${what}`;
}

/** Token times, and completed tokens per second. */
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
  /** Latency (completed - scheduled) of each completed query in ns, in query order. */
  readonly latenciesNs: Float64Array;
  /**
   * First token - scheduled, and mean time per later token, of the same queries; undefined without
   * a token model.
   */
  readonly tokens?: ProbeTokens | undefined;
  /** Undefined if unknown. */
  readonly goodput?: Goodput | undefined;
  readonly end: ProbeEnd;
  /** Completed samples per second, as the scenario counts them. */
  readonly samplesPerSecond: number;
  /** Server: samples per second of the drawn schedule; null in other scenarios. */
  readonly scheduledPerSecond: number | null;
  /** p99 of LoadGen's dispatch lag, in ns. */
  readonly lagP99Ns: number;
  /** longhaul's verdict; meaningless for a screening that ended early. */
  readonly isValid: boolean;
  readonly reasons: readonly VerdictReason[];
  /** The part of latency that grows in the tail, as text; undefined if unknown. */
  readonly explanation: string | undefined;
  /** Texts per bounded time, if there are several. */
  readonly explanations?: Partial<Record<BoundName, string>>;
  /** Folder of its logs; undefined without logs. */
  readonly folder: string | undefined;
  /** Work of the SUT for other clients at the time, as text; absent if too little to matter. */
  readonly others?: string;
}

/**
 * Runs one probe: over the network, in process, or in simulated time.
 * @throws MlperfError if the SUT is gone: the search ends and can be resumed.
 */
export type RunProbe = (spec: ProbeSpec) => Promise<ProbeOutcome>;

/** An interval for JSON, which has no infinity: an open end is null. */
export function closedInterval(interval: LoadInterval | null) {
  const closed = (end: number): number | null => (Number.isFinite(end) ? end : null);
  return interval && { low: interval.low, high: closed(interval.high) };
}
