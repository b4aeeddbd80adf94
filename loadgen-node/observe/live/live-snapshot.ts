/**
 * Latencies of what completed in a window: samples, in MultiStream whole queries; estimates from a
 * histogram, off by 1.6 % at most.
 */
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
  /** The last report of each on its machine; null for one that reports none. */
  readonly usage: readonly (MachineUse | null)[];
}

/** CPU and memory of a process. */
export interface MachineUse {
  /** Cores that it kept busy. */
  readonly cores: number;
  readonly residentBytes: number;
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
  /**
   * Share of the phase that is done, 0 to 1, and what is left of it in seconds: estimates; null
   * where not known.
   */
  readonly share: number | null;
  readonly remainingS: number | null;
  /**
   * Queries that early stopping needs, those that are complete, and whether they come before the run has to end (null: not known yet);
   * undefined: the verdict does not wait for it.
   */
  readonly decision?:
    | {
        readonly neededQueries: number;
        readonly queries: number;
        readonly isInTime: boolean | null;
      }
    | undefined;
  /** Null where the set ends by time and count: there are more of them than are going to be issued. */
  readonly plannedQueries: number | null;
  readonly issuedQueriesOfSet: number;
  readonly completedSamplesOfSet: number;
  readonly totals: LiveTotals;
  /** Samples that are issued and neither completed nor lost. */
  readonly outstanding: number;
  /** Unit of the rates: samples in Offline and in one query's accuracy runs, else queries. */
  readonly rateUnit: 'queries' | 'samples';
  /** Null where all was issued at once. */
  readonly issuedPerS: number | null;
  readonly completedPerS: number;
  /** Rate of the schedule in the window; null where there is none. */
  readonly targetPerS: number | null;
  /** Server's bound and its percentile as a fraction; null elsewhere. */
  readonly bound: { readonly latencyNs: number; readonly percentile: number } | null;
  /** Null where no sample completed in the window. */
  readonly latency: LatencyFigures | null;
  /** Of the set so far; null before its first completion. */
  readonly overall: LatencyFigures | null;
  /** Share of those above the bound, 0 to 1: an estimate, too; null without a bound or a completion. */
  readonly overShare: number | null;
  readonly lag: LagFigures | null;
  /** Of the set so far, and the largest p99 that the rule of the verdict allows; null and 0 where there is no such rule. */
  readonly lagSoFar: LagFigures | null;
  readonly lagNsMax: number;
  /** Share by which the load is surely above what the SUT completes, so far; null where that is not seen. */
  readonly growth: number | null;
  /** Means in ns in the order of LATENCY_PARTS; null where no node reported its times. */
  readonly split: readonly number[] | null;
  readonly nodes: NodeFigures;
  /** Of LoadGen's own process, in the window; null: not looked at. */
  readonly loadgen: MachineUse | null;
  /** True in the last look at a set, whose window may be short. */
  readonly hasEnded: boolean;
}

/**
 * Distributions of a window, for counters that are summed up elsewhere: by bucket of a
 * LatencyHistogram. Latencies are of samples.
 */
export interface WindowCounts {
  readonly latencyCounts: Float64Array;
  readonly latencySumNs: number;
  readonly lagCounts: Float64Array;
  readonly lagSumNs: number;
  /** Sums in ns by part of the latency, over `splitCount` samples. */
  readonly partSumsNs: Float64Array;
  readonly splitCount: number;
}

/** Points that are kept; then neighbours are merged, and half of them are left. */
export const POINTS_MAX = 1200;

/** The end of a set may come right after a look; seconds. */
const SHORT_WINDOW_S = 0.5;

/**
 * Snapshots of a run in bounded memory: when there are too many, neighbours become one, so that a point covers 1, 2, 4, ...
 * seconds. No spike is lost: of two percentiles the larger one stays, of two rates their mean over the time.
 */
export class SnapshotHistory {
  #points: LiveSnapshot[] = [];
  /** Length of a point. */
  #pointS = 1;
  #latest: LiveSnapshot | null = null;

  get points(): readonly LiveSnapshot[] {
    return this.#points;
  }

  /** Seconds that a point covers. */
  get pointS(): number {
    return this.#pointS;
  }

  /**
   * The newest one, as it came, but for a short one at the end of a set: that belongs to the one
   * before. Null without any.
   */
  get latest(): LiveSnapshot | null {
    return this.#latest;
  }

