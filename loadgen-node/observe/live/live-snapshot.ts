/** Latencies of what completed in a window: samples, in MultiStream whole queries; estimates from a histogram, off by 1.6 % at most. */
export interface LatencyFigures {
  readonly count: number;
  readonly p50Ns: number;
  readonly p90Ns: number;
  readonly p99Ns: number;
  readonly p999Ns: number;
  /** Exact. */
  readonly maxNs: number;
}

/** How late LoadGen itself was in a window. */
export interface LagFigures {
  readonly p50Ns: number;
  readonly p99Ns: number;
  /** Exact. */
  readonly maxNs: number;
}

/** The nodes in a window, each by its number. Their names do not change and travel once. */
export interface NodeFigures {
  /** Samples that wait for its answer, now. */
  readonly outstanding: readonly number[];
  readonly completedPerS: readonly number[];
  /** Mean latency of the samples that it answered; null where there are none. */
  readonly meanNs: readonly (number | null)[];
  /** Samples that it reported as failed since the run began. */
  readonly failed: readonly number[];
  /** Numbers of the nodes that were lost. */
  readonly lost: readonly number[];
}

/** Before anything was issued. */
export const NO_TOTALS = {
  issuedQueries: 0,
  issuedSamples: 0,
  completedSamples: 0,
  lostSamples: 0,
};

/** Counts since the run began, over all its sets. */
export type LiveTotals = Readonly<typeof NO_TOTALS>;

/** Counts of two runs, or sets, together. */
export function addTotals(a: LiveTotals, b: LiveTotals): LiveTotals {
  return {
    issuedQueries: a.issuedQueries + b.issuedQueries,
    issuedSamples: a.issuedSamples + b.issuedSamples,
    completedSamples: a.completedSamples + b.completedSamples,
    lostSamples: a.lostSamples + b.lostSamples,
  };
}

/** A run as it is at one moment, and what happened since the moment before, about a second ago. */
export interface LiveSnapshot {
  /** Moment of it, in seconds of the process's clock. */
  readonly atS: number;
  /** Length of the window, in seconds; above 0. */
  readonly windowS: number;
  readonly phase: 'accuracy' | 'performance';
  /** Sets of the phase, or parts of a run that was extended. */
  readonly set: { readonly index: number; readonly count: number };
  /** Since the first query of the set. */
  readonly elapsedS: number;
  /** Share of the phase that is done, 0 to 1, and what is left of it in seconds: estimates; null where nothing tells. */
  readonly share: number | null;
  readonly remainingS: number | null;
  readonly plannedQueries: number;
  readonly issuedQueriesOfSet: number;
  readonly completedSamplesOfSet: number;
  readonly totals: LiveTotals;
  /** Samples that are issued and neither completed nor lost. */
  readonly outstanding: number;
  /** What rates count: samples in Offline and in one query's accuracy runs, else queries. */
  readonly rateUnit: 'queries' | 'samples';
  /** Null where all was issued at once. */
  readonly issuedPerS: number | null;
  readonly completedPerS: number;
  /** What the schedule asks for; null where there is none. */
  readonly targetPerS: number | null;
  /** Server's bound and its percentile as a fraction; null elsewhere. */
  readonly bound: { readonly latencyNs: number; readonly percentile: number } | null;
  /** Null where nothing completed in the window. */
  readonly latency: LatencyFigures | null;
  /** Of the set so far; null before its first completion. */
  readonly overall: LatencyFigures | null;
  readonly lag: LagFigures | null;
  /** Means in ns in the order of LATENCY_PARTS; null where no node told its times. */
  readonly split: readonly number[] | null;
  readonly nodes: NodeFigures;
  /** True in the last look at a set, whose window may be short. */
  readonly hasEnded: boolean;
}

/** Distributions of a window, for counters that are summed up elsewhere: by bucket of a LatencyHistogram. Latencies are of samples. */
export interface WindowCounts {
  readonly latencyCounts: Float64Array;
  readonly latencySumNs: number;
  readonly lagCounts: Float64Array;
  readonly lagSumNs: number;
  /** Sums in ns by part of the latency, over `splitCount` samples. */
  readonly partSumsNs: Float64Array;
  readonly splitCount: number;
}