  /** Adds the newest one. */
  add(snapshot: LiveSnapshot): void {
    const before = this.#latest;
    const isRest = before !== null && before.phase === snapshot.phase && isShortEnd(snapshot);
    this.#latest = isRest ? mergeSnapshots(before, snapshot) : snapshot;
    const last = this.#points.at(-1);
    if (last !== undefined && this.#belongsTo(last, snapshot)) {
      this.#points[this.#points.length - 1] = mergeSnapshots(last, snapshot);
      return;
    }
    this.#points.push(snapshot);
    if (this.#points.length > POINTS_MAX) this.#thin();
  }

  /** Takes over what another history has. */
  load(points: readonly LiveSnapshot[], pointS: number, latest: LiveSnapshot | null): void {
    this.#latest = latest;
    this.#points = [...points];
    this.#pointS = pointS;
  }

  #belongsTo(last: LiveSnapshot, next: LiveSnapshot): boolean {
    if (last.phase !== next.phase) return false;
    // Full to within half a look.
    if (last.windowS + next.windowS / 2 < this.#pointS) return true;
    return isShortEnd(next);
  }

  #thin(): void {
    this.#pointS *= 2;
    const merged: LiveSnapshot[] = [];
    for (let i = 0; i < this.#points.length; i += 2) {
      const first = this.#points[i] as LiveSnapshot; // In range.
      const second = this.#points[i + 1];
      if (second === undefined) merged.push(first);
      else if (second.phase !== first.phase) merged.push(first, second);
      else merged.push(mergeSnapshots(first, second));
    }
    this.#points = merged;
  }
}

function isShortEnd({ hasEnded, windowS }: LiveSnapshot): boolean {
  return hasEnded && windowS < SHORT_WINDOW_S;
}

/** Two windows that follow one another as one. */
function mergeSnapshots(first: LiveSnapshot, next: LiveSnapshot): LiveSnapshot {
  const windowS = first.windowS + next.windowS;
  const mean = (a: number, b: number): number => (a * first.windowS + b * next.windowS) / windowS;
  return {
    ...next,
    windowS,
    outstanding: Math.max(first.outstanding, next.outstanding),
    issuedPerS:
      first.issuedPerS === null || next.issuedPerS === null
        ? next.issuedPerS
        : mean(first.issuedPerS, next.issuedPerS),
    completedPerS: mean(first.completedPerS, next.completedPerS),
    latency: mergeLatency(first.latency, next.latency),
    lag: largestOf(first.lag, next.lag),
    split: mergeSplit(first, next),
    nodes: mergeNodes(first.nodes, next.nodes, mean),
    loadgen: mergeUse(first.loadgen, next.loadgen, mean),
  };
}

function mergeLatency(a: LatencyFigures | null, b: LatencyFigures | null): LatencyFigures | null {
  const largest = largestOf(a, b);
  return largest && { ...largest, count: (a?.count ?? 0) + (b?.count ?? 0) };
}

/** The larger of each two figures. */
function largestOf<T extends { readonly [K in keyof T]: number }>(
  a: T | null,
  b: T | null,
): T | null {
  if (a === null || b === null) return a ?? b;
  const keys = Object.keys(b) as (keyof T)[];
  return Object.fromEntries(keys.map((key) => [key, Math.max(a[key], b[key])])) as T;
}

/** Weighted by the samples that the means are of. */
function mergeSplit(first: LiveSnapshot, next: LiveSnapshot): readonly number[] | null {
  if (first.split === null || next.split === null) return first.split ?? next.split;
  const a = first.latency?.count ?? 1;
  const b = next.latency?.count ?? 1;
  const { split } = next;
  return first.split.map((meanNs, i) => (meanNs * a + (split[i] ?? 0) * b) / (a + b));
}

function mergeNodes(
  a: NodeFigures,
  b: NodeFigures,
  mean: (a: number, b: number) => number,
): NodeFigures {
  return {
    ...b,
    outstanding: b.outstanding.map((count, i) => Math.max(count, a.outstanding[i] ?? 0)),
    completedPerS: b.completedPerS.map((perS, i) => mean(a.completedPerS[i] ?? perS, perS)),
    meanNs: b.meanNs.map((meanNs, i) => meanNs ?? a.meanNs[i] ?? null),
    usage: b.usage.map((usage, i) => mergeUse(a.usage[i], usage, mean)),
  };
}

function mergeUse(
  a: MachineUse | null | undefined,
  b: MachineUse | null | undefined,
  mean: (a: number, b: number) => number,
): MachineUse | null {
  if (!a || !b) return a ?? b ?? null;
  const residentBytes = Math.max(a.residentBytes, b.residentBytes);
  return { cores: mean(a.cores, b.cores), residentBytes };
}
